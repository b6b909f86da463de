"""What deny globs match right now: one bounded walk for all globs of a policy.

It follows no links and looks into no directory in which no glob can match. It finds paths and makes no
rules of them; `bind` does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from sandboxing.binding.bound import PathKind
from sandboxing.binding.facts import FileSystemView
from sandboxing.binding.globs import Glob, name_flags
from sandboxing.errors import BindError
from sandboxing.paths.native import PathDialect

MAX_GLOB_MATCHES: Final = 8192
"""Matches of all globs of a policy together: the reference refuses more, and each one costs a mount."""

MAX_GLOB_DIRECTORIES: Final = 200_000
"""Directories that one walk may list: seconds of work, so a policy that needs more is a mistake."""

MAX_GLOB_DEPTH: Final = 256
"""Directory levels below the start of a glob; only programs that mean harm make deeper trees."""

State = tuple[int, int]
"""A glob, and which of its segments the next name has to match."""


@dataclass(frozen=True, slots=True)
class Match:
    """A path that a glob matches.

    Attributes:
        glob: which one, by its position among the globs of the walk.
        path: the matched path itself.
        kind: what stands there; a link is OTHER.
    """

    glob: int
    path: str
    kind: PathKind


@dataclass(frozen=True, slots=True)
class _Here:
    """A directory on the way, and what may still match in it."""

    path: str
    depth: int
    states: frozenset[State]


@dataclass(frozen=True, slots=True)
class _Ends:
    """The last segments among some states, with one expression for all of them."""

    any_of: re.Pattern[str] | None
    each: tuple[tuple[int, re.Pattern[str]], ...]


class GlobWalk:
    """One walk, used once: its limits count over all that it does."""

    def __init__(
        self, globs: tuple[Glob, ...], view: FileSystemView, dialect: PathDialect, *, max_depth: int | None
    ) -> None:
        """Prepare a walk.

        Args:
            globs: what to look for.
            view: where to look.
            dialect: the convention of paths.
            max_depth: levels below the start of each glob that are looked at; None is to the limit.

        Raises:
            BindError: a glob starts at the root of the file system.
        """
        self._globs = globs
        self._view = view
        self._dialect = dialect
        self._max_depth = max_depth
        flags = name_flags(dialect)
        self._names = tuple(tuple(re.compile(part.source, flags) for part in glob.segments) for glob in globs)
        self._starts = tuple(_start(glob, dialect=dialect) for glob in globs)
        self._pending: dict[tuple[str, ...], set[State]] = {}
        for position, start in enumerate(self._starts):
            self._pending.setdefault(dialect.key(start), set()).add((position, dialect.depth(start)))
        self._ends: dict[frozenset[State], _Ends] = {}
        self._listed = 0

    def matches(self) -> Iterator[Match]:
        """Every match that does not lie below another one, in no particular order.

        Raises:
            BindError: a limit of this module is reached.
        """
        found: set[tuple[str, ...]] = set()
        for start in sorted(set(self._starts), key=self._dialect.key):
            # A walk from higher up takes along the globs of the starts that it passes.
            key = self._dialect.key(start)
            taken_along = key not in self._pending
            denied = any(key[:count] in found for count in range(1, len(key) + 1))
            if taken_along or denied or self._view.kind(start) is not PathKind.DIRECTORY:
                continue
            waiting = [_Here(path=start, depth=self._dialect.depth(start), states=frozenset())]
            while waiting:
                here = self._opened(waiting.pop())
                for name, kind in self._children(here):
                    glob = self._ending(here.states, name)
                    if glob is not None:
                        path = self._child(here.path, name)
                        found.add(self._dialect.key(path))
                        if len(found) > MAX_GLOB_MATCHES:
                            raise self._too_wide(glob, f"the globs match more than {MAX_GLOB_MATCHES} paths")
                        yield Match(glob=glob, path=path, kind=kind)
                    elif kind is PathKind.DIRECTORY and (states := self._below(here, name)):
                        path = self._child(here.path, name)
                        waiting.append(_Here(path=path, depth=here.depth + 1, states=states))

    def _opened(self, here: _Here) -> _Here:
        """The directory with the globs that start in it, and with `**` standing for nothing too."""
        states = set(here.states)
        if self._pending:
            states |= self._pending.pop(self._dialect.key(here.path), set())
        for glob, part in tuple(states):
            segments = self._globs[glob].segments
            if segments[part].spans and part + 1 < len(segments):
                states.add((glob, part + 1))
        return _Here(path=here.path, depth=here.depth, states=frozenset(states))

    def _children(self, here: _Here) -> Iterable[tuple[str, PathKind]]:
        """The children that may matter: looked up one by one when all their names are known."""
        names = {self._globs[glob].segments[part].literal for glob, part in here.states}
        known = sorted(name for name in names if name is not None)
        if len(known) == len(names):
            looked_up = ((name, self._view.kind(self._child(here.path, name))) for name in known)
            return [(name, kind) for name, kind in looked_up if kind is not PathKind.MISSING]
        self._listed += 1
        if self._listed > MAX_GLOB_DIRECTORIES:
            cause = f"more than {MAX_GLOB_DIRECTORIES} directories would have to be listed"
            raise self._too_wide(min(here.states)[0], cause)
        # What we cannot list the command, which has no more rights than we have, cannot list either.
        return self._view.list_directory(here.path) or ()

    def _ending(self, states: frozenset[State], name: str) -> int | None:
        """The first glob whose last segment the name matches."""
        ends = self._ends.get(states)
        if ends is None:
            ends = self._ends[states] = self._ends_of(states)
        if ends.any_of is None or ends.any_of.fullmatch(name) is None:
            return None
        return next((glob for glob, expression in ends.each if expression.fullmatch(name)), None)

    def _ends_of(self, states: frozenset[State]) -> _Ends:
        each = tuple(
            (glob, self._names[glob][part])
            for glob, part in sorted(states)
            if part + 1 == len(self._names[glob])
        )
        united = "|".join(f"(?:{expression.pattern})" for _, expression in each)
        return _Ends(any_of=re.compile(united, name_flags(self._dialect)) if each else None, each=each)

    def _below(self, here: _Here, name: str) -> frozenset[State]:
        """What may still match inside the child directory `name`."""
        states: set[State] = set()
        for glob, part in here.states:
            segments = self._globs[glob].segments
            if segments[part].spans:
                following = part
            elif part + 1 < len(segments) and self._names[glob][part].fullmatch(name):
                following = part + 1
            else:
                continue
            if self._may_go_on(glob, here.depth + 1):
                states.add((glob, following))
        return frozenset(states)

    def _may_go_on(self, glob: int, depth: int) -> bool:
        level = depth - self._dialect.depth(self._starts[glob])
        if self._max_depth is not None and level >= self._max_depth:
            return False
        if level >= MAX_GLOB_DEPTH:
            raise self._too_wide(glob, f"the tree is more than {MAX_GLOB_DEPTH} levels deep")
        return True

    def _child(self, path: str, name: str) -> str:
        """`join` without its care for dots, which no name in a directory has."""
        separator = self._dialect.separator
        return path + name if path.endswith(separator) else path + separator + name

    def _too_wide(self, glob: int, cause: str) -> BindError:
        return BindError(
            f"cannot expand glob `{self._globs[glob].pattern}`: {cause}",
            hint="start the pattern at a deeper directory, or deny whole directories",
        )


def _start(glob: Glob, *, dialect: PathDialect) -> str:
    """The deepest directory that holds every match."""
    names = glob.static_names
    if not glob.segments:
        raise BindError(f"cannot expand glob `{glob.pattern}`: it names the root itself")
    if len(names) == len(glob.segments):
        names = names[:-1]
    elif not names:
        cause = "it starts at the root, and whole file systems are not searched"
        raise BindError(f"cannot expand glob `{glob.pattern}`: {cause}", hint="start it at a directory")
    return dialect.assemble((glob.anchor, *names))
