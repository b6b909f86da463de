"""Settings: every number of the running server in one place.

The defaults are the reference's where it has one. Tests make the times short; nothing else changes them.
"""

from __future__ import annotations

from dataclasses import dataclass

from execserver.core.processes import CLOSED_RETENTION_S, MAX_LIVE_PROCESSES
from execserver.core.sessions import DETACHED_LIFETIME_S, MAX_SESSIONS


@dataclass(frozen=True, slots=True)
class Settings:
    """The numbers.

    Attributes:
        concurrent_requests: requests under way per lane of a connection; 1 means strictly in order.
        outgoing_messages: messages waiting for a slow peer before their producers wait.
        outgoing_bytes: bytes waiting for a slow peer before their producers wait.
        incoming_messages: messages waiting for their turn before the socket is left unread.
        incoming_bytes: bytes received and not answered yet before the socket is left unread.
        detached_lifetime_s: how long a session without a connection lives.
        closed_retention_s: how long a closed process stays readable.
        exit_grace_s: how long an exit waits for output that is still on its way (reference: 20 ms).
        flush_s: how long answers already given may still take to leave before a connection is dropped.
        stdin_bytes: bytes waiting for a process that does not read its input before writes wait.
        file_workers: file operations under way at a time, over all connections.
        max_sessions: sessions of the server.
        max_live_processes: processes of one session that are not closed.
    """

    concurrent_requests: int = 1
    outgoing_messages: int = 128
    outgoing_bytes: int = 16 * 1024 * 1024
    incoming_messages: int = 128
    incoming_bytes: int = 16 * 1024 * 1024
    detached_lifetime_s: float = DETACHED_LIFETIME_S
    closed_retention_s: float = CLOSED_RETENTION_S
    exit_grace_s: float = 0.020
    flush_s: float = 1.0
    stdin_bytes: int = 1024 * 1024
    file_workers: int = 8
    max_sessions: int = MAX_SESSIONS
    max_live_processes: int = MAX_LIVE_PROCESSES
