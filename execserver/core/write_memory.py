"""WriteMemory: the write ids of one process, so that a repeated write is not performed twice.

Bounded; the oldest id is forgotten first. A client repeats a write only across a reconnect, long before that.
"""

from __future__ import annotations

from typing import Final

MAX_REMEMBERED_WRITES: Final = 4096
"""Write ids remembered per process (reference: 4096)."""


class WriteMemory:
    """The last write ids that were accepted."""

    __slots__ = ("_ids", "_limit")

    def __init__(self, *, limit: int = MAX_REMEMBERED_WRITES) -> None:
        # A dict keeps insertion order and finds in constant time.
        self._ids: dict[str, None] = {}
        self._limit = limit

    def __contains__(self, write_id: str) -> bool:
        return write_id in self._ids

    def __len__(self) -> int:
        return len(self._ids)

    def remember(self, write_id: str) -> None:
        """Take note of an accepted write."""
        self._ids[write_id] = None
        while len(self._ids) > self._limit:
            del self._ids[next(iter(self._ids))]

    def forget(self, write_id: str) -> None:
        """The write was not accepted after all; a repeat is a new attempt."""
        self._ids.pop(write_id, None)
