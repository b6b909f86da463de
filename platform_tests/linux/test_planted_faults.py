"""A fault in a plan does not stay hidden: when a kind of step is left out, a scenario answers otherwise."""

import sys

assert sys.platform == "linux"

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest

from platform_tests.scenarios import masks, places, protected, system_calls, writing
from platform_tests.support.altered import Alteration, play_altered, unaltered
from platform_tests.support.ground import Ground, ground_for
from platform_tests.support.identity import own_identity
from platform_tests.support.scenario import Scenario
from sandboxing.backends.linux import steps
from sandboxing.backends.linux.steps import LinuxPlan, Namespace, Step, Writability
from sandboxing.errors import SetupFailed

STATUS = Scenario(name="status", victim="status", verdicts={})


def own_ground() -> Iterator[Ground]:
    with ground_for(own_identity()) as ground:
        yield ground


ground = pytest.fixture(own_ground)


def without(*kinds: type[Step], path: str | None = None) -> Alteration:
    """Leave out steps of these kinds, or those of them that are about a path."""

    def alter(plan: LinuxPlan) -> LinuxPlan:
        def goes(step: Step) -> bool:
            return isinstance(step, kinds) and (path is None or getattr(step, "path", "").endswith(path))

        return replace(plan, steps=tuple(step for step in plan.steps if not goes(step)))

    return alter


def without_pins(plan: LinuxPlan) -> LinuxPlan:
    kept = (step for step in plan.steps if not (isinstance(step, steps.Bind) and step.rule == "pin"))
    return replace(plan, steps=tuple(kept))


def with_writable_root(plan: LinuxPlan) -> LinuxPlan:
    changed = (
        replace(step, writability=Writability.WRITABLE) if isinstance(step, steps.HostRoot) else step
        for step in plan.steps
    )
    return replace(plan, steps=tuple(changed))


def with_writable_binds(plan: LinuxPlan) -> LinuxPlan:
    changed = (
        replace(step, writability=Writability.WRITABLE) if isinstance(step, steps.Bind) else step
        for step in plan.steps
    )
    return replace(plan, steps=tuple(changed))


def outside_of(namespace: Namespace) -> Alteration:
    """Stay in the host's namespace of a kind."""

    def alter(plan: LinuxPlan) -> LinuxPlan:
        kept = tuple(one for one in plan.namespaces if one is not namespace)
        return replace(plan, namespaces=kept)

    return alter


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault, and what of a scenario it changes.

    Attributes:
        name: the test's id.
        scenario: the scenario that has to notice.
        alter: the fault.
        noticed: an operation whose answer is another one.
        answer: that answer.
    """

    name: str
    scenario: Scenario
    alter: Alteration
    noticed: str
    answer: str


FAULTS = (
    Fault("no-mask-on-a-file", masks.IN_WORKSPACE, without(steps.Mask, path="/secret"), "read", "ok"),
    Fault(
        "no-mask-on-a-folder",
        masks.IN_WORKSPACE,
        without(steps.Mask, path="/vault"),
        "read-in-folder",
        "ok",
    ),
    Fault("no-pin", masks.IN_WORKSPACE, without_pins, "rename-parent", "ok"),
    Fault("no-mask-on-a-match", masks.GLOB, without(steps.Mask, path="b.pem"), "deep", "ok"),
    Fault("no-mask-on-secrets", masks.HOME_SECRETS, without(steps.Mask, path="/.ssh"), "ssh-key", "ok"),
    Fault(
        "no-bind-on-a-protected-name",
        protected.SCENARIOS[0],
        without(steps.Bind, path="/.git"),
        "rename-folder",
        "ok",
    ),
    Fault(
        "writable-bind-on-a-protected-name", protected.SCENARIOS[0], with_writable_binds, "chmod-folder", "ok"
    ),
    Fault("no-writable-workspace", writing.WORKSPACE, without(steps.Bind, path="/ws"), "create", "EROFS"),
    Fault("writable-root", writing.OUTSIDE, with_writable_root, "chmod", "ok"),
    Fault(
        "no-filter",
        system_calls.SOCKETS,
        without(steps.Seccomp),
        "unix-datagram",
        "ok",
    ),
)


@pytest.mark.parametrize("fault", FAULTS, ids=[fault.name for fault in FAULTS])
def test_a_scenario_notices(fault: Fault, ground: Ground) -> None:
    answers = play_altered(fault.scenario, ground, fault.alter)
    assert answers[fault.noticed] == fault.answer
    assert fault.scenario.expected_inside(ground)[fault.noticed] != fault.answer


def scenarios_with_faults() -> tuple[Scenario, ...]:
    return tuple({fault.scenario.name: fault.scenario for fault in FAULTS}.values())


@pytest.mark.parametrize("scenario", scenarios_with_faults(), ids=lambda one: one.name)
def test_without_a_fault_the_same_way_gives_the_right_answers(scenario: Scenario, ground: Ground) -> None:
    assert play_altered(scenario, ground, unaltered) == scenario.expected_inside(ground)


def test_kept_capabilities_are_noticed(ground: Ground) -> None:
    status = play_altered(STATUS, ground, without(steps.DropPrivileges))["status"]
    assert status["CapBnd"] != "0" * 16


def test_the_hosts_network_is_noticed(ground: Ground) -> None:
    def alter(plan: LinuxPlan) -> LinuxPlan:
        return without(steps.LoopbackUp)(outside_of(Namespace.NETWORK)(plan))

    assert play_altered(STATUS, ground, alter)["interfaces"] != ["lo"]


def test_without_devices_of_its_own_no_command_starts(ground: Ground) -> None:
    with pytest.raises(SetupFailed):
        play_altered(places.DEVICES, ground, without(steps.PrivateDevices))


def test_in_the_hosts_pid_namespace_nothing_comes_to_stand(ground: Ground) -> None:
    with pytest.raises(SetupFailed) as failure:
        play_altered(STATUS, ground, outside_of(Namespace.PID))
    assert failure.value.step.startswith("FreshProc")


def test_the_hosts_processes_are_noticed(ground: Ground) -> None:
    # left out together: without its own pid namespace a sandbox cannot have its own /proc either
    def alter(plan: LinuxPlan) -> LinuxPlan:
        return without(steps.FreshProc)(outside_of(Namespace.PID)(plan))

    assert play_altered(STATUS, ground, alter)["processes"] > 2


def test_the_hosts_tmp_is_noticed(ground: Ground) -> None:
    with tempfile.NamedTemporaryFile(dir="/tmp", prefix="sandboxctl-host-file-") as file:
        look = Scenario(name="tmp", victim="reading", verdicts={}, arguments={"file": file.name})
        assert play_altered(look, ground, unaltered) == {"file": "ENOENT"}
        assert play_altered(look, ground, without(steps.Tmpfs)) == {"file": "ok"}
