"""One access to one path: the oracle's answer, the rule behind it, and what would hold it on this machine.

It judges nothing itself; the answer is the one that a run would get. `explain --path` prints it.
"""

from __future__ import annotations

from dataclasses import dataclass

from sandboxing.backends.linux.simulate import PlanView
from sandboxing.backends.linux.steps import LinuxPlan
from sandboxing.binding.bound import RuleOrigin
from sandboxing.binding.decide import Decision, DecisionIndex
from sandboxing.contract.backend import Planned
from sandboxing.paths.native import PathDialect
from sandboxing.profile.access import Access, AccessMode
from sandboxing.profile.rule_id import RuleId
from sandboxing.run.explain import ExplainedRule, Explanation
from sandboxing.run.machine import Machine


@dataclass(frozen=True, slots=True)
class Answer:
    """One access to one path.

    Attributes:
        given: the path as asked.
        resolved: where it leads, which is what was judged.
        access: what was asked.
        decision: the oracle's answer.
        deciding: the deciding rule with what holds it; None when no rule covers the path.
        losing: the other rules that cover the path, strongest first.
        inside: what the plan itself gives at the path; None without a plan.
        own: whether the sandbox shows something of its own there, whatever the host has.
    """

    given: str
    resolved: str
    access: Access
    decision: Decision
    deciding: ExplainedRule | None
    losing: tuple[ExplainedRule, ...]
    inside: AccessMode | None
    own: bool


def answer(explanation: Explanation, machine: Machine, path: str, access: Access) -> Answer:
    """What the policy says about one access; a relative path is read from the caller's directory.

    Raises:
        BindError: links in a circle.
        PathError: the path cannot be made absolute.
    """
    resolved = machine.resolve(path)
    decision = DecisionIndex(explanation.bound).decide(access, resolved)
    inside = _inside(explanation, resolved)
    deciding = None if decision.rule is None else _at(explanation, decision.rule, resolved)
    private_tmp = deciding is not None and deciding.origin is RuleOrigin.PRIVATE_TMP
    return Answer(
        given=path,
        resolved=resolved,
        access=access,
        decision=decision,
        deciding=deciding,
        losing=tuple(_at(explanation, rule, resolved) for rule in decision.losers),
        inside=inside,
        own=private_tmp or (inside is None and _is_linux_plan(explanation.planned)),
    )


def _is_linux_plan(planned: Planned | None) -> bool:
    return planned is not None and isinstance(planned.plan, LinuxPlan)


def _inside(explanation: Explanation, path: str) -> AccessMode | None:
    """What the plan gives, read from its steps alone."""
    planned = explanation.planned
    if planned is None or not isinstance(planned.plan, LinuxPlan):
        return None
    return PlanView(planned.plan).mode(path)


def _at(explanation: Explanation, rule: RuleId, path: str) -> ExplainedRule:
    """The row of a rule that covers the path: the deepest place, else its pattern."""
    dialect = explanation.bound.dialect
    rows = [row for row in (*explanation.filesystem, *explanation.protected) if row.rule == rule]
    covering = [row for row in rows if _covers(row, path, dialect)]
    if covering:
        return max(covering, key=lambda row: dialect.depth(row.bound_to or path))
    pattern = next((row for row in rows if row.bound_to is not None and row.kind is None), None)
    return pattern or ExplainedRule(rule=rule, access=AccessMode.DENY, written=rule.pointer, bound_to=None)


def _covers(row: ExplainedRule, path: str, dialect: PathDialect) -> bool:
    """Whether the row is about a place at or above the path, by the name it leads to or the one it has."""
    if row.bound_to is None or row.kind is None:
        return False
    return dialect.is_within(path, row.bound_to) or (
        row.spelled is not None and dialect.is_within(path, row.spelled)
    )
