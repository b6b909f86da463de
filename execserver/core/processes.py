"""The process table of one session: states, sequence numbers, retention and removal.

It decides and remembers; it starts nothing, kills nothing and has no clock: times are arguments, in seconds
of one monotonic clock. The session object in `server` turns its answers into effects.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from execserver.core.read_rule import ProcessView
from execserver.core.retention import Chunk, OutputLog
from execserver.core.write_memory import WriteMemory
from execserver.protocol import error_codes
from execserver.protocol.streams import StreamName

CLOSED_RETENTION_S: Final = 80.0
"""How long a closed process stays readable, counted from its close event (measured on the reference)."""

MAX_LIVE_PROCESSES: Final = 4096
"""Processes of one session that are not closed. The reference has no such limit; a server needs one."""


class Phase(Enum):
    """The life of a process, in order."""

    STARTING = auto()
    RUNNING = auto()
    EXITED = auto()
    CLOSED = auto()
    GONE = auto()


class StdinKind(Enum):
    """What a process has as its standard input."""

    NULL = auto()
    PIPE = auto()
    TERMINAL = auto()


class WriteVerdict(Enum):
    """What is to become of a write."""

    PERFORM = auto()
    REPEATED = auto()
    DROPPED = auto()
    UNKNOWN_PROCESS = auto()
    STARTING = auto()
    NO_STDIN = auto()
    BROKEN = auto()


@dataclass(frozen=True, slots=True)
class Exited:
    """The exit event."""

    seq: int
    exit_code: int
    sandbox_denied: bool


@dataclass(frozen=True, slots=True)
class Closed:
    """The last event of a process."""

    seq: int


class ProcessRecord:
    """One start of one process. A reused id is another record, so nothing old can touch it."""

    __slots__ = (
        "_exit_code",
        "_next_seq",
        "_open_streams",
        "_sandbox_denied",
        "closed_at",
        "is_cancelled",
        "log",
        "phase",
        "process_id",
        "stdin",
        "writes",
    )

    def __init__(self, process_id: str) -> None:
        self.process_id: Final = process_id
        self.log: Final = OutputLog()
        self.writes: Final = WriteMemory()
        self.phase = Phase.STARTING
        self.stdin = StdinKind.NULL
        self.is_cancelled = False
        self.closed_at: float | None = None
        self._next_seq = 1
        self._open_streams: frozenset[StreamName] = frozenset()
        self._exit_code: int | None = None
        self._sandbox_denied = False

    def view(self, after_seq: int) -> ProcessView:
        """The process as the read rule sees it, with the chunks above `after_seq`."""
        return ProcessView(
            chunks=self.log.after(after_seq),
            next_seq=self._next_seq,
            exit_code=self._exit_code,
            closed=self.phase is Phase.CLOSED,
            sandbox_denied=self._sandbox_denied,
        )

    def begin(self, *, streams: tuple[StreamName, ...], stdin: StdinKind) -> None:
        """The process runs; its streams are open."""
        self.phase = Phase.RUNNING
        self._open_streams = frozenset(streams)
        self.stdin = stdin

    def output(self, stream: StreamName, data: bytes) -> Chunk:
        """Number and retain a piece of output."""
        chunk = Chunk(seq=self._take_seq(), stream=stream, data=data)
        self.log.append(chunk)
        return chunk

    def exited(self, *, exit_code: int, sandbox_denied: bool) -> Exited:
        """Number the exit; at most once per process."""
        self.phase = Phase.EXITED
        self._exit_code = exit_code
        self._sandbox_denied = sandbox_denied
        return Exited(seq=self._take_seq(), exit_code=exit_code, sandbox_denied=sandbox_denied)

    def stream_ended(self, stream: StreamName) -> None:
        """A stream is at its end; no output of it follows."""
        self._open_streams = self._open_streams - {stream}

    def close_if_over(self, *, now: float) -> Closed | None:
        """Number the close once the process has exited and every stream has ended; None until then."""
        if self.phase is not Phase.EXITED or self._open_streams:
            return None
        self.phase = Phase.CLOSED
        self.closed_at = now
        return Closed(seq=self._take_seq())

    def _take_seq(self) -> int:
        seq = self._next_seq
        self._next_seq += 1
        return seq


class ProcessTable:
    """The processes of one session by their ids."""

    def __init__(
        self, *, retention_s: float = CLOSED_RETENTION_S, max_live: int = MAX_LIVE_PROCESSES
    ) -> None:
        self._retention_s = retention_s
        self._max_live = max_live
        self._records: dict[str, ProcessRecord] = {}
        # In the order of their close events, which is the order in which they are due for removal.
        self._closed: dict[ProcessRecord, None] = {}

    def __len__(self) -> int:
        return len(self._records)

    def live(self) -> Iterator[ProcessRecord]:
        """The processes that are not closed yet."""
        return (record for record in self._records.values() if record.phase is not Phase.CLOSED)

    def reserve(self, process_id: str) -> ProcessRecord:
        """Take an id for a process that is about to be started.

        Raises:
            RequestFailed: the id is in use, or too many processes are alive.
        """
        if process_id in self._records:
            raise error_codes.process_exists(process_id)
        if len(self._records) - len(self._closed) >= self._max_live:
            raise error_codes.invalid_request(
                f"at most {self._max_live} processes may be alive in one session"
            )
        record = ProcessRecord(process_id)
        self._records[process_id] = record
        return record

    def abandon(self, record: ProcessRecord) -> None:
        """Forget a process that could not be started; its id is free again."""
        if self._records.get(record.process_id) is record:
            del self._records[record.process_id]
        record.phase = Phase.GONE

    def find(self, process_id: str) -> ProcessRecord:
        """The process under this id, for a read.

        Raises:
            RequestFailed: there is none, or it is still starting.
        """
        record = self._records.get(process_id)
        if record is None:
            raise error_codes.unknown_process(process_id)
        if record.phase is Phase.STARTING:
            raise error_codes.process_starting(process_id)
        return record

    def find_running(self, process_id: str) -> ProcessRecord | None:
        """The process under this id when it runs, for a signal."""
        record = self._records.get(process_id)
        return record if record is not None and record.phase is Phase.RUNNING else None

    def terminate(self, process_id: str) -> ProcessRecord | None:
        """The process to kill, or None when nothing runs under this id. A pending start is cancelled."""
        record = self._records.get(process_id)
        if record is None or record.phase not in {Phase.STARTING, Phase.RUNNING}:
            return None
        if record.phase is Phase.STARTING:
            record.is_cancelled = True
        return record

    def offer_write(self, process_id: str, write_id: str) -> WriteVerdict:
        """Decide about a write; an id decided with PERFORM is remembered from now on."""
        record = self._records.get(process_id)
        if record is None:
            return WriteVerdict.UNKNOWN_PROCESS
        if record.phase is Phase.STARTING:
            return WriteVerdict.STARTING
        if record.stdin is StdinKind.NULL:
            return WriteVerdict.NO_STDIN
        if write_id in record.writes:
            return WriteVerdict.REPEATED
        if record.phase is not Phase.CLOSED:
            # Also after the exit: what it started may read on.
            record.writes.remember(write_id)
            return WriteVerdict.PERFORM
        # A terminal swallows what nobody reads; a pipe without a reader is an error.
        return WriteVerdict.DROPPED if record.stdin is StdinKind.TERMINAL else WriteVerdict.BROKEN

    def close_if_over(self, record: ProcessRecord, *, now: float) -> Closed | None:
        """`ProcessRecord.close_if_over`, and the start of the record's last period."""
        event = record.close_if_over(now=now)
        if event is not None and self._records.get(record.process_id) is record:
            self._closed[record] = None
        return event

    @property
    def next_expiry(self) -> float | None:
        """When the next closed process is due for removal."""
        oldest = next(iter(self._closed), None)
        if oldest is None or oldest.closed_at is None:
            return None
        return oldest.closed_at + self._retention_s

    def expire(self, *, now: float) -> None:
        """Remove the closed processes whose time is over."""
        while (due := self.next_expiry) is not None and due <= now:
            record = next(iter(self._closed))
            del self._closed[record]
            del self._records[record.process_id]
            record.phase = Phase.GONE
