"""Resolver: the port through which the algebra asks what symbols and globs mean on one machine.

The pure floors hold no machine, so whoever has one (the binder, a test) implements it. This module adds only
what follows from the port: the rules of a list of entries.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from sandboxing.paths.native import PathDialect
from sandboxing.profile.entries import Entry, GlobLocation, Location
from sandboxing.profile.resolve import PathRule, RuleIndex


class Resolver(Protocol):
    """What locations mean on one machine."""

    @property
    def dialect(self) -> PathDialect:
        """The convention of every path that `resolve` returns."""

    def resolve(self, location: Location) -> tuple[str, ...]:
        """The native absolute paths of a location, empty when it names nothing here.

        For a glob: the directories that hold every match, one for each absolute pattern it stands for.
        """

    def materialise(self, glob: GlobLocation) -> tuple[str, ...]:
        """The absolute patterns that a glob stands for: one for each workspace root if it has the prefix."""

    def matches(self, glob: GlobLocation, path: str) -> bool:
        """Whether the glob matches the path as a whole."""


def rules_of(entries: Iterable[Entry], resolver: Resolver) -> tuple[PathRule, ...]:
    """Every rule of the entries that are no globs; entries that resolve to nothing give none."""
    return tuple(
        PathRule(path, entry.access)
        for entry in entries
        if not isinstance(entry.path, GlobLocation)
        for path in resolver.resolve(entry.path)
    )


def index_of(entries: Iterable[Entry], resolver: Resolver) -> RuleIndex[PathRule]:
    """The rules of the entries, ready for many questions."""
    return RuleIndex(rules_of(entries, resolver), resolver.dialect)
