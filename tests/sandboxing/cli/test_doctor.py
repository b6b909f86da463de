"""`sandboxctl doctor`: what it says of hosts that work and of hosts that do not."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from click.testing import CliRunner, Result

from sandboxing.cli.commands import sandboxctl
from sandboxing.contract.capabilities import Feature
from sandboxing.contract.outcome import WALL_LIMIT, Exit
from sandboxing.errors import LaunchFailed, LaunchFailure, SetupFailed
from sandboxing.run.machine import Machine
from tests.fakes.confining_host import CAPABILITIES, FakeHost, bare_machine, linux_machine


def run(machine: Machine, *arguments: str) -> Result:
    return CliRunner().invoke(sandboxctl, ["doctor", *arguments], obj=machine)


def without(name: str) -> FakeHost:
    """A host that lacks one feature and knows the cure."""

    def changed(feature: Feature) -> Feature:
        if feature.name != name:
            return feature
        return replace(feature, available=False, detail="switched off", cure="switch it on")

    return FakeHost(capabilities=replace(CAPABILITIES, features=tuple(map(changed, CAPABILITIES.features))))


def test_a_host_that_works_is_tried_with_a_whole_sandbox() -> None:
    host = FakeHost()
    result = run(linux_machine(host))
    assert result.exit_code == 0
    assert [command.argv for command in host.ran] == [("true",)]
    assert "a sandbox works here" in result.stdout


def test_every_feature_is_listed_with_what_was_found() -> None:
    text = run(linux_machine()).stdout
    for feature in CAPABILITIES.features:
        assert f"  ok       {feature.name:<16} {feature.detail}" in text


def test_a_missing_required_feature_is_told_with_its_cure_and_fails() -> None:
    host = without("user-namespaces")
    result = run(linux_machine(host))
    assert result.exit_code == 1
    assert "  missing  user-namespaces  switched off\n           cure: switch it on\n" in result.stdout
    assert host.ran == []


def test_a_missing_hardening_does_not_fail() -> None:
    result = run(linux_machine(without("landlock")))
    assert result.exit_code == 0
    assert "  missing  landlock" in result.stdout


def test_a_caller_who_is_not_root_lacks_nothing() -> None:
    caller = Feature("root-caller", CAPABILITIES.features[-1].need, available=False, detail="uid 1000")
    host = FakeHost(capabilities=replace(CAPABILITIES, features=(*CAPABILITIES.features, caller)))
    result = run(linux_machine(host))
    assert "missing" not in result.stdout
    assert "uid 1000" in result.stdout


def test_a_refused_step_is_told_with_the_hosts_cure() -> None:
    failure = SetupFailed("cannot apply `unshare`: operation not permitted", step="unshare", errno=1)
    result = run(linux_machine(FakeHost(failure=failure, cure="allow namespaces")))
    assert result.exit_code == 1
    assert "no sandbox works here: cannot apply `unshare`: operation not permitted" in result.stdout
    assert "  step  unshare\n  cure  allow namespaces\n" in result.stdout


@pytest.mark.parametrize(
    ("host", "step"),
    [
        (FakeHost(exit=Exit(code=3), stderr=b"true: bad\n"), "run"),
        (FakeHost(exit=Exit(code=None, signal=9, limit=WALL_LIMIT)), "run"),
        (
            FakeHost(failure=LaunchFailed("cannot start `exec`", failure=LaunchFailure.NOT_FOUND, errno=2)),
            "launch-failed",
        ),
        (FakeHost(failure=OSError(11, "Resource temporarily unavailable")), "spawn"),
    ],
)
def test_whatever_keeps_the_command_from_running_is_a_failed_step(host: FakeHost, step: str) -> None:
    result = run(linux_machine(host), "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["trial"]["step"] == step


def test_without_a_backend_it_says_what_to_do() -> None:
    result = run(bare_machine())
    assert result.exit_code == 1
    assert "cannot confine `a command`" in result.stdout
    assert "  cure  use another" in result.stdout


@pytest.mark.parametrize("machine", [linux_machine(), bare_machine()])
def test_json_has_its_documented_members(machine: Machine) -> None:
    told: dict[str, Any] = json.loads(run(machine, "--json").stdout)
    assert list(told) == ["version", "works", "backend", "host", "features", "trial", "versions"]
    assert {"sandboxctl", "python", "kernel"} <= told["versions"].keys()
