"""Dispatch: from decoded parameters to the handler of their family.

The one place that knows every handler. The type of the parameters selects it, since each method has its own.
"""

from __future__ import annotations

from execserver.protocol import environment as wire_environment
from execserver.protocol import files as wire_files
from execserver.protocol import process as wire_process
from execserver.protocol.wire_model import WireModel
from execserver.server.handlers import environment, files, processes
from execserver.server.handlers.call import Call, Reply


async def dispatch(call: Call, params: WireModel) -> Reply:
    """Answer a request that has been admitted.

    Raises:
        RequestFailed: the answer is an error.
    """
    match params:
        case wire_environment.EnvironmentInfoParams() | wire_environment.EnvironmentStatusParams():
            return environment.handle(call, params)
        case (
            wire_process.ProcessStartParams()
            | wire_process.ProcessReadParams()
            | wire_process.ProcessWriteParams()
            | wire_process.ProcessSignalParams()
            | wire_process.ProcessTerminateParams()
        ):
            return await processes.handle(call, params)
        case (
            wire_files.FsGetMetadataParams()
            | wire_files.FsReadFileParams()
            | wire_files.FsWriteFileParams()
            | wire_files.FsCreateDirectoryParams()
            | wire_files.FsRemoveParams()
        ):
            return await files.handle(call, params)
        case _:
            # A row of METHODS without a handler; a test keeps both in step.
            raise NotImplementedError(type(params).__name__)
