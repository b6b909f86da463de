"""The process table as a state machine beside a dictionary that does the obvious thing."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from execserver.core.processes import (
    Phase,
    ProcessRecord,
    ProcessTable,
    StdinKind,
    WriteVerdict,
)
from execserver.core.write_memory import WriteMemory
from execserver.errors import RequestFailed
from execserver.protocol.streams import StreamName

RETENTION_S = 10.0
MAX_LIVE = 3
IDS = st.sampled_from(["a", "b", "c", "d"])


class Expected:
    """What the model knows about one start."""

    def __init__(self, record: ProcessRecord) -> None:
        self.record = record
        self.events: list[str] = []
        self.open = {StreamName.STDOUT, StreamName.STDERR}
        self.stdin = StdinKind.NULL
        self.written: set[str] = set()
        self.state = "starting"
        self.closed_at = 0.0


class ProcessTableMachine(RuleBasedStateMachine):
    """Random lives of processes under four ids, with a clock that only goes forward."""

    def __init__(self) -> None:
        super().__init__()
        self.table = ProcessTable(retention_s=RETENTION_S, max_live=MAX_LIVE)
        self.known: dict[str, Expected] = {}
        self.now = 0.0

    @initialize()
    def nothing_is_known(self) -> None:
        assert len(self.table) == 0
        assert self.table.next_expiry is None

    @rule(process_id=IDS)
    def reserve(self, process_id: str) -> None:
        alive = sum(each.state != "closed" for each in self.known.values())
        if process_id in self.known:
            with pytest.raises(RequestFailed, match=f"process {process_id} already exists"):
                self.table.reserve(process_id)
        elif alive >= MAX_LIVE:
            with pytest.raises(RequestFailed, match="at most 3 processes"):
                self.table.reserve(process_id)
        else:
            self.known[process_id] = Expected(self.table.reserve(process_id))

    @rule(process_id=IDS, stdin=st.sampled_from(StdinKind))
    def start_succeeds(self, process_id: str, stdin: StdinKind) -> None:
        expected = self._in(process_id, "starting")
        if expected is not None:
            expected.record.begin(streams=(StreamName.STDOUT, StreamName.STDERR), stdin=stdin)
            expected.state, expected.stdin = "running", stdin

    @rule(process_id=IDS)
    def start_fails(self, process_id: str) -> None:
        expected = self._in(process_id, "starting")
        if expected is not None:
            self.table.abandon(expected.record)
            del self.known[process_id]

    @rule(process_id=IDS, stream=st.sampled_from([StreamName.STDOUT, StreamName.STDERR]), data=st.binary())
    def output(self, process_id: str, stream: StreamName, data: bytes) -> None:
        expected = self._in(process_id, "running", "exited")
        if expected is not None and stream in expected.open:
            chunk = expected.record.output(stream, data)
            expected.events.append("output")
            assert chunk.seq == len(expected.events)

    @rule(process_id=IDS, code=st.integers(0, 255), denied=st.booleans())
    def exit(self, process_id: str, code: int, denied: bool) -> None:  # noqa: FBT001 - drawn by hypothesis
        expected = self._in(process_id, "running")
        if expected is not None:
            event = expected.record.exited(exit_code=code, sandbox_denied=denied)
            expected.events.append("exited")
            assert (event.seq, event.exit_code) == (len(expected.events), code)
            expected.state = "exited"

    @rule(process_id=IDS, stream=st.sampled_from([StreamName.STDOUT, StreamName.STDERR]))
    def stream_ends(self, process_id: str, stream: StreamName) -> None:
        expected = self._in(process_id, "running", "exited")
        if expected is not None:
            expected.record.stream_ended(stream)
            expected.open.discard(stream)

    @rule(process_id=IDS)
    def try_close(self, process_id: str) -> None:
        expected = self.known.get(process_id)
        if expected is None:
            return
        event = self.table.close_if_over(expected.record, now=self.now)
        if expected.state == "exited" and not expected.open:
            assert event is not None
            expected.events.append("closed")
            assert event.seq == len(expected.events)
            expected.state, expected.closed_at = "closed", self.now
        else:
            assert event is None

    @rule(process_id=IDS)
    def terminate(self, process_id: str) -> None:
        record = self.table.terminate(process_id)
        expected = self._in(process_id, "starting", "running")
        assert record is (None if expected is None else expected.record)
        if expected is not None and expected.state == "starting":
            assert expected.record.is_cancelled

    @rule(process_id=IDS, write_id=st.sampled_from(["1", "2"]))
    def write(self, process_id: str, write_id: str) -> None:
        assert self.table.offer_write(process_id, write_id) is self._verdict(process_id, write_id)

    def _verdict(self, process_id: str, write_id: str) -> WriteVerdict:
        expected = self.known.get(process_id)
        if expected is None:
            return WriteVerdict.UNKNOWN_PROCESS
        if expected.state == "starting":
            return WriteVerdict.STARTING
        if expected.stdin is StdinKind.NULL:
            return WriteVerdict.NO_STDIN
        if write_id in expected.written:
            return WriteVerdict.REPEATED
        if expected.state == "closed":
            return WriteVerdict.BROKEN if expected.stdin is StdinKind.PIPE else WriteVerdict.DROPPED
        expected.written.add(write_id)
        return WriteVerdict.PERFORM

    @rule(process_id=IDS)
    def find(self, process_id: str) -> None:
        expected = self.known.get(process_id)
        running = self.table.find_running(process_id)
        assert (running is not None) == (expected is not None and expected.state == "running")
        if expected is None:
            with pytest.raises(RequestFailed, match=f"unknown process id {process_id}"):
                self.table.find(process_id)
        elif expected.state == "starting":
            with pytest.raises(RequestFailed, match=f"process id {process_id} is starting"):
                self.table.find(process_id)
        else:
            assert self.table.find(process_id) is expected.record

    @rule(seconds=st.sampled_from([0.0, 1.0, 4.0, RETENTION_S]))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds
        self.table.expire(now=self.now)
        for process_id, expected in list(self.known.items()):
            if expected.state == "closed" and expected.closed_at + RETENTION_S <= self.now:
                del self.known[process_id]
                assert expected.record.phase is Phase.GONE

    @precondition(lambda self: bool(self.known))
    @invariant()
    def numbers_have_no_gap_and_close_is_last(self) -> None:
        for expected in self.known.values():
            if expected.state == "starting":
                continue
            view = expected.record.view(0)
            assert view.next_seq == len(expected.events) + 1
            assert view.exited == (expected.state in {"exited", "closed"})
            assert view.closed == (expected.state == "closed")
            assert "closed" not in expected.events[:-1]

    @invariant()
    def the_table_holds_exactly_what_is_known(self) -> None:
        assert len(self.table) == len(self.known)
        closed = [each.closed_at for each in self.known.values() if each.state == "closed"]
        due = self.table.next_expiry
        assert due == (min(closed) + RETENTION_S if closed else None)

    def _in(self, process_id: str, *states: str) -> Expected | None:
        expected = self.known.get(process_id)
        return expected if expected is not None and expected.state in states else None


TestProcessTable = ProcessTableMachine.TestCase


def test_the_oldest_write_id_is_forgotten_first() -> None:
    memory = WriteMemory(limit=2)
    for write_id in ("1", "2", "3"):
        memory.remember(write_id)
    assert ["1" in memory, "2" in memory, "3" in memory] == [False, True, True]
    memory.forget("3")
    assert "3" not in memory
    assert len(memory) == 1
