"""The session table: who holds which session, and when a session without a holder is over.

A session is held by at most one connection. Losing the connection detaches it; it can be resumed until its
time is over, and never taken from a live holder. Holders are opaque numbers, times come as arguments.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NewType

from execserver.protocol import error_codes

DETACHED_LIFETIME_S: Final = 80.0
"""How long a detached session can be resumed (measured on the reference: 79.7 s yes, 80.3 s no)."""

MAX_SESSIONS: Final = 1024
"""Sessions of one server, held or detached. The reference has no such limit; a server needs one."""

Holder = NewType("Holder", int)
"""One connection; numbers are never reused, so a stale connection cannot act for a newer one."""


@dataclass(slots=True)
class _Session:
    holder: Holder | None
    detached_at: float


class SessionTable:
    """The sessions of one server by their ids."""

    def __init__(self, *, lifetime_s: float = DETACHED_LIFETIME_S, max_sessions: int = MAX_SESSIONS) -> None:
        self._lifetime_s = lifetime_s
        self._max_sessions = max_sessions
        self._sessions: dict[str, _Session] = {}

    def __len__(self) -> int:
        return len(self._sessions)

    def __contains__(self, session_id: str) -> bool:
        return session_id in self._sessions

    def create(self, session_id: str, holder: Holder) -> None:
        """Enter a new session, held from the start.

        Raises:
            RequestFailed: there are too many sessions.
        """
        if len(self._sessions) >= self._max_sessions:
            raise error_codes.internal(f"at most {self._max_sessions} sessions may exist at a time")
        self._sessions[session_id] = _Session(holder=holder, detached_at=0.0)

    def resume(self, session_id: str, holder: Holder, *, now: float) -> None:
        """Give a detached session a new holder.

        Raises:
            RequestFailed: the session is unknown, over, or held by a live connection.
        """
        session = self._sessions.get(session_id)
        if session is None or (session.holder is None and self._due(session) <= now):
            raise error_codes.unknown_session(session_id)
        if session.holder is not None:
            raise error_codes.session_attached(session_id)
        session.holder = holder

    def detach(self, session_id: str, holder: Holder, *, now: float) -> bool:
        """End the hold of this holder; False when it does not hold the session (any more)."""
        session = self._sessions.get(session_id)
        if session is None or session.holder != holder:
            return False
        session.holder = None
        session.detached_at = now
        return True

    def is_held_by(self, session_id: str, holder: Holder) -> bool:
        """Whether this holder may still act for the session."""
        session = self._sessions.get(session_id)
        return session is not None and session.holder == holder

    @property
    def next_expiry(self) -> float | None:
        """When the next detached session is over."""
        return min(
            (self._due(session) for session in self._sessions.values() if session.holder is None),
            default=None,
        )

    def expire(self, *, now: float) -> tuple[str, ...]:
        """Remove the detached sessions whose time is over, and name them."""
        over = tuple(
            session_id
            for session_id, session in self._sessions.items()
            if session.holder is None and self._due(session) <= now
        )
        for session_id in over:
            del self._sessions[session_id]
        return over

    def clear(self) -> tuple[str, ...]:
        """Remove every session, and name them; the server is going down."""
        everyone = tuple(self._sessions)
        self._sessions.clear()
        return everyone

    def _due(self, session: _Session) -> float:
        return session.detached_at + self._lifetime_s
