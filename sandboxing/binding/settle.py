"""From drafts to rules: links resolved, `/tmp` kept private, and no grant widened by a link of the command's.

It looks at the file system through a LinkResolver only. `bind` calls it once for all entries of a policy.

A link inside a workspace or below a writable rule may have been put there by the very code that the policy
is to hold. A narrowing rule is free to follow such a link; a grant follows it only to what the other rules
give anyway.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Final

from sandboxing.binding.bound import (
    BoundPolicy,
    BoundRule,
    Link,
    PathKind,
    RuleOrigin,
    Tier,
    UnboundRule,
)
from sandboxing.binding.decide import DecisionIndex
from sandboxing.binding.drafts import Draft
from sandboxing.binding.facts import LinkResolver
from sandboxing.errors import BindError
from sandboxing.paths.native import PathDialect
from sandboxing.profile.access import Access, AccessMode
from sandboxing.profile.rule_id import RuleId

PRIVATE_TMP: Final = "/tmp"
"""Where a private temporary directory stands inside."""

PRIVATE_TMP_RULE: Final = RuleId(source="built-in", pointer="tmp")
"""The origin of the rule that makes it writable."""


@dataclass(frozen=True, slots=True)
class Settled:
    """Rules, and those that turned out to have no effect."""

    rules: tuple[BoundRule, ...]
    unbound: tuple[UnboundRule, ...] = ()


def settle(drafts: Iterable[Draft], resolver: LinkResolver) -> Settled:
    """Each draft at the place it leads to; platform defaults that do not exist are left out.

    Raises:
        BindError: a path crosses too many links. An entry that may be skipped is skipped instead.
    """
    rules: list[BoundRule] = []
    unbound: list[UnboundRule] = []
    for draft in drafts:
        try:
            found = resolver.resolve(draft.spelled)
        except BindError as refusal:
            if not draft.skip_missing:
                raise
            unbound.append(UnboundRule(rule=draft.rule, reason=refusal.message))
            continue
        if found.kind is PathKind.MISSING and draft.origin is RuleOrigin.PLATFORM_DEFAULT:
            continue
        rules.append(
            BoundRule(
                rule=draft.rule,
                access=draft.access,
                path=found.path,
                spelled=draft.spelled,
                kind=found.kind,
                origin=draft.origin,
                tier=draft.tier,
                links=found.links,
                skip_missing=draft.skip_missing,
            )
        )
    return Settled(rules=tuple(rules), unbound=tuple(unbound))


def keep_tmp_private(rules: Iterable[BoundRule], resolver: LinkResolver, *, dialect: PathDialect) -> Settled:
    """The rules beside a private `/tmp`, with the rule that grants it.

    Host paths below `/tmp` that exist stay bound and are more specific; grants of `/tmp` itself and paths
    that do not exist have nothing to name any more.
    """
    if dialect is not PathDialect.POSIX:
        reason = "this system has no `/tmp` that could be private"
        return Settled(rules=tuple(rules), unbound=(UnboundRule(rule=PRIVATE_TMP_RULE, reason=reason),))
    found = resolver.resolve(PRIVATE_TMP)
    tmp = BoundRule(
        rule=PRIVATE_TMP_RULE,
        access=AccessMode.WRITE,
        path=found.path,
        spelled=PRIVATE_TMP,
        kind=PathKind.DIRECTORY,
        origin=RuleOrigin.PRIVATE_TMP,
        links=found.links,
    )
    kept = [tmp]
    unbound: list[UnboundRule] = []
    for rule in rules:
        if dialect.same(rule.path, tmp.path) and rule.access is not AccessMode.DENY:
            reason = "`/tmp` is the command's own here, not the host's"
            unbound.append(UnboundRule(rule=rule.rule, reason=reason))
        elif rule.kind is PathKind.MISSING and _below(rule.path, tmp.path, dialect):
            reason = f"`{rule.spelled}` does not exist, and `/tmp` is the command's own"
            unbound.append(UnboundRule(rule=rule.rule, reason=reason))
        else:
            kept.append(rule)
    return Settled(rules=tuple(kept), unbound=tuple(unbound))


def refuse_widening(
    rules: Iterable[BoundRule], *, workspaces: Iterable[str], trusted: Iterable[Link], policy: BoundPolicy
) -> Settled:
    """The rules without grants that reach through a link of the command's to what nothing else grants.

    Args:
        rules: all rules of entries.
        workspaces: the workspace roots and the policy cwd, links resolved.
        trusted: the links on the way to those, which the caller chose by naming them.
        policy: the policy without rules, for the oracle.

    Raises:
        BindError: a read-only rule would have to hold such a link in place, because what it leads to may
            not be read.
    """
    listed = tuple(rules)
    suspect = _suspects(listed, workspaces=workspaces, trusted=trusted, dialect=policy.dialect)
    doubtful = {id(rule): link for rule in listed if (link := suspect(rule)) is not None}
    if not doubtful:
        return Settled(rules=listed)
    index = DecisionIndex(replace(policy, rules=tuple(rule for rule in listed if id(rule) not in doubtful)))
    kept: list[BoundRule] = []
    unbound: list[UnboundRule] = []
    for rule in listed:
        link = doubtful.get(id(rule))
        if link is None or _given_anyway(rule, index):
            kept.append(rule)
            continue
        held_by_itself = not index.decide(Access.WRITE, link.path).allowed
        if rule.access.can_write or rule.skip_missing or held_by_itself:
            reason = f"the link `{link.path}` leads to `{rule.path}`, and it may be the command's own"
            unbound.append(UnboundRule(rule=rule.rule, reason=reason))
            continue
        raise BindError(
            f"cannot bind `{rule.spelled}`: the command could exchange the link `{link.path}`",
            hint=f"write a rule for `{rule.path}` itself",
        )
    return Settled(rules=tuple(kept), unbound=tuple(unbound))


def _given_anyway(rule: BoundRule, index: DecisionIndex) -> bool:
    """Whether the other rules give no less at the place; what a private `/tmp` hides, nothing gives."""
    given = index.decide(Access.READ, rule.path)
    if given.rule == PRIVATE_TMP_RULE:
        return False
    return given.mode is AccessMode.WRITE or given.mode is rule.access


def _suspects(
    rules: tuple[BoundRule, ...],
    *,
    workspaces: Iterable[str],
    trusted: Iterable[Link],
    dialect: PathDialect,
) -> Callable[[BoundRule], Link | None]:
    """The first link on the way of a grant that the command may have made, if there is one."""
    written = (rule.path for rule in rules if rule.access.can_write)
    zones = {dialect.key(place) for place in (*workspaces, *written)}
    chosen = {dialect.key(link.path) for link in trusted}

    def suspect(rule: BoundRule) -> Link | None:
        if rule.tier is Tier.SEALED or not rule.access.can_read or rule.origin is not RuleOrigin.ENTRY:
            return None
        for link in rule.links:
            key = dialect.key(link.path)
            if key not in chosen and any(key[:count] in zones for count in range(1, len(key))):
                return link
        return None

    return suspect


def _below(path: str, root: str, dialect: PathDialect) -> bool:
    return dialect.is_within(path, root) and not dialect.same(path, root)
