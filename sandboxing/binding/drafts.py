"""From entries to drafts: every place that a policy names, still as spelled, and what has no effect here.

It does not look at the file system. `bind` resolves drafts into rules.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sandboxing.binding.bound import BoundGlob, RuleOrigin, Tier, UnboundRule
from sandboxing.binding.symbols import Scope, places_of
from sandboxing.policyfile.settings import TmpPlacement
from sandboxing.profile.access import AccessMode
from sandboxing.profile.entries import Entry, SpecialKind, SpecialLocation
from sandboxing.profile.rule_id import RuleId

_TMP_SYMBOLS = frozenset({SpecialKind.SLASH_TMP, SpecialKind.TMPDIR})


@dataclass(frozen=True, slots=True)
class Draft:
    """One rule at one place, links not resolved yet; the fields are those of BoundRule."""

    rule: RuleId
    access: AccessMode
    spelled: str
    origin: RuleOrigin
    tier: Tier
    skip_missing: bool


@dataclass(frozen=True, slots=True)
class Drafts:
    """All that some entries stand for.

    Attributes:
        rules: one for each place.
        globs: deny globs, absolute, as spelled.
        unbound: entries without an effect here.
    """

    rules: tuple[Draft, ...] = ()
    globs: tuple[BoundGlob, ...] = ()
    unbound: tuple[UnboundRule, ...] = ()

    def __add__(self, other: Drafts) -> Drafts:
        return Drafts(
            rules=self.rules + other.rules,
            globs=self.globs + other.globs,
            unbound=self.unbound + other.unbound,
        )


def draft_entries(
    entries: Iterable[tuple[Entry, RuleId]], scope: Scope, *, tier: Tier, tmp: TmpPlacement
) -> Drafts:
    """What entries stand for, in their order.

    With a private `/tmp` a grant of a temporary directory means that one, for which there is a rule already.

    Raises:
        BindError: a path that this machine cannot spell, or a glob that cannot be made absolute.
    """
    rules: list[Draft] = []
    globs: list[BoundGlob] = []
    unbound: list[UnboundRule] = []
    for entry, rule in entries:
        if tmp is TmpPlacement.PRIVATE and _grants_tmp(entry):
            continue
        places = places_of(entry, scope)
        if places.reason is not None:
            unbound.append(UnboundRule(rule=rule, reason=places.reason))
        globs.extend(BoundGlob(rule=rule, pattern=pattern, tier=tier) for pattern in places.patterns)
        platform = scope.facts.platform_read_roots if places.platform else ()
        rules.extend(
            Draft(
                rule=rule,
                access=AccessMode.READ if places.platform else entry.access,
                spelled=path,
                origin=RuleOrigin.PLATFORM_DEFAULT if places.platform else RuleOrigin.ENTRY,
                tier=tier,
                skip_missing=entry.missing_path_behavior is not None,
            )
            for path in places.paths + platform
        )
    return Drafts(rules=tuple(rules), globs=tuple(globs), unbound=tuple(unbound))


def _grants_tmp(entry: Entry) -> bool:
    if entry.access is AccessMode.DENY or not isinstance(entry.path, SpecialLocation):
        return False
    return entry.path.value.kind in _TMP_SYMBOLS
