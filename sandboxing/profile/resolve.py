"""The rule that decides one path: the deepest rule that covers it, and among equals the strongest.

It compares bound native paths lexically; globs, protected names and links belong to others. `binding.decide`,
the predicates and the algebra share it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Generic, NamedTuple, Protocol, TypeVar

from sandboxing.paths.native import PathDialect
from sandboxing.profile.access import AccessMode


class RuleAtPath(Protocol):
    """Anything that gives one access at one native absolute path."""

    @property
    def path(self) -> str:
        """The path of the rule."""

    @property
    def access(self) -> AccessMode:
        """What the rule gives there and below."""


class PathRule(NamedTuple):
    """A rule and nothing else."""

    path: str
    access: AccessMode


R = TypeVar("R", bound=RuleAtPath)


def resolve_access(rules: Iterable[R], path: str, dialect: PathDialect) -> R | None:
    """The rule that decides `path`, or None when no rule covers it, which denies.

    The order of the rules decides nothing between rules of different access; of two rules with equal path and
    access the first is given back.

    Raises:
        PathError: `path` or a rule's path is relative or contains NUL.
    """
    candidate = dialect.key(path)
    best: R | None = None
    best_rank = (0, 0)
    for rule in rules:
        key = dialect.key(rule.path)
        if candidate[: len(key)] != key:
            continue
        rank = (len(key), rule.access.strength)
        if best is None or rank > best_rank:
            best, best_rank = rule, rank
    return best


class RuleIndex(Generic[R]):
    """The same answer for many paths: each costs its own depth, not the number of rules."""

    __slots__ = ("_dialect", "_strongest")

    def __init__(self, rules: Iterable[R], dialect: PathDialect) -> None:
        """Index the rules.

        Raises:
            PathError: a rule's path is relative or contains NUL.
        """
        self._dialect = dialect
        self._strongest: dict[tuple[str, ...], R] = {}
        for rule in rules:
            key = dialect.key(rule.path)
            known = self._strongest.get(key)
            if known is None or rule.access.strength > known.access.strength:
                self._strongest[key] = rule

    def winner(self, path: str) -> R | None:
        """The rule that decides `path`, or None when no rule covers it, which denies.

        Raises:
            PathError: `path` is relative or contains NUL.
        """
        return self.winner_at(self._dialect.key(path))

    def winner_at(self, key: tuple[str, ...]) -> R | None:
        """The rule that decides the path with this key, or None."""
        for length in range(len(key), 0, -1):
            rule = self._strongest.get(key[:length])
            if rule is not None:
                return rule
        return None

    def access(self, path: str) -> AccessMode:
        """What is given at `path`.

        Raises:
            PathError: `path` is relative or contains NUL.
        """
        rule = self.winner(path)
        return AccessMode.DENY if rule is None else rule.access
