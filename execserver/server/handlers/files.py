"""The handlers of `fs/*`.

They make native operations of wire parameters and wire errors of what those raise. Whether an operation is
allowed is never decided here: with a sandbox it is performed inside one.
"""

from __future__ import annotations

import errno
import os
from typing import Final, assert_never

from execserver.adapters.file_operations import (
    Content,
    CreateDirectory,
    Depth,
    Done,
    FileKind,
    FileOperation,
    FileRefused,
    FileResult,
    GetMetadata,
    Links,
    Metadata,
    Missing,
    ReadFile,
    Refusal,
    Remove,
    WriteFile,
)
from execserver.errors import FailureKind, RequestFailed, StartFailure
from execserver.protocol import error_codes
from execserver.protocol.error_codes import RpcCode
from execserver.protocol.files import (
    FsCreateDirectoryParams,
    FsGetMetadataParams,
    FsGetMetadataResult,
    FsReadFileParams,
    FsReadFileResult,
    FsRemoveParams,
    FsWriteFileParams,
)
from execserver.protocol.wire_model import Empty, Result, decode_base64
from execserver.server.handlers.call import Call, Reply
from sandboxing.errors import PathError
from sandboxing.paths.uri import PathUri

FileParams = (
    FsGetMetadataParams | FsReadFileParams | FsWriteFileParams | FsCreateDirectoryParams | FsRemoveParams
)

_INVALID_REQUEST_ERRNOS: Final = frozenset({errno.EINVAL, errno.EACCES, errno.EPERM})
"""What the reference answers with -32600 instead of -32603."""


async def handle(call: Call, params: FileParams) -> Reply:
    """Answer a request of this family.

    Raises:
        RequestFailed: the answer is an error.
    """
    operation = _operation(call, params)
    try:
        result = await call.service.perform(operation, params.sandbox)
    except StartFailure as failure:
        raise _sandbox_error(failure) from None
    except FileRefused as refusal:
        raise _refused(refusal.refusal, operation) from None
    except OSError as error:
        raise _os_error(error) from None
    return Reply(_wire_result(result))


def _operation(call: Call, params: FileParams) -> FileOperation:
    # The content first, as the reference does.
    data = _content(params.data_base64) if isinstance(params, FsWriteFileParams) else b""
    path = _native(call, params.path)
    links = Links.FOLLOW if params.follow_symlinks else Links.REFUSE
    match params:
        case FsGetMetadataParams():
            return GetMetadata(path=path, links=links)
        case FsReadFileParams():
            return ReadFile(path=path, links=links)
        case FsWriteFileParams():
            return WriteFile(path=path, links=links, data=data)
        case FsCreateDirectoryParams():
            return CreateDirectory(path=path, links=links, depth=_depth(recursive=params.recursive))
        case FsRemoveParams():
            return Remove(
                path=path,
                links=links,
                depth=_depth(recursive=params.recursive),
                missing=Missing.IGNORE if params.force else Missing.FAIL,
            )
        case _:
            assert_never(params)


def _depth(*, recursive: bool) -> Depth:
    return Depth.RECURSIVE if recursive else Depth.SINGLE


def _native(call: Call, uri: PathUri) -> str:
    try:
        return uri.to_native(call.service.convention, host_label=call.service.environment.platform_os)
    except PathError as error:
        if uri.has_encoded_nul:
            # No system has such a path, so the reference refuses it while decoding.
            raise error_codes.invalid_params(error.message) from None
        raise error_codes.invalid_request(error.message) from None


def _content(text: str) -> bytes:
    try:
        return decode_base64(text)
    except ValueError as error:
        raise error_codes.invalid_request(f"fs/writeFile requires valid base64 dataBase64: {error}") from None


def _wire_result(result: FileResult) -> Result:
    match result:
        case Done():
            return Empty()
        case Content():
            return FsReadFileResult.model_construct(data_base64=result.data)
        case Metadata():
            return FsGetMetadataResult(
                is_directory=result.kind is FileKind.DIRECTORY,
                is_file=result.kind is FileKind.FILE,
                is_symlink=result.is_symlink,
                size=result.size,
                created_at_ms=result.created_ms,
                modified_at_ms=result.modified_ms,
            )
        case _:
            assert_never(result)


def _refused(refusal: Refusal, operation: FileOperation) -> RequestFailed:
    match refusal:
        case Refusal.NOT_A_FILE:
            what = f"path `{operation.path}` is not a file"
            if operation.links is Links.REFUSE:
                what = "path is not a regular file"
            return error_codes.invalid_request(what)
        case Refusal.LINK_IN_PATH:
            return error_codes.invalid_request("path contains a symbolic link")
        case Refusal.TOO_LARGE:
            return error_codes.invalid_request(f"path `{operation.path}` is too large to read at once")
        case Refusal.UNSUPPORTED:
            what = "recursive no-follow removal" if isinstance(operation, Remove) else "no-follow access"
            return error_codes.internal(f"{what} is unsupported")
        case _:
            assert_never(refusal)


def _os_error(error: OSError) -> RequestFailed:
    number = error.errno if error.errno is not None else errno.EIO
    message = f"{os.strerror(number)} (os error {number})"
    if number == errno.ENOENT:
        return error_codes.not_found(message)
    if number in _INVALID_REQUEST_ERRNOS:
        return error_codes.invalid_request(message)
    return error_codes.internal(message)


def _sandbox_error(failure: StartFailure) -> RequestFailed:
    if failure.kind is FailureKind.SANDBOX_UNAVAILABLE:
        return RequestFailed(failure.message, rpc_code=RpcCode.INVALID_PARAMS, kind=failure.kind)
    # The reference names no kind when the sandbox itself is what is wrong.
    return error_codes.invalid_params(f"failed to prepare fs sandbox: {failure.message}")
