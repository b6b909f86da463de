"""The file operations of `fs/*` as plain values, and their JSON form for a helper process.

Native paths only; nothing here touches a file. It imports the standard library alone, so that the helper
starts fast and needs no installed packages. `files` performs the operations.
"""

from __future__ import annotations

import base64
import os
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Links(StrEnum):
    """What happens at a symbolic link on the way to a file, or at its end."""

    FOLLOW = "follow"
    REFUSE = "refuse"


class Depth(StrEnum):
    """Whether an operation on a directory reaches beyond that directory."""

    RECURSIVE = "recursive"
    SINGLE = "single"


class Missing(StrEnum):
    """What a removal does when there is nothing to remove."""

    IGNORE = "ignore"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class GetMetadata:
    """Kind, size and times of what `path` names."""

    path: str
    links: Links


@dataclass(frozen=True, slots=True)
class ReadFile:
    """The whole content of a regular file."""

    path: str
    links: Links


@dataclass(frozen=True, slots=True)
class WriteFile:
    """Create or truncate a file and write all of `data`."""

    path: str
    links: Links
    data: bytes


@dataclass(frozen=True, slots=True)
class CreateDirectory:
    """Make a directory; RECURSIVE also makes its parents and accepts that it exists."""

    path: str
    links: Links
    depth: Depth


@dataclass(frozen=True, slots=True)
class Remove:
    """Remove a file, a link, or a directory; RECURSIVE with what it holds."""

    path: str
    links: Links
    depth: Depth
    missing: Missing


FileOperation = GetMetadata | ReadFile | WriteFile | CreateDirectory | Remove


class FileKind(StrEnum):
    """What a path names, links followed."""

    DIRECTORY = "directory"
    FILE = "file"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Metadata:
    """The result of GetMetadata.

    Attributes:
        kind: what the target is.
        is_symlink: whether the path itself is a link.
        size: bytes of the target.
        created_ms: milliseconds since the epoch, 0 when the system does not say.
        modified_ms: milliseconds since the epoch.
    """

    kind: FileKind
    is_symlink: bool
    size: int
    created_ms: int
    modified_ms: int


@dataclass(frozen=True, slots=True)
class Content:
    """The result of ReadFile."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Done:
    """The result of the operations that only do something."""


FileResult = Metadata | Content | Done


class Refusal(StrEnum):
    """Reasons of our own to refuse an operation; the operating system had nothing against it."""

    NOT_A_FILE = "not-a-file"
    LINK_IN_PATH = "link-in-path"
    TOO_LARGE = "too-large"
    UNSUPPORTED = "unsupported"


class FileRefused(OSError):
    """An operation that the server itself refuses.

    Attributes:
        refusal: the reason.
    """

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.value)
        self.refusal = refusal


Json = dict[str, object]

_OPERATIONS: Final = {
    "getMetadata": GetMetadata,
    "readFile": ReadFile,
    "writeFile": WriteFile,
    "createDirectory": CreateDirectory,
    "remove": Remove,
}


def operation_to_json(operation: FileOperation) -> Json:
    """The operation as a JSON object; paths as base64, because they need not be Unicode."""
    common: Json = {"path": _path_to_text(operation.path), "links": operation.links.value}
    match operation:
        case GetMetadata():
            return {"operation": "getMetadata", **common}
        case ReadFile():
            return {"operation": "readFile", **common}
        case WriteFile():
            return {"operation": "writeFile", **common, "data": _bytes_to_text(operation.data)}
        case CreateDirectory():
            return {"operation": "createDirectory", **common, "depth": operation.depth.value}
        case Remove():
            return {
                "operation": "remove",
                **common,
                "depth": operation.depth.value,
                "missing": operation.missing.value,
            }


def operation_from_json(value: Json) -> FileOperation:
    """The inverse of `operation_to_json`.

    Raises:
        ValueError: the object is no operation.
    """
    path, links = _path_from_text(_text(value, "path")), Links(_text(value, "links"))
    match _OPERATIONS.get(_text(value, "operation")):
        case kind if kind is GetMetadata:
            return GetMetadata(path=path, links=links)
        case kind if kind is ReadFile:
            return ReadFile(path=path, links=links)
        case kind if kind is WriteFile:
            return WriteFile(path=path, links=links, data=_bytes_from_text(_text(value, "data")))
        case kind if kind is CreateDirectory:
            return CreateDirectory(path=path, links=links, depth=Depth(_text(value, "depth")))
        case kind if kind is Remove:
            depth, missing = Depth(_text(value, "depth")), Missing(_text(value, "missing"))
            return Remove(path=path, links=links, depth=depth, missing=missing)
        case _:
            raise ValueError("unknown operation")


def result_to_json(result: FileResult) -> Json:
    """The answer of a helper that succeeded."""
    match result:
        case Done():
            return {"result": "done"}
        case Content():
            return {"result": "content", "data": _bytes_to_text(result.data)}
        case Metadata():
            return {
                "result": "metadata",
                "kind": result.kind.value,
                "isSymlink": result.is_symlink,
                "size": result.size,
                "createdMs": result.created_ms,
                "modifiedMs": result.modified_ms,
            }


def error_to_json(error: OSError) -> Json:
    """The answer of a helper that failed."""
    if isinstance(error, FileRefused):
        return {"result": "refused", "refusal": error.refusal.value}
    return {"result": "failed", "errno": error.errno if error.errno is not None else 0}


def result_from_json(value: Json) -> FileResult:
    """The result that a helper answered with.

    Raises:
        OSError: what the operation raised in the helper.
        ValueError: the object is no answer.
    """
    match _text(value, "result"):
        case "done":
            return Done()
        case "content":
            return Content(data=_bytes_from_text(_text(value, "data")))
        case "metadata":
            return Metadata(
                kind=FileKind(_text(value, "kind")),
                is_symlink=value.get("isSymlink") is True,
                size=_number(value, "size"),
                created_ms=_number(value, "createdMs"),
                modified_ms=_number(value, "modifiedMs"),
            )
        case "refused":
            raise FileRefused(Refusal(_text(value, "refusal")))
        case "failed":
            number = _number(value, "errno")
            raise OSError(number, os.strerror(number))
        case _:
            raise ValueError("unknown result")


def _text(value: Json, name: str) -> str:
    member = value.get(name)
    if not isinstance(member, str):
        raise ValueError(f"`{name}` is missing or is no text")  # noqa: TRY004 - one error type for all bad input
    return member


def _number(value: Json, name: str) -> int:
    member = value.get(name)
    if not isinstance(member, int):
        raise ValueError(f"`{name}` is missing or is no number")  # noqa: TRY004 - see `_text`
    return member


def _path_to_text(path: str) -> str:
    return _bytes_to_text(os.fsencode(path))


def _path_from_text(text: str) -> str:
    return os.fsdecode(_bytes_from_text(text))


def _bytes_to_text(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _bytes_from_text(text: str) -> bytes:
    return base64.b64decode(text, validate=True)
