"""The wire types of `process/*`: parameters, results and notifications.

Field order is the protocol's, because it decides which missing member an error names. Of the members for
networks only those that have to be refused are here. Handlers consume and build these types.
"""

from enum import StrEnum
from typing import Annotated, Final, Literal
from uuid import UUID

import orjson
from pydantic import Field

from execserver.protocol.codec import encode_notification
from execserver.protocol.streams import StreamName
from execserver.protocol.wire_model import (
    U64,
    Base64,
    Flag,
    NullableResult,
    Result,
    Text,
    WireModel,
    encode_base64,
    null_is,
)
from sandboxing.paths.uri import PathUri
from sandboxing.profile.context import SandboxContext
from sandboxing.profile.variant import variant_of

U64OrZero = Annotated[U64, null_is(default=0)]


class Inherit(StrEnum):
    """Which variables of the server a child starts with."""

    CORE = "core"
    ALL = "all"
    NONE = "none"


class EnvPolicy(WireModel):
    """How a child's environment is made from the server's; all members are required."""

    inherit: Annotated[Inherit, variant_of(Inherit)]
    ignore_default_excludes: Flag
    exclude: tuple[Text, ...]
    set: dict[Text, Text]
    include_only: tuple[Text, ...]


class ProcessMetadata(WireModel):
    """Who asked for a process; diagnostics only."""

    thread_id: UUID | None = None
    tool_call_id: Text | None = None


class ProcessStartParams(WireModel):
    """Parameters of `process/start`."""

    process_id: Text
    metadata: ProcessMetadata | None = None
    argv: tuple[Text, ...]
    cwd: PathUri
    env_policy: EnvPolicy | None = None
    env: dict[Text, Text]
    tty: Flag
    pipe_stdin: Flag = False
    arg0: Text | None = None
    sandbox: SandboxContext | None = None
    enforce_managed_network: Flag = False
    network_proxy: dict[str, object] | None = None


class ProcessStartResult(Result):
    """Result of `process/start`."""

    process_id: Text
    sandbox_type: Text


class ProcessReadParams(WireModel):
    """Parameters of `process/read`; `wait_ms` is in milliseconds."""

    process_id: Text
    after_seq: U64OrZero = 0
    max_bytes: U64 | None = None
    wait_ms: U64OrZero = 0


class OutputChunk(WireModel):
    """One piece of retained output."""

    seq: U64
    stream: StreamName
    chunk: Base64


class ProcessReadResult(NullableResult):
    """Result of `process/read`. `failure` is null from a healthy server."""

    chunks: tuple[OutputChunk, ...]
    next_seq: U64
    exited: Flag
    exit_code: int | None = None
    closed: Flag
    failure: Text | None = None
    sandbox_denied: Flag


class ProcessWriteParams(WireModel):
    """Parameters of `process/write`."""

    process_id: Text
    chunk: Base64
    write_id: Text


class WriteStatus(StrEnum):
    """What became of a write."""

    ACCEPTED = "accepted"
    UNKNOWN_PROCESS = "unknownProcess"
    STDIN_CLOSED = "stdinClosed"
    STARTING = "starting"


class ProcessWriteResult(Result):
    """Result of `process/write`."""

    status: WriteStatus


class ProcessSignalParams(WireModel):
    """Parameters of `process/signal`."""

    process_id: Text
    signal: Literal["interrupt"]


class ProcessTerminateParams(WireModel):
    """Parameters of `process/terminate`."""

    process_id: Text


class ProcessTerminateResult(Result):
    """Result of `process/terminate`."""

    running: Flag


class ProcessOutput(WireModel):
    """Parameters of the notification `process/output`."""

    process_id: Text
    seq: U64
    stream: StreamName
    chunk: Base64


class ProcessExited(WireModel):
    """Parameters of the notification `process/exited`."""

    process_id: Text
    seq: U64
    exit_code: Annotated[int, Field(strict=True)]
    sandbox_denied: Flag = False


class ProcessClosed(WireModel):
    """Parameters of the notification `process/closed`."""

    process_id: Text
    seq: U64


OUTPUT: Final = "process/output"
EXITED: Final = "process/exited"
CLOSED: Final = "process/closed"


class ProcessNotices:
    """Builds the notifications of one process.

    Output is the hot path of the whole server, so its frame is spliced from finished pieces instead of being
    serialised; base64 needs no escaping.
    """

    __slots__ = ("_output", "_process_id")

    def __init__(self, process_id: str) -> None:
        self._process_id: Final = process_id
        name = orjson.dumps(process_id)
        self._output: Final = {
            stream: (
                b'{"method":"process/output","params":{"processId":%b,"seq":' % name,
                b',"stream":"%b","chunk":"' % stream.value.encode("ascii"),
            )
            for stream in StreamName
        }

    def output(self, seq: int, stream: StreamName, data: bytes) -> bytes:
        """The message for one chunk."""
        head, middle = self._output[stream]
        return b'%b%d%b%b"}}' % (head, seq, middle, encode_base64(data))

    def exited(self, seq: int, *, exit_code: int, sandbox_denied: bool) -> bytes:
        """The message for the exit."""
        params = {
            "processId": self._process_id,
            "seq": seq,
            "exitCode": exit_code,
            "sandboxDenied": sandbox_denied,
        }
        return encode_notification(EXITED, orjson.dumps(params))

    def closed(self, seq: int) -> bytes:
        """The message for the close."""
        return encode_notification(CLOSED, orjson.dumps({"processId": self._process_id, "seq": seq}))
