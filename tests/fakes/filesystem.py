"""InMemoryView: a file system in a dictionary, for whatever takes a FileSystemView.

It never touches the machine. Parents of what is put in exist as directories without being named.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sandboxing.binding.bound import PathKind
from sandboxing.paths.native import PathDialect


@dataclass(frozen=True, slots=True)
class Directory:
    """A directory."""


@dataclass(frozen=True, slots=True)
class File:
    """A regular file."""

    text: str = ""


@dataclass(frozen=True, slots=True)
class Symlink:
    """A symbolic link."""

    target: str


@dataclass(frozen=True, slots=True)
class Socket:
    """Neither file nor directory nor link."""


Node = Directory | File | Symlink | Socket


class InMemoryView:
    """A tree given by absolute paths; counts the directories that were listed."""

    def __init__(
        self, nodes: Mapping[str, Node] | None = None, *, dialect: PathDialect = PathDialect.POSIX
    ) -> None:
        self._dialect = dialect
        self._nodes: dict[tuple[str, ...], Node] = {}
        self._children: dict[tuple[str, ...], dict[str, str]] = {}
        self.listed: list[str] = []
        for path, node in (nodes or {}).items():
            self.put(path, node)

    def put(self, path: str, node: Node) -> None:
        """Set what stands at a path."""
        parts, key = self._dialect.components(path), self._dialect.key(path)
        self._nodes[key] = node
        for count in range(1, len(key)):
            self._nodes.setdefault(key[:count], Directory())
            self._children.setdefault(key[:count], {})[key[count]] = parts[count]

    def _physical(self, path: str) -> tuple[str, ...] | None:
        """The key when every parent is a directory: links in parents are followed as an OS would."""
        key = self._dialect.key(path)
        for count in range(1, len(key)):
            if not isinstance(self._nodes.get(key[:count]), Directory) and count > 1:
                return None
        return key

    def kind(self, path: str) -> PathKind:
        key = self._physical(path)
        if key is None:
            return PathKind.MISSING
        match self._nodes.get(key):
            case None:
                return PathKind.DIRECTORY if len(key) == 1 else PathKind.MISSING
            case Directory():
                return PathKind.DIRECTORY
            case File():
                return PathKind.FILE
            case Symlink() | Socket():
                return PathKind.OTHER

    def read_link(self, path: str) -> str | None:
        key = self._physical(path)
        node = self._nodes.get(key) if key is not None else None
        return node.target if isinstance(node, Symlink) else None

    def list_directory(self, path: str) -> Iterable[tuple[str, PathKind]] | None:
        self.listed.append(path)
        if self.kind(path) is not PathKind.DIRECTORY:
            return None
        names = self._children.get(self._dialect.key(path), {}).values()
        return [(name, self.kind(self._dialect.join(path, name))) for name in names]

    def read_small_file(self, path: str) -> str | None:
        key = self._physical(path)
        node = self._nodes.get(key) if key is not None else None
        return node.text if isinstance(node, File) else None
