"""decide: the one oracle, from a bound policy and a resolved path to an answer with its rule.

It is pure and total, and holds the whole of precedence; nobody else compares rules. Planners check
themselves against it, `explain` and denials quote it, tests take it as the truth.

The order of judgement, the first that speaks wins:

1. an unrestricted or external file system gives write;
2. a sealed deny holds for all that is below it;
3. a deny glob holds for its matches, existing or not, and for all that is below them, and what a matched
   link leads to is held in the same way: no grant re-opens either;
4. the rule with the longest path wins, at equal length deny before write before read, and no rule means
   deny. What `:minimal` adds counts only where the author said nothing, or denied the root alone;
5. a write is refused at a protected name directly below the deepest writable rule, and at a read-only glob
   that no writable rule names or lies below.

`mode_of` is step 4 alone. So a path that a deny glob matches, or that lies below a protected name, can
have a wider mode than `decide` allows; compare effects with `decide`, never with `mode_of`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from sandboxing.binding.bound import (
    BoundGlob,
    BoundPolicy,
    BoundRule,
    FilesystemKind,
    NetworkMode,
    RuleOrigin,
    Tier,
)
from sandboxing.binding.globs import parse_glob, path_expression, slashed
from sandboxing.errors import PathError
from sandboxing.paths.native import PathDialect
from sandboxing.profile.access import Access, AccessMode
from sandboxing.profile.resolve import RuleIndex
from sandboxing.profile.rule_id import RuleId

Key = tuple[str, ...]

_UNSTATED: Final = frozenset({RuleOrigin.PLATFORM_DEFAULT, RuleOrigin.GLOB_MATCH})
"""Origins that step 4 does not compare by depth: defaults come last, and matches are step 3."""


@dataclass(frozen=True, slots=True)
class Decision:
    """An answer of the oracle.

    Attributes:
        allowed: whether the access may happen.
        mode: all that may be done at the path, whatever was asked.
        rule: the rule that decided, or None when no rule covers the path.
        reason: one clause for people.
        losers: the other rules that cover the path, strongest first.
    """

    allowed: bool
    mode: AccessMode
    rule: RuleId | None
    reason: str
    losers: tuple[RuleId, ...] = ()


class Ruling(NamedTuple):
    """What may be done at a path: the part of a Decision that costs little.

    Attributes:
        mode: all that may be done.
        rule: the rule that decided, or None when no rule covers the path.
        reason: one clause for people.
    """

    mode: AccessMode
    rule: RuleId | None
    reason: str


@dataclass(frozen=True, slots=True)
class _Placed:
    """A rule at one of the places where it holds."""

    path: str
    key: Key
    rule: BoundRule

    @property
    def access(self) -> AccessMode:
        """What the rule gives."""
        return self.rule.access

    @property
    def depth(self) -> int:
        """How many names stand between the root and the place."""
        return len(self.key) - 1


@dataclass(frozen=True, slots=True)
class _GlobSet:
    """Globs with one expression for all of them, so that most paths cost one match."""

    any_of: re.Pattern[str] | None
    each: tuple[tuple[BoundGlob, re.Pattern[str]], ...]

    def first(self, text: str) -> BoundGlob | None:
        """The first glob in policy order that covers the path, given in `slashed` form."""
        if self.any_of is None or self.any_of.match(text) is None:
            return None
        return next((glob for glob, expression in self.each if expression.match(text)), None)


class DecisionIndex:
    """The oracle for many questions: built once in linear time, each answer costs its path's depth."""

    def __init__(self, bound: BoundPolicy) -> None:
        """Index a policy.

        Raises:
            BindError: a glob of the policy is malformed, which `bind` would have refused.
            PathError: a rule's path is relative, which `bind` never makes.
        """
        self._bound = bound
        self._dialect = bound.dialect
        placed = tuple(_placed(bound))
        ordinary = [one for one in placed if one.rule.tier is Tier.ORDINARY]
        self._rules = _by_place(placed)
        self._final = _by_place(
            one for one in placed if one.rule.tier is Tier.SEALED or one.rule.origin is RuleOrigin.GLOB_MATCH
        )
        self._stated = RuleIndex((one for one in ordinary if one.rule.origin not in _UNSTATED), bound.dialect)
        self._defaults = RuleIndex((one for one in ordinary if _is_default(one.rule)), bound.dialect)
        self._denied = _glob_set(bound.globs, dialect=bound.dialect)
        self._read_only = _glob_set(bound.read_only_globs, dialect=bound.dialect)
        self._names_hold = not full_disk_write(bound)
        self._protected = {
            bound.dialect.fold_name(name): rule
            for name, rule in zip(bound.protected_names, _protected_rules(bound), strict=True)
        }

    def decide(self, access: Access, path: str) -> Decision:
        """The answer for one access; see the function `decide`."""
        ruling = self.ruling(path)
        allowed = ruling.mode.can_write if access is Access.WRITE else ruling.mode.can_read
        return Decision(
            allowed=allowed,
            mode=ruling.mode,
            rule=ruling.rule,
            reason=ruling.reason,
            losers=self._losers(path, ruling),
        )

    def mode_of(self, path: str) -> AccessMode:
        """What the path rules alone give: no sealed denies, no globs, no protected names."""
        if self._bound.filesystem is not FilesystemKind.RESTRICTED:
            return AccessMode.WRITE
        place = self._absolute(path)
        winner = self._winner(self._dialect.key(place)) if place is not None else None
        return winner.access if winner is not None else AccessMode.DENY

    def _absolute(self, path: str) -> str | None:
        """The path without dots; a relative path is read from the policy cwd."""
        try:
            return self._dialect.join(self._bound.cwd, path)
        except PathError:
            return None

    def _winner(self, key: Key) -> _Placed | None:
        """The strongest rule; a platform default speaks only where the author did not.

        A deny of the root alone is the author's way to say "nothing but what follows", so that defaults
        below it hold; any deeper deny is meant, and no default re-opens it.
        """
        stated = self._stated.winner_at(key)
        if stated is not None and (stated.depth > 0 or stated.access.can_read):
            return stated
        return self._defaults.winner_at(key) or stated

    def _losers(self, path: str, ruling: Ruling) -> tuple[RuleId, ...]:
        """The other rules that hold at a place, strongest first; none where nothing was compared."""
        place = self._absolute(path)
        if ruling.rule is None or place is None:
            return ()
        key = self._dialect.key(place)
        found = [one for count in range(len(key), 0, -1) for one in self._rules.get(key[:count], ())]
        found.sort(key=lambda one: (one.depth, one.access.strength), reverse=True)
        return tuple(dict.fromkeys(one.rule.rule for one in found if one.rule.rule != ruling.rule))

    def ruling(self, path: str) -> Ruling:
        """What may be done at a path, and who says so; `decide` without the rules that lost."""
        if self._bound.filesystem is not FilesystemKind.RESTRICTED:
            return Ruling(mode=AccessMode.WRITE, rule=None, reason="the policy does not restrict files")
        place = self._absolute(path)
        if place is None:
            return Ruling(mode=AccessMode.DENY, rule=None, reason="the path cannot be made absolute")
        key = self._dialect.key(place)
        denied = self._never_reopened(key)
        if denied is not None:
            return Ruling(mode=AccessMode.DENY, rule=denied[0], reason=denied[1])
        winner = self._winner(key)
        if winner is None:
            return Ruling(mode=AccessMode.DENY, rule=None, reason="no rule grants the path")
        if winner.access.can_write and self._names_hold:
            held = self._held_read_only(key, winner)
            if held is not None:
                return Ruling(mode=AccessMode.READ, rule=held[0], reason=held[1])
        return Ruling(mode=winner.access, rule=winner.rule.rule, reason=_reason(winner.rule))

    def _never_reopened(self, key: Key) -> tuple[RuleId, str] | None:
        """Steps 2 and 3: sealed rules, then globs as patterns, then what their matches stand for."""
        final = (
            [one for count in range(len(key), 0, -1) for one in self._final.get(key[:count], ())]
            if self._final
            else []
        )
        for placed in final:
            if placed.rule.tier is Tier.SEALED:
                return placed.rule.rule, f"a sealed rule denies `{placed.rule.spelled}`"
        glob = self._denied.first(_glob_text(key, dialect=self._dialect)) if self._bound.globs else None
        if glob is not None:
            return glob.rule, f"the deny glob `{glob.pattern}` matches"
        for placed in final:
            if placed.rule.origin is RuleOrigin.GLOB_MATCH:
                return placed.rule.rule, f"a deny glob matches `{placed.rule.spelled}`, which leads here"
        return None

    def _held_read_only(self, key: Key, writable: _Placed) -> tuple[RuleId, str] | None:
        """Step 5. A writable rule at or below a protected name re-opens it, so only the deepest counts.

        Nothing in a private `/tmp` outlives the command, so that nothing has to be protected there.
        """
        if writable.rule.origin is RuleOrigin.PRIVATE_TMP:
            return None
        below = key[writable.depth + 1 : writable.depth + 2]
        if below and below[0] in self._protected:
            name_rule = self._protected[below[0]]
            return name_rule, f"`{below[0]}` directly below the writable `{writable.rule.path}` is protected"
        glob = self._read_only.first(_glob_text(key, dialect=self._dialect))
        reopened = self._read_only.first(_glob_text(key[: writable.depth + 1], dialect=self._dialect))
        if glob is None or reopened is not None:
            return None
        return glob.rule, f"`{glob.pattern}` stays read-only"


def decide(bound: BoundPolicy, access: Access, path: str) -> Decision:
    """Whether a policy allows an access; to ask more than once, keep a `DecisionIndex`.

    Executing counts as reading. `.` and `..` are folded without asking whether a parent is a link.

    Args:
        bound: the policy on this machine.
        access: what is to be done.
        path: native path whose links whoever has the file system in hand has resolved already; a
            relative one is read from the policy cwd.
    """
    return DecisionIndex(bound).decide(access, path)


def mode_of(bound: BoundPolicy, path: str) -> AccessMode:
    """What the path rules alone give, as `DecisionIndex.mode_of`."""
    return DecisionIndex(bound).mode_of(path)


def decide_network(bound: BoundPolicy) -> Decision:
    """Whether a policy leaves the network open; which hosts may be reached is not its subject."""
    enabled = bound.network is NetworkMode.ENABLED
    return Decision(
        allowed=enabled,
        mode=AccessMode.WRITE if enabled else AccessMode.DENY,
        rule=bound.network_rule,
        reason="the policy enables the network" if enabled else "the policy restricts the network",
    )


def full_disk_write(bound: BoundPolicy) -> bool:
    """Whether everything is writable: nothing is restricted, or the root is and no rule narrows it.

    Any deny, any glob of either sort, and each read rule without a write rule at the same path narrow.
    What binding adds by itself (platform defaults, protected names) does not.
    """
    if bound.filesystem is not FilesystemKind.RESTRICTED:
        return True
    key = bound.dialect.key
    written = {key(rule.path) for rule in bound.rules if rule.access.can_write}
    if bound.globs or bound.read_only_globs:
        return False
    if not any(len(place) == 1 for place in written):
        return False
    return not any(
        rule.access is AccessMode.DENY or key(rule.path) not in written
        for rule in bound.rules
        if rule.origin not in {RuleOrigin.PLATFORM_DEFAULT, RuleOrigin.PROTECTED_NAME}
        and not rule.access.can_write
    )


def full_disk_read(bound: BoundPolicy) -> bool:
    """Whether everything is readable: nothing is restricted, or the root is and nothing is denied."""
    if bound.filesystem is not FilesystemKind.RESTRICTED:
        return True
    root = any(rule.access.can_read and bound.dialect.depth(rule.path) == 0 for rule in bound.rules)
    return root and not has_read_denies(bound)


def has_read_denies(bound: BoundPolicy) -> bool:
    """Whether some path or pattern may not be read although files are restricted by rules."""
    if bound.filesystem is not FilesystemKind.RESTRICTED:
        return False
    return bool(bound.globs) or any(rule.access is AccessMode.DENY for rule in bound.rules)


def platform_defaults(bound: BoundPolicy) -> bool:
    """Whether the platform's own read roots add something to the policy."""
    return not full_disk_read(bound) and any(
        rule.origin is RuleOrigin.PLATFORM_DEFAULT for rule in bound.rules
    )


def _reason(rule: BoundRule) -> str:
    where = f"`{rule.spelled}`" if rule.spelled == rule.path else f"`{rule.spelled}` (`{rule.path}`)"
    match rule.access, rule.origin:
        case AccessMode.READ, RuleOrigin.PLATFORM_DEFAULT:
            return f"the platform needs {where} to be readable"
        case AccessMode.READ, _:
            return f"{where} is read-only"
        case AccessMode.WRITE, RuleOrigin.PRIVATE_TMP:
            return f"{where} is the command's own temporary directory"
        case AccessMode.WRITE, _:
            return f"{where} is writable"
        case _:
            return f"{where} is denied"


def _placed(bound: BoundPolicy) -> Iterator[_Placed]:
    """Rules where they hold: at what they lead to and, unless they let write, at the name they were given.

    A narrowing rule whose name is a link also holds the link itself, which could else be exchanged. A
    writable rule does not make the link to its target writable.
    """
    for rule in bound.rules:
        key = bound.dialect.key(rule.path)
        yield _Placed(path=rule.path, key=key, rule=rule)
        if rule.links and not rule.access.can_write:
            named = bound.dialect.key(rule.spelled)
            if named != key:
                yield _Placed(path=rule.spelled, key=named, rule=rule)


def _by_place(placed: Iterable[_Placed]) -> Mapping[Key, tuple[_Placed, ...]]:
    places: defaultdict[Key, list[_Placed]] = defaultdict(list)
    for one in placed:
        places[one.key].append(one)
    return {key: tuple(found) for key, found in places.items()}


def _is_default(rule: BoundRule) -> bool:
    return rule.origin is RuleOrigin.PLATFORM_DEFAULT


def _glob_set(globs: tuple[BoundGlob, ...], *, dialect: PathDialect) -> _GlobSet:
    if not globs:
        return _GlobSet(any_of=None, each=())
    parsed = [(glob, parse_glob(glob.pattern, dialect=dialect)) for glob in globs]
    return _GlobSet(
        any_of=path_expression((one for _, group in parsed for one in group), dialect=dialect),
        each=tuple((glob, path_expression(group, dialect=dialect)) for glob, group in parsed),
    )


def _glob_text(key: Key, *, dialect: PathDialect) -> str:
    return slashed(dialect.assemble(key), dialect=dialect)


def _protected_rules(bound: BoundPolicy) -> tuple[RuleId, ...]:
    return bound.protected_rules or tuple(
        RuleId(source="built-in", pointer=f"protected-names/{name}") for name in bound.protected_names
    )
