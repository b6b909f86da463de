"""The error table: every code the server answers with, and the texts that are fixed by the protocol.

The numbers are the protocol's; the texts are those of the reference server, which clients compare. Handlers
raise what these functions build; nothing else makes an error object.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

from execserver.errors import RequestFailed

MALFORMED_ID: Final = -1
"""The id of the answer to a message that could not be read, and so has no id of its own."""


class RpcCode(IntEnum):
    """The codes of the protocol, with what they stand for."""

    INVALID_REQUEST = -32600
    METHOD_NOT_FOUND = -32601
    INVALID_PARAMS = -32602
    INTERNAL = -32603
    NOT_FOUND = -32004
    SESSION_ATTACHED = -32010


def invalid_request(message: str) -> RequestFailed:
    """State and ordering problems, unknown or duplicate names, and refused file operations."""
    return RequestFailed(message, rpc_code=RpcCode.INVALID_REQUEST)


def invalid_params(message: str) -> RequestFailed:
    """Parameters that cannot be decoded, or that contradict each other."""
    return RequestFailed(message, rpc_code=RpcCode.INVALID_PARAMS)


def internal(message: str) -> RequestFailed:
    """Everything else; `message` says no more than the operating system would."""
    return RequestFailed(message, rpc_code=RpcCode.INTERNAL)


def not_found(message: str) -> RequestFailed:
    """A file that is not there; clients treat this as an ordinary answer, not as a failure."""
    return RequestFailed(message, rpc_code=RpcCode.NOT_FOUND)


def unknown_method(method: str) -> RequestFailed:
    """A method that this server does not have."""
    return RequestFailed(
        f"exec-server stub does not implement `{method}` yet", rpc_code=RpcCode.METHOD_NOT_FOUND
    )


def unknown_session(session_id: str) -> RequestFailed:
    """A session that never was, or whose time is over; clients give up on this."""
    return invalid_request(f"unknown session id {session_id}")


def session_attached(session_id: str) -> RequestFailed:
    """A session that another live connection holds; clients retry on this."""
    return RequestFailed(
        f"session {session_id} is already attached to another connection",
        rpc_code=RpcCode.SESSION_ATTACHED,
    )


def session_resumed_elsewhere() -> RequestFailed:
    """A request of a connection that has lost its session to a newer one."""
    return invalid_request("session has been resumed by another connection")


def unknown_process(process_id: str) -> RequestFailed:
    """A process id that is not, or no longer, in the session."""
    return invalid_request(f"unknown process id {process_id}")


def process_starting(process_id: str) -> RequestFailed:
    """A process whose start has not been answered yet."""
    return invalid_request(f"process id {process_id} is starting")


def process_exists(process_id: str) -> RequestFailed:
    """A process id that is in use, also by an ended process that is still readable."""
    return invalid_request(f"process {process_id} already exists")


def start_cancelled(process_id: str) -> RequestFailed:
    """A process that was terminated while it was being started."""
    return invalid_request(f"process {process_id} start was cancelled")
