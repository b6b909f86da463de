"""Equal policies are planned once, and the memory is bounded."""

from __future__ import annotations

from dataclasses import replace

from sandboxing.binding.bound import BoundPolicy, FilesystemKind, NetworkMode
from sandboxing.contract.backend import Planned
from sandboxing.contract.capabilities import Capabilities
from sandboxing.contract.enforcement import Enforcement
from sandboxing.contract.launch import LaunchSpec
from sandboxing.profile.rule_id import RuleId
from sandboxing.run.remembering import REMEMBERED_PLANS, RememberingPlanner

_POLICY = BoundPolicy(
    name="p",
    filesystem=FilesystemKind.RESTRICTED,
    rules=(),
    network=NetworkMode.RESTRICTED,
    network_rule=RuleId(source="p", pointer="/network"),
    cwd="/w",
    workspace_roots=("/w",),
)


class _Lines:
    def lines(self) -> tuple[str, ...]:
        return ()


class _CountingPlanner:
    def __init__(self) -> None:
        self.probes = 0
        self.planned: list[str] = []

    def probe(self) -> Capabilities:
        self.probes += 1
        return Capabilities(backend="fake", host="fake", features=())

    def plan(self, bound: BoundPolicy, capabilities: Capabilities) -> Planned:
        self.planned.append(bound.name)
        return Planned(
            plan=_Lines(),
            enforcement=Enforcement(backend=capabilities.backend, rules=()),
            launch=LaunchSpec(backend="fake", digest=bound.name, steps=b"", sandbox_type="none"),
        )


def _plan(planner: RememberingPlanner, bound: BoundPolicy) -> str:
    return planner.plan(bound, planner.probe()).launch.digest


def test_equal_policies_are_planned_once_and_the_host_is_asked_once() -> None:
    counting = _CountingPlanner()
    planner = RememberingPlanner(counting)
    assert [_plan(planner, replace(_POLICY)) for _ in range(3)] == ["p", "p", "p"]
    assert counting.planned == ["p"]
    assert counting.probes == 1


def test_any_difference_in_the_bound_policy_is_planned_anew() -> None:
    counting = _CountingPlanner()
    planner = RememberingPlanner(counting)
    _plan(planner, _POLICY)
    _plan(planner, replace(_POLICY, network=NetworkMode.ENABLED))
    _plan(planner, replace(_POLICY, workspace_roots=("/v",)))
    assert len(counting.planned) == 3


def test_the_least_recently_used_plan_is_forgotten_first() -> None:
    counting = _CountingPlanner()
    planner = RememberingPlanner(counting)
    for number in range(REMEMBERED_PLANS):
        _plan(planner, replace(_POLICY, name=f"p{number}"))
    _plan(planner, replace(_POLICY, name="p0"))
    _plan(planner, replace(_POLICY, name="one more"))
    counting.planned.clear()
    _plan(planner, replace(_POLICY, name="p0"))
    _plan(planner, replace(_POLICY, name="p1"))
    assert counting.planned == ["p1"]
