"""Retention: the newest output of one process, bounded in bytes and in chunks.

Whole chunks leave at the old end; a gap in the sequence numbers is the only trace they leave. Nothing here
numbers chunks or knows about exits; the process table does that.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Final

from execserver.protocol.streams import StreamName

MAX_RETAINED_BYTES: Final = 1024 * 1024
"""Decoded bytes kept per process (reference: 1 MiB)."""

MAX_RETAINED_CHUNKS: Final = 50_000
"""Chunks kept per process (reference: 50 000)."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """One piece of output as it was read."""

    seq: int
    stream: StreamName
    data: bytes


class OutputLog:
    """The retained chunks of one process, oldest first."""

    __slots__ = ("_chunks", "_max_bytes", "_max_chunks", "_size")

    def __init__(self, *, max_bytes: int = MAX_RETAINED_BYTES, max_chunks: int = MAX_RETAINED_CHUNKS) -> None:
        self._chunks: deque[Chunk] = deque()
        self._size = 0
        self._max_bytes = max_bytes
        self._max_chunks = max_chunks

    def __len__(self) -> int:
        return len(self._chunks)

    @property
    def size(self) -> int:
        """Decoded bytes retained."""
        return self._size

    def append(self, chunk: Chunk) -> None:
        """Add the newest chunk and let go of the oldest until the limits hold again."""
        self._chunks.append(chunk)
        self._size += len(chunk.data)
        while self._size > self._max_bytes or len(self._chunks) > self._max_chunks:
            self._size -= len(self._chunks.popleft().data)

    def after(self, seq: int) -> tuple[Chunk, ...]:
        """The retained chunks numbered above `seq`, in ascending order."""
        newest: list[Chunk] = []
        # From the new end: a reader that keeps up asks for little of a long log.
        for chunk in reversed(self._chunks):
            if chunk.seq <= seq:
                break
            newest.append(chunk)
        newest.reverse()
        return tuple(newest)

    def text(self, streams: frozenset[StreamName]) -> bytes:
        """The retained bytes of these streams, joined in the order in which they arrived."""
        return b"".join(chunk.data for chunk in self._chunks if chunk.stream in streams)
