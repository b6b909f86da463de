"""The errors of the exec-server, apart from those of the sandbox below it.

    ExecServerError
    |-- MalformedMessage    bytes from the peer that are not one valid message; answered, connection kept
    |-- ProtocolBreach      something no peer may do; the connection is dropped without an answer
    |-- RequestFailed       a request that is answered with an error object
    |-- StartFailure         a process that could not be started, with the wire's name for the reason
    |-- ConnectionLost      the peer is gone
    `-- ListenRefused       the server cannot be brought up as asked

What a peer is told is only ever `RequestFailed.message`; nothing else here crosses the wire.
"""

from __future__ import annotations

from enum import StrEnum

from sandboxing.errors import SandboxctlError


class ExecServerError(SandboxctlError):
    """Base of the exec-server's own errors."""

    code = "exec-server"


class MalformedMessage(ExecServerError):
    """Input that is not one well-formed message within the limits; `message` is safe to send back."""

    code = "message-malformed"


class ProtocolBreach(ExecServerError):
    """Something the protocol forbids so strictly that the connection ends without an answer."""

    code = "protocol-breach"


class ConnectionLost(ExecServerError):
    """The peer is gone, or was sent away; nothing can be sent to it any more."""

    code = "connection-lost"


class ListenRefused(ExecServerError):
    """A listen address or an option that the server does not accept."""

    code = "listen-refused"


class FailureKind(StrEnum):
    """The wire's `data.kind` of a failed process start."""

    SPAWN_NOT_FOUND = "spawnNotFound"
    SPAWN_PERMISSION_DENIED = "spawnPermissionDenied"
    SPAWN_FAILED = "spawnFailed"
    SANDBOX_UNAVAILABLE = "sandboxUnavailable"
    SANDBOX_PREPARATION = "sandboxPreparation"


class StartFailure(ExecServerError):
    """A process that did not start, or a file operation whose sandbox did not.

    Attributes:
        kind: the wire's name for the reason.
    """

    code = "start-failed"

    def __init__(self, message: str, *, kind: FailureKind, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.kind = kind


class RequestFailed(ExecServerError):
    """A request that ends with an error object.

    Attributes:
        rpc_code: the JSON-RPC error code.
        kind: the `data.kind` member, or None for an error without data.
    """

    code = "request-failed"

    def __init__(self, message: str, *, rpc_code: int, kind: FailureKind | None = None) -> None:
        super().__init__(message)
        self.rpc_code = rpc_code
        self.kind = kind
