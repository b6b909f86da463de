"""The read rule: what `process/read` answers, and when it may answer at all.

A pure function of the request, of what is known about the process, and of whether time is up. The handler
calls it again after each event; it never waits itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto

from execserver.core.retention import Chunk


class Patience(Enum):
    """Whether the caller may still be kept waiting."""

    LEFT = auto()
    GONE = auto()


@dataclass(frozen=True, slots=True)
class ReadRequest:
    """What the caller asks for.

    Attributes:
        after_seq: the last sequence number the caller has seen.
        max_bytes: budget of decoded bytes; the first chunk is given even when it is larger.
    """

    after_seq: int
    max_bytes: int | None


@dataclass(frozen=True, slots=True)
class ProcessView:
    """What is known about a process at this moment.

    Attributes:
        chunks: retained chunks above the request's `after_seq`, ascending.
        next_seq: the first sequence number not used yet; exit and close events count.
        exit_code: the exit code once the process has exited.
        closed: whether no further event can come.
        sandbox_denied: the denial guess, False until the exit.
    """

    chunks: Sequence[Chunk]
    next_seq: int
    exit_code: int | None
    closed: bool
    sandbox_denied: bool

    @property
    def exited(self) -> bool:
        """Whether the exit event has happened."""
        return self.exit_code is not None


@dataclass(frozen=True, slots=True)
class ReadAnswer:
    """What the caller gets."""

    chunks: tuple[Chunk, ...]
    next_seq: int
    exited: bool
    exit_code: int | None
    closed: bool
    sandbox_denied: bool


def read(request: ReadRequest, view: ProcessView, patience: Patience) -> ReadAnswer | None:
    """The answer, or None when the caller has to wait for the next event."""
    if not _is_due(request, view) and patience is Patience.LEFT:
        return None
    chunks = _within_budget(view.chunks, request.max_bytes)
    # With a budget there may be more to fetch at once, so the caller continues behind what it got.
    cut = request.max_bytes is not None and chunks
    return ReadAnswer(
        chunks=chunks,
        next_seq=chunks[-1].seq + 1 if cut else view.next_seq,
        exited=view.exited,
        exit_code=view.exit_code,
        closed=view.closed,
        sandbox_denied=view.sandbox_denied,
    )


def _is_due(request: ReadRequest, view: ProcessView) -> bool:
    if view.chunks or view.closed:
        return True
    # Once the caller has seen the exit event it waits for late output or for the close.
    return view.exited and request.after_seq < view.next_seq - 1


def _within_budget(chunks: Sequence[Chunk], max_bytes: int | None) -> tuple[Chunk, ...]:
    if max_bytes is None or not chunks:
        return tuple(chunks)
    taken = 1
    total = len(chunks[0].data)
    for chunk in chunks[1:]:
        total += len(chunk.data)
        if total > max_bytes:
            break
        taken += 1
    return tuple(chunks[:taken])
