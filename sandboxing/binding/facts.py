"""What binding must know about this machine: fixed facts, a view of its files, and where links lead.

Nothing here reads the machine: `run` fills HostFacts and implements FileSystemView, tests use a tree in
memory, the binder is the reader. It never holds policy.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Protocol

from sandboxing.binding.bound import Link, PathKind
from sandboxing.errors import BindError, PathError
from sandboxing.paths.native import PathDialect

MAX_LINKS: Final = 40
"""Links followed for one path: MAXSYMLINKS of Linux, so that we give up where the kernel does."""


@dataclass(frozen=True, slots=True)
class HostFacts:
    """The facts of one machine and one launcher that symbols resolve against.

    Attributes:
        dialect: the convention of native paths.
        cwd: absolute native directory that stands in for a missing policy cwd.
        home: home directory of the user, or None when there is none.
        tmpdir: the launcher's own TMPDIR when set and absolute, or None.
        slash_tmp: `/tmp` when that is a directory here, or None.
        platform_read_roots: what `:minimal` makes readable, as absolute native paths; missing ones are left
            out by binding.
        host_label: the system's name in errors that go on the wire.
    """

    dialect: PathDialect
    cwd: str
    home: str | None = None
    tmpdir: str | None = None
    slash_tmp: str | None = None
    platform_read_roots: tuple[str, ...] = ()
    host_label: str = "linux"


class FileSystemView(Protocol):
    """A file system as binding sees it. No method follows a link in the final component.

    Paths are absolute and native. What cannot be looked at (no permission, an I/O error, a name that is too
    long) counts as missing. No method raises.
    """

    def kind(self, path: str) -> PathKind:
        """What stands at `path` itself; a link is OTHER whatever it leads to."""

    def read_link(self, path: str) -> str | None:
        """The text of the link at `path`, or None when it is not a link."""

    def list_directory(self, path: str) -> Iterable[tuple[str, PathKind]] | None:
        """Names and kinds of a directory's children, in any order; None when it cannot be listed."""

    def read_small_file(self, path: str) -> str | None:
        """The text of a regular file of at most a few KiB, or None."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """Where a path leads.

    Attributes:
        path: the path with links resolved as far as it exists, the rest appended as written.
        links: the links crossed, in order.
        kind: what stands there; never a link.
    """

    path: str
    links: tuple[Link, ...]
    kind: PathKind


@dataclass(frozen=True, slots=True)
class _Walked:
    """A place reached so far."""

    parts: tuple[str, ...]
    links: tuple[Link, ...] = ()
    kind: PathKind = PathKind.DIRECTORY


class LinkResolver:
    """`resolve_links` for many paths: what their beginnings have in common is looked at once.

    It remembers, so it belongs to one binding and must not outlive it.
    """

    def __init__(self, view: FileSystemView, dialect: PathDialect) -> None:
        self._view = view
        self._dialect = dialect
        self._known: dict[tuple[str, ...], _Walked] = {}

    def resolve(self, path: str) -> Resolved:
        """Where `path` leads.

        Raises:
            BindError: more than MAX_LINKS links are crossed, or one cannot be followed.
            PathError: `path` is relative.
        """
        parts = self._dialect.components(path)
        done = next((count for count in range(len(parts), 1, -1) if parts[:count] in self._known), 1)
        walked = self._known.get(parts[:done]) or _Walked(parts=parts[:1])
        for count in range(done, len(parts)):
            walked = self._enter(walked, parts[count], spelled=path)
            self._known[parts[: count + 1]] = walked
        return Resolved(path=self._dialect.assemble(walked.parts), links=walked.links, kind=walked.kind)

    def beside(self, file: str, target: str) -> str | None:
        """The absolute path that `target` names in a file's own directory, or None when it names none."""
        try:
            return self._dialect.join(self._dialect.parent(file), target)
        except PathError:
            return None

    def below(self, directory: str, name: str) -> str:
        """The path of a name in a directory."""
        return self._dialect.join(directory, name)

    def _enter(self, start: _Walked, name: str, *, spelled: str) -> _Walked:
        """One component further, through all links that it leads to."""
        here = start
        waiting = [name]
        while waiting:
            step = waiting.pop()
            if step == "..":
                # Everything in `here` is resolved, so its parent is what the kernel would go to.
                above = here.parts[:-1] or here.parts
                here = _Walked(parts=above, links=here.links, kind=_of_parent(here.kind))
                continue
            parts = (*here.parts, step)
            if here.kind is PathKind.MISSING:
                here = _Walked(parts=parts, links=here.links, kind=PathKind.MISSING)
                continue
            place = self._dialect.assemble(parts)
            kind = self._view.kind(place)
            target = self._view.read_link(place) if kind is PathKind.OTHER else None
            if target is None:
                here = _Walked(parts=parts, links=here.links, kind=kind)
                continue
            if len(here.links) == MAX_LINKS:
                message = f"cannot resolve `{spelled}`: more than {MAX_LINKS} links, `{place}` among them"
                raise BindError(message, hint="remove the link that leads back to itself")
            links = (*here.links, Link(path=place, target=target))
            parts, steps = self._follow(here.parts, target, link=place)
            here = _Walked(parts=parts, links=links)
            waiting.extend(reversed(steps))
        return here

    def _follow(
        self, directory: tuple[str, ...], target: str, *, link: str
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Where a link's target starts, and the steps from there."""
        if self._dialect is PathDialect.POSIX:
            steps = tuple(step for step in target.split("/") if step not in {"", "."})
            return (directory[:1] if target.startswith("/") else directory), steps
        try:
            # Win32 folds `..` in a target before it looks at anything, as the dialect does.
            parts = self._dialect.components(self._dialect.join(self._dialect.assemble(directory), target))
        except PathError as refusal:
            raise BindError(f"cannot resolve `{link}`: {refusal.message}") from refusal
        return parts[:1], parts[1:]


def _of_parent(kind: PathKind) -> PathKind:
    return kind if kind is PathKind.MISSING else PathKind.DIRECTORY


def resolve_links(view: FileSystemView, path: str, dialect: PathDialect) -> Resolved:
    """Where one path leads, component by component, as `realpath` finds it without a demand to exist.

    Raises:
        BindError: more than MAX_LINKS links are crossed, or one cannot be followed.
        PathError: `path` is relative.
    """
    return LinkResolver(view, dialect).resolve(path)
