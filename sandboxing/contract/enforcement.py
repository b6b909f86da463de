"""Want, can, got: what a policy demands, what this host can hold, what a plan really enforces.

Three types that stay three types. Planners fill them, `explain` and reports print them; nothing here
decides anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from sandboxing.profile.access import AccessMode
from sandboxing.profile.rule_id import RuleId


class Hold(StrEnum):
    """How well one demand is held."""

    ENFORCED = "enforced"
    CAVEAT = "enforced-with-caveat"
    REFUSED = "refused"
    NOT_APPLICABLE = "not-applicable"


@dataclass(frozen=True, slots=True)
class Caveat:
    """A named gap between what a rule says and what holds.

    Attributes:
        code: stable name, usable with `degrade`.
        text: one sentence for people.
    """

    code: str
    text: str


@dataclass(frozen=True, slots=True)
class RuleEnforcement:
    """What became of one rule.

    Attributes:
        rule: the rule.
        access: what the rule gives.
        bound_to: the native path or other object that the rule binds to here.
        hold: how well it is held.
        mechanisms: what holds it, outermost first, such as `read-only mount` and `landlock`.
        caveats: the gaps, none when `hold` is ENFORCED.
    """

    rule: RuleId
    access: AccessMode
    bound_to: str
    hold: Hold
    mechanisms: tuple[str, ...] = ()
    caveats: tuple[Caveat, ...] = ()


@dataclass(frozen=True, slots=True)
class Enforcement:
    """What a plan enforces, rule by rule.

    Attributes:
        backend: the backend's name, such as `linux-namespaces`.
        rules: one row per bound rule and for the network switch.
        caveats: gaps that belong to no single rule.
        hardening: locks that nobody asked for and that are on.
        missing_hardening: locks that nobody asked for and that this host does not offer.
    """

    backend: str
    rules: tuple[RuleEnforcement, ...]
    caveats: tuple[Caveat, ...] = ()
    hardening: tuple[str, ...] = ()
    missing_hardening: tuple[Caveat, ...] = ()

    @property
    def refused(self) -> tuple[RuleEnforcement, ...]:
        """The demands that cannot be held; a run must not start while there are any."""
        return tuple(row for row in self.rules if row.hold is Hold.REFUSED)
