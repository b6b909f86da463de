"""What a build left on disk, and how two such trees differ.

It reads below one directory and changes nothing. Used by `run`.
"""

from __future__ import annotations

import fnmatch
import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

_RANDOM_PARTS: Final = frozenset({".hypothesis"})
"""Directories whose file names are drawn at random."""

_MACHINE_CODE: Final = (b"\x7fELF", b"!<arch>\n")
"""First bytes of objects, programs, shared libraries and archives, which compilers make reproducibly."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One file as a later reader sees it.

    Attributes:
        mode: kind and permission bits.
        owner: user id.
        content: target of a symbolic link, digest of machine code, otherwise empty: other files hold times.
    """

    mode: int
    owner: int
    content: str


Tree = Mapping[str, Entry]
"""The entries below a directory by their relative paths."""


def read_tree(top: str) -> dict[str, Entry]:
    """Everything below `top` but what is named at random."""
    return {os.path.relpath(path, top): _entry(path) for path in _walk(top)}


def tree_differences(outside: Tree, inside: Tree) -> list[str]:
    """One line for every path that is not the same in both."""
    lines = []
    for path in sorted(outside.keys() | inside.keys()):
        one, other = outside.get(path), inside.get(path)
        if one is None or other is None:
            lines.append(f"{path}: exists {'inside' if one is None else 'outside'} only")
        elif one != other:
            lines.append(f"{path}: outside {_words(one)}, inside {_words(other)}")
    return lines


def missing(tree: Tree, patterns: tuple[str, ...]) -> list[str]:
    """The patterns that no path of the tree matches."""
    return [pattern for pattern in patterns if not fnmatch.filter(tree, pattern)]


def _walk(top: str) -> Iterator[str]:
    for folder, folders, files in os.walk(top):
        folders[:] = [name for name in folders if name not in _RANDOM_PARTS]
        for name in (*folders, *files):
            yield os.path.join(folder, name)


def _entry(path: str) -> Entry:
    status = os.lstat(path)
    content = ""
    if stat.S_ISLNK(status.st_mode):
        content = os.readlink(path)
    elif stat.S_ISREG(status.st_mode):
        with open(path, "rb") as file:
            data = file.read()
        if data.startswith(_MACHINE_CODE):
            content = hashlib.sha256(data).hexdigest()
    return Entry(mode=status.st_mode, owner=status.st_uid, content=content)


def _words(entry: Entry) -> str:
    return f"{stat.filemode(entry.mode)} uid {entry.owner} {entry.content[:16]}".rstrip()
