"""Scenarios under a plan with a fault in it, to see whether they would notice.

It goes the way of the Python API with the real backend, and changes nothing but the plan.
"""

import sys

assert sys.platform == "linux"

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from platform_tests.support.ground import Ground
from platform_tests.support.scenario import Scenario
from sandboxing.backends.linux.steps import LinuxPlan, encode_plan
from sandboxing.contract.launch import Command
from sandboxing.run import hostfacts, registry
from sandboxing.run.flow import prepare_document
from sandboxing.run.host import Bounds
from sandboxing.run.policies import find_document

Alteration = Callable[[LinuxPlan], LinuxPlan]

_KEPT_BYTES = 1 << 20
_LIMIT_S = 20.0


def unaltered(plan: LinuxPlan) -> LinuxPlan:
    """No fault at all."""
    return plan


def play_altered(scenario: Scenario, ground: Ground, alter: Alteration) -> Any:  # noqa: ANN401 - JSON
    """The answers of a scenario's victim under an altered plan.

    Raises:
        SetupFailed: with this plan no sandbox comes to stand.
        AssertionError: the victim did not come to its end.
    """
    scenario.lay(ground)
    host = registry.confining_host()
    environment = ground.environment()
    prepared = prepare_document(
        find_document(scenario.policy_in(ground)),
        backend=host,
        facts=hostfacts.gather(environment, cwd=ground.workspace),
        view=hostfacts.HostFileSystem(),
        workspace_roots=(ground.workspace,),
    )
    plan = prepared.planned.plan
    assert isinstance(plan, LinuxPlan)
    altered = alter(plan)
    assert (altered == plan) == (alter is unaltered), "the fault has to be in the plan"
    command = Command(
        argv=scenario.command(ground), cwd=ground.workspace, env=prepared.environment(environment)
    )
    spec = replace(prepared.planned.launch, steps=encode_plan(altered), digest="altered")
    captured = host.run_captured(
        spec, command, stdin=b"", keep=_KEPT_BYTES, bounds=Bounds(timeout_s=_LIMIT_S)
    )
    assert captured.exit.shell_code == 0, captured.stderr
    return json.loads(captured.stdout)
