"""The wire types of `fs/*`, as far as this server has them.

Defaults are the protocol's: links are followed, and directories are made and removed with all they need or
hold. File content stays base64 text in `fs/writeFile`, because a bad one is refused by another code than
every other parameter.
"""

from typing import Annotated

from pydantic import Field

from execserver.protocol.wire_model import Base64, Flag, Result, Text, WireModel, encode_base64, null_is
from sandboxing.paths.uri import PathUri
from sandboxing.profile.context import SandboxContext

FlagOrTrue = Annotated[Flag, null_is(default=True)]

Millis = Annotated[int, Field(strict=True)]
"""Milliseconds since the epoch, 0 when unknown."""


class FsGetMetadataParams(WireModel):
    """Parameters of `fs/getMetadata`."""

    path: PathUri
    follow_symlinks: FlagOrTrue = True
    sandbox: SandboxContext | None = None


class FsGetMetadataResult(Result):
    """Result of `fs/getMetadata`: kind and size of the target; `is_symlink` is about the path itself."""

    is_directory: Flag
    is_file: Flag
    is_symlink: Flag
    size: Annotated[int, Field(strict=True, ge=0)]
    created_at_ms: Millis
    modified_at_ms: Millis


class FsReadFileParams(WireModel):
    """Parameters of `fs/readFile`."""

    path: PathUri
    follow_symlinks: FlagOrTrue = True
    sandbox: SandboxContext | None = None


class FsReadFileResult(Result):
    """Result of `fs/readFile`."""

    data_base64: Base64

    def encoded(self) -> bytes:
        """The finished JSON value, spliced: a file may have hundreds of megabytes."""
        return b'{"dataBase64":"%b"}' % encode_base64(self.data_base64)


class FsWriteFileParams(WireModel):
    """Parameters of `fs/writeFile`."""

    path: PathUri
    data_base64: Text
    follow_symlinks: FlagOrTrue = True
    sandbox: SandboxContext | None = None


class FsCreateDirectoryParams(WireModel):
    """Parameters of `fs/createDirectory`."""

    path: PathUri
    recursive: FlagOrTrue = True
    follow_symlinks: FlagOrTrue = True
    sandbox: SandboxContext | None = None


class FsRemoveParams(WireModel):
    """Parameters of `fs/remove`."""

    path: PathUri
    recursive: FlagOrTrue = True
    force: FlagOrTrue = True
    follow_symlinks: FlagOrTrue = True
    sandbox: SandboxContext | None = None
