"""METHODS: the index of the protocol as this server speaks it.

One row per request with its family (whose name appears in ordering errors), parameters and result. A method
without a row does not exist. The connection decodes by it and the handlers' registry is checked against it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from pydantic import ValidationError

from execserver.protocol import environment, error_codes, files, process
from execserver.protocol.codec import unexpected
from execserver.protocol.decode_error import describe
from execserver.protocol.wire_model import Empty, Result, WireModel

INITIALIZE: Final = "initialize"
INITIALIZED: Final = "initialized"
"""The one notification that a client may send."""


class Family(StrEnum):
    """Method families under the names that ordering errors use."""

    SESSION = "session"
    EXEC = "exec"
    ENVIRONMENT_INFO = "environment info"
    ENVIRONMENT_STATUS = "environment status"
    FILESYSTEM = "filesystem"


@dataclass(frozen=True, slots=True)
class Method:
    """One request of the protocol."""

    name: str
    family: Family
    params: type[WireModel]
    result: type[Result]


_ROWS: Final = (
    Method(INITIALIZE, Family.SESSION, environment.InitializeParams, environment.InitializeResult),
    Method(
        "environment/info",
        Family.ENVIRONMENT_INFO,
        environment.EnvironmentInfoParams,
        environment.EnvironmentInfo,
    ),
    Method(
        "environment/status",
        Family.ENVIRONMENT_STATUS,
        environment.EnvironmentStatusParams,
        environment.EnvironmentStatusResult,
    ),
    Method("process/start", Family.EXEC, process.ProcessStartParams, process.ProcessStartResult),
    Method("process/read", Family.EXEC, process.ProcessReadParams, process.ProcessReadResult),
    Method("process/write", Family.EXEC, process.ProcessWriteParams, process.ProcessWriteResult),
    Method("process/signal", Family.EXEC, process.ProcessSignalParams, Empty),
    Method("process/terminate", Family.EXEC, process.ProcessTerminateParams, process.ProcessTerminateResult),
    Method("fs/getMetadata", Family.FILESYSTEM, files.FsGetMetadataParams, files.FsGetMetadataResult),
    Method("fs/readFile", Family.FILESYSTEM, files.FsReadFileParams, files.FsReadFileResult),
    Method("fs/writeFile", Family.FILESYSTEM, files.FsWriteFileParams, Empty),
    Method("fs/createDirectory", Family.FILESYSTEM, files.FsCreateDirectoryParams, Empty),
    Method("fs/remove", Family.FILESYSTEM, files.FsRemoveParams, Empty),
)

METHODS: Final[Mapping[str, Method]] = MappingProxyType({row.name: row for row in _ROWS})


def find_method(name: str) -> Method:
    """The row of a method.

    Raises:
        RequestFailed: this server does not have it.
    """
    method = METHODS.get(name)
    if method is None:
        raise error_codes.unknown_method(name)
    return method


def decode_params(method: Method, params: object) -> WireModel:
    """Read the parameters of a method.

    Raises:
        RequestFailed: they do not fit; the text is the reference's.
    """
    if issubclass(method.params, environment.NoParams):
        if params is not None and params != {}:
            raise error_codes.invalid_params(f"invalid type: {unexpected(params)}, expected unit")
        return method.params()
    try:
        return method.params.model_validate(params)
    except ValidationError as error:
        raise error_codes.invalid_params(describe(error)) from None
