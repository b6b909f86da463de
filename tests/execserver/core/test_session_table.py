"""The session table: one holder at a time, fresh periods, and no stale connection with a say."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from execserver.core.sessions import Holder, SessionTable
from execserver.errors import RequestFailed

LIFETIME_S = 10.0
MAX_SESSIONS = 3
IDS = st.sampled_from(["a", "b", "c", "d"])
HOLDERS = st.integers(1, 4).map(Holder)


class SessionTableMachine(RuleBasedStateMachine):
    """Random connections creating, resuming and losing four sessions."""

    def __init__(self) -> None:
        super().__init__()
        self.table = SessionTable(lifetime_s=LIFETIME_S, max_sessions=MAX_SESSIONS)
        # Session id to its holder and the moment from which it has had none.
        self.known: dict[str, tuple[Holder | None, float]] = {}
        self.now = 100.0

    @rule(session_id=IDS, holder=HOLDERS)
    def create(self, session_id: str, holder: Holder) -> None:
        if session_id in self.known:
            return
        if len(self.known) >= MAX_SESSIONS:
            with pytest.raises(RequestFailed):
                self.table.create(session_id, holder)
            return
        self.table.create(session_id, holder)
        self.known[session_id] = (holder, 0.0)

    @rule(session_id=IDS, holder=HOLDERS)
    def resume(self, session_id: str, holder: Holder) -> None:
        found = self.known.get(session_id)
        if found is None or (found[0] is None and found[1] + LIFETIME_S <= self.now):
            with pytest.raises(RequestFailed) as refusal:
                self.table.resume(session_id, holder, now=self.now)
            assert refusal.value.rpc_code == -32600
        elif found[0] is not None:
            with pytest.raises(RequestFailed) as refusal:
                self.table.resume(session_id, holder, now=self.now)
            assert refusal.value.rpc_code == -32010
        else:
            self.table.resume(session_id, holder, now=self.now)
            self.known[session_id] = (holder, 0.0)

    @rule(session_id=IDS, holder=HOLDERS)
    def detach(self, session_id: str, holder: Holder) -> None:
        holds = session_id in self.known and self.known[session_id][0] == holder
        assert self.table.is_held_by(session_id, holder) == holds
        assert self.table.detach(session_id, holder, now=self.now) == holds
        if holds:
            self.known[session_id] = (None, self.now)

    @rule(seconds=st.sampled_from([0.5, 5.0, LIFETIME_S]))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds

    @rule()
    def expire(self) -> None:
        over = {
            session_id
            for session_id, (holder, since) in self.known.items()
            if holder is None and since + LIFETIME_S <= self.now
        }
        assert set(self.table.expire(now=self.now)) == over
        for session_id in over:
            del self.known[session_id]

    @rule()
    def clear(self) -> None:
        assert set(self.table.clear()) == set(self.known)
        self.known.clear()

    @invariant()
    def the_table_holds_exactly_what_is_known(self) -> None:
        assert len(self.table) == len(self.known)
        assert all(session_id in self.table for session_id in self.known)
        detached = [since for holder, since in self.known.values() if holder is None]
        assert self.table.next_expiry == (min(detached) + LIFETIME_S if detached else None)


TestSessionTable = SessionTableMachine.TestCase
