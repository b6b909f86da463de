"""Performs file operations on this host, with the caller's own rights.

Owns the race-free ways: links are refused component by component while descending, never by looking first and
opening later. It decides nothing about permissions. The server runs it in a thread for requests without a
sandbox; a helper process runs it inside one. Standard library only, as the helper must start fast.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
from collections.abc import Iterator
from typing import Final

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

MAX_READ_BYTES: Final = 512 * 1024 * 1024
"""Largest file that one request may read (reference: 512 MiB)."""

_READ_STEP: Final = 1024 * 1024
_NEW_FILE_MODE: Final = 0o666
_NEW_DIRECTORY_MODE: Final = 0o777

# Absent on Windows, where a directory cannot be opened this way; see `_descend`.
_DIRECTORY: Final = getattr(os, "O_DIRECTORY", 0)
_NO_FOLLOW: Final = getattr(os, "O_NOFOLLOW", 0)
_CLOSE_ON_EXEC: Final = getattr(os, "O_CLOEXEC", 0)
# A named pipe or a terminal must not stop the server, or become its controlling terminal.
_NO_WAITING: Final = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
_BINARY: Final = getattr(os, "O_BINARY", 0)
_SAFE: Final = _CLOSE_ON_EXEC | _NO_WAITING | _BINARY


def perform(operation: FileOperation) -> FileResult:
    """Do what is asked.

    Raises:
        OSError: as the operating system answered; FileRefused when the server itself refuses.
    """
    match operation:
        case GetMetadata():
            return _get_metadata(operation)
        case ReadFile():
            return _read_file(operation)
        case WriteFile():
            return _write_file(operation)
        case CreateDirectory():
            return _create_directory(operation)
        case Remove():
            return _remove(operation)


def _get_metadata(operation: GetMetadata) -> Metadata:
    if operation.links is Links.FOLLOW:
        # The link first: the two answers then at worst belong to two moments, never to a wrong kind.
        is_symlink = stat.S_ISLNK(os.lstat(operation.path).st_mode)
        return _metadata(os.stat(operation.path), is_symlink=is_symlink)
    with _descend(operation.path) as (parent, name):
        return _metadata(_stat_no_link(name, parent), is_symlink=False)


def _stat_no_link(name: str, parent: int) -> os.stat_result:
    found = os.stat(name, dir_fd=parent, follow_symlinks=False)
    if stat.S_ISLNK(found.st_mode):
        raise FileRefused(Refusal.LINK_IN_PATH)
    return found


def _metadata(found: os.stat_result, *, is_symlink: bool) -> Metadata:
    kind = FileKind.OTHER
    if stat.S_ISDIR(found.st_mode):
        kind = FileKind.DIRECTORY
    elif stat.S_ISREG(found.st_mode):
        kind = FileKind.FILE
    created: float = getattr(found, "st_birthtime", 0.0)
    return Metadata(
        kind=kind,
        is_symlink=is_symlink,
        size=found.st_size,
        created_ms=int(created * 1000),
        modified_ms=found.st_mtime_ns // 1_000_000,
    )


def _read_file(operation: ReadFile) -> Content:
    file = _open(operation.path, operation.links, os.O_RDONLY)
    try:
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode):
            raise FileRefused(Refusal.NOT_A_FILE)
        if found.st_size > MAX_READ_BYTES:
            raise FileRefused(Refusal.TOO_LARGE)
        return Content(data=_read_all(file, found.st_size))
    finally:
        os.close(file)


def _read_all(file: int, expected: int) -> bytes:
    # One byte more than the size said, so that the common case ends with one read that finds the end.
    pieces: list[bytes] = []
    total = 0
    step = min(max(expected + 1, 1), 16 * _READ_STEP)
    while piece := os.read(file, step):
        pieces.append(piece)
        total += len(piece)
        # Files of /proc say 0, and any file may grow meanwhile.
        if total > MAX_READ_BYTES:
            raise FileRefused(Refusal.TOO_LARGE)
        step = _READ_STEP if total >= expected else min(expected + 1 - total, 16 * _READ_STEP)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def _write_file(operation: WriteFile) -> Done:
    file = _open(operation.path, operation.links, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    try:
        rest = memoryview(operation.data)
        while rest:
            rest = rest[os.write(file, rest) :]
    finally:
        os.close(file)
    return Done()


def _create_directory(operation: CreateDirectory) -> Done:
    recursive = operation.depth is Depth.RECURSIVE
    if operation.links is Links.REFUSE and recursive:
        _make_path_without_links(operation.path)
    elif operation.links is Links.REFUSE:
        with _descend(operation.path) as (parent, name):
            os.mkdir(name, mode=_NEW_DIRECTORY_MODE, dir_fd=parent)
    elif recursive:
        _make_path(operation.path)
    else:
        os.mkdir(operation.path, mode=_NEW_DIRECTORY_MODE)
    return Done()


def _make_path(path: str) -> None:
    # Not os.makedirs: below a dangling link it says that nothing is there, which clients take for a parent
    # that they have yet to make.
    missing: list[str] = []
    here = path
    while not _make_or_find(here):
        missing.append(here)
        above = os.path.dirname(here)
        if above == here:
            break
        here = above
    for below in reversed(missing):
        if not _make_or_find(below):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))


def _make_or_find(path: str) -> bool:
    """Whether the directory exists by now; False when its parent does not."""
    try:
        os.mkdir(path, mode=_NEW_DIRECTORY_MODE)
    except FileNotFoundError:
        return False
    except OSError:
        if not os.path.isdir(path):
            raise
    return True


def _make_path_without_links(path: str) -> None:
    if not _can_descend():
        raise FileRefused(Refusal.UNSUPPORTED)
    anchor, names = _split(path)
    here = os.open(anchor, os.O_RDONLY | _DIRECTORY | _CLOSE_ON_EXEC)
    try:
        for name in names:
            with contextlib.suppress(FileExistsError):
                os.mkdir(name, mode=_NEW_DIRECTORY_MODE, dir_fd=here)
            # Whatever is there by now has to be a real directory, also when somebody just put it there.
            below = _open_directory(name, here)
            os.close(here)
            here = below
    finally:
        os.close(here)


def _remove(operation: Remove) -> Done:
    if operation.links is Links.REFUSE and operation.depth is Depth.RECURSIVE:
        raise FileRefused(Refusal.UNSUPPORTED)
    try:
        if operation.links is Links.REFUSE:
            with _descend(operation.path) as (parent, name):
                _remove_one(name, parent, _stat_no_link(name, parent))
        else:
            found = os.lstat(operation.path)
            if operation.depth is Depth.RECURSIVE and stat.S_ISDIR(found.st_mode):
                # Descends by descriptors, so a directory that turns into a link meanwhile is not followed.
                shutil.rmtree(operation.path)
            else:
                _remove_one(operation.path, parent=None, found=found)
    except FileNotFoundError:
        if operation.missing is Missing.FAIL:
            raise
    return Done()


def _remove_one(path: str, parent: int | None, found: os.stat_result) -> None:
    # What was found only chooses the call; when it has become something else the call fails.
    if stat.S_ISDIR(found.st_mode):
        os.rmdir(path, dir_fd=parent)
    else:
        os.unlink(path, dir_fd=parent)


def _open(path: str, links: Links, flags: int) -> int:
    if links is Links.FOLLOW:
        return os.open(path, flags | _SAFE, _NEW_FILE_MODE)
    with _descend(path) as (parent, name):
        return os.open(name, flags | _SAFE | _NO_FOLLOW, _NEW_FILE_MODE, dir_fd=parent)


@contextlib.contextmanager
def _descend(path: str) -> Iterator[tuple[int, str]]:
    """The open directory that holds the last component, reached without following any link.

    Raises:
        NotADirectoryError: a component on the way is a link, or is no directory.
    """
    if not _can_descend():
        raise FileRefused(Refusal.UNSUPPORTED)
    anchor, names = _split(path)
    here = os.open(anchor, os.O_RDONLY | _DIRECTORY | _CLOSE_ON_EXEC)
    try:
        for name in names[:-1]:
            below = _open_directory(name, here)
            os.close(here)
            here = below
        yield here, names[-1] if names else "."
    finally:
        os.close(here)


def _open_directory(name: str, parent: int) -> int:
    flags = os.O_RDONLY | _DIRECTORY | _NO_FOLLOW | _CLOSE_ON_EXEC
    # A directory that may only be searched can still be passed through where the system offers that.
    flags |= getattr(os, "O_PATH", 0)
    return os.open(name, flags, dir_fd=parent)


def _can_descend() -> bool:
    return os.open in os.supports_dir_fd and _NO_FOLLOW != 0


def _split(path: str) -> tuple[str, tuple[str, ...]]:
    drive, rest = os.path.splitdrive(path)
    return drive + os.sep, tuple(name for name in rest.split(os.sep) if name not in {"", "."})
