"""Scenario: a policy, a victim program and the answers it has to get, without and with the sandbox.

The run without the sandbox proves that a refusal is the sandbox's: every answer has its counterpart there. It
holds no expectations of its own; those stand in `platform_tests/scenarios`.
"""

import sys

assert sys.platform == "linux"

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from platform_tests.support.ground import Ground
from platform_tests.support.sandboxctl import Run, run_as, run_sandboxctl

Answers = Mapping[str, str]
"""What each operation of a victim met: `ok`, the name of an errno, or a value."""

_NONE: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one operation has to meet.

    Attributes:
        inside: in the sandbox.
        outside: without it.
        inside_ordinary: in the sandbox for everybody but root, when that differs.
        outside_ordinary: without it for everybody but root, when that differs.
    """

    inside: str
    outside: str = "ok"
    inside_ordinary: str | None = None
    outside_ordinary: str | None = None

    def within(self, *, root: bool) -> str:
        """The answer in the sandbox."""
        return self.inside if root or self.inside_ordinary is None else self.inside_ordinary

    def without(self, *, root: bool) -> str:
        """The answer outside."""
        return self.outside if root or self.outside_ordinary is None else self.outside_ordinary


WORKS = Verdict("ok")
"""Allowed on both sides."""


def all_of(names: str, verdict: Verdict) -> dict[str, Verdict]:
    """The same verdict for several operations, named in one text."""
    return dict.fromkeys(names.split(), verdict)


@dataclass(frozen=True, slots=True)
class Scenario:
    """One capability.

    Attributes:
        name: the test's id.
        victim: the module of the victim program.
        verdicts: by operation.
        policy: a shipped name, or a document whose `{ground}` is replaced.
        arguments: for the victim; `{ground}` is replaced.
        files: made before, text by path relative to the ground.
        folders: made before.
        links: made before, target by path.
    """

    name: str
    victim: str
    verdicts: Mapping[str, Verdict]
    policy: str | Mapping[str, Any] = "workspace-write"
    arguments: Mapping[str, str] = field(default_factory=lambda: _NONE)
    files: Mapping[str, str] = field(default_factory=lambda: _NONE)
    folders: tuple[str, ...] = ()
    links: Mapping[str, str] = field(default_factory=lambda: _NONE)

    def lay(self, ground: Ground) -> None:
        """Make what the scenario is about."""
        for relative in self.folders:
            ground.folder(relative)
        for relative, text in self.files.items():
            ground.file(relative, text)
        for relative, target in self.links.items():
            ground.link(relative, target.replace("{ground}", ground.path))

    def policy_in(self, ground: Ground) -> str:
        """The policy as an option's value."""
        return self.policy if isinstance(self.policy, str) else ground.policy(self.policy)

    def command(self, ground: Ground) -> tuple[str, ...]:
        """How the victim is started."""
        arguments = {name: value.replace("{ground}", ground.path) for name, value in self.arguments.items()}
        return ground.victim(self.victim, arguments)

    def expected_inside(self, ground: Ground) -> Answers:
        """What the victim has to answer in the sandbox."""
        return {name: one.within(root=ground.identity.is_root) for name, one in self.verdicts.items()}

    def expected_outside(self, ground: Ground) -> Answers:
        """What the victim has to answer without it."""
        return {name: one.without(root=ground.identity.is_root) for name, one in self.verdicts.items()}


def answers_of(run: Run) -> Any:  # noqa: ANN401 - JSON
    """What a victim printed.

    Raises:
        AssertionError: it did not come to its end.
    """
    assert run.code == 0, (run.code, run.stdout, run.stderr)
    return json.loads(run.stdout)


def play_outside(scenario: Scenario, ground: Ground) -> Any:  # noqa: ANN401 - JSON
    """The answers without a sandbox."""
    scenario.lay(ground)
    return answers_of(run_as(ground, scenario.command(ground)))


def play_inside(scenario: Scenario, ground: Ground) -> Any:  # noqa: ANN401 - JSON
    """The answers in the sandbox."""
    scenario.lay(ground)
    return answers_of(run_sandboxctl(ground, scenario.command(ground), policy=scenario.policy_in(ground)))
