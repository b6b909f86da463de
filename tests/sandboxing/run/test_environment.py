"""A command's environment is the caller's, as far as the policy lets it through."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sandboxing.binding.bound import BoundPolicy, FilesystemKind, NetworkMode
from sandboxing.policyfile.settings import DEFAULT_EXCLUDE, EnvironmentRules, TmpPlacement
from sandboxing.profile.rule_id import RuleId
from sandboxing.run.environment import NETWORK_MARKER, command_environment

_CALLER = {
    "PATH": "/bin",
    "HOME": "/home/me",
    "TMPDIR": "/var/tmp/me",
    "EDITOR": "vi",
    "AWS_SECRET_ACCESS_KEY": "s",
    "github_token": "t",
    "SSH_AUTH_SOCK": "/run/agent",
}
_POLICY = BoundPolicy(
    name="p",
    filesystem=FilesystemKind.RESTRICTED,
    rules=(),
    network=NetworkMode.ENABLED,
    network_rule=RuleId(source="p", pointer="/network"),
    cwd="/w",
    workspace_roots=(),
)


def _with(rules: EnvironmentRules, **changes: object) -> dict[str, str]:
    return command_environment(replace(_POLICY, environment=rules, **changes), _CALLER)  # type: ignore[arg-type]


def test_the_default_exclusions_keep_secrets_and_agents_out() -> None:
    kept = _with(EnvironmentRules(exclude=DEFAULT_EXCLUDE))
    assert set(kept) == {"PATH", "HOME", "TMPDIR", "EDITOR"}


@pytest.mark.parametrize(
    ("inherit", "expected"), [("all", set(_CALLER)), ("core", {"PATH", "HOME", "TMPDIR"}), ("none", set())]
)
def test_what_is_inherited(inherit: str, expected: set[str]) -> None:
    assert set(_with(EnvironmentRules(inherit=inherit))) == expected


def test_what_is_set_comes_last_and_passes_every_filter() -> None:
    rules = EnvironmentRules(inherit="none", exclude=("*",), set=(("API_KEY", "given"),))
    assert _with(rules) == {"API_KEY": "given"}


def test_only_what_is_included_stays() -> None:
    assert set(_with(EnvironmentRules(include_only=("p?th", "EDIT*")))) == {"PATH", "EDITOR"}


def test_a_private_tmp_is_the_commands_tmpdir() -> None:
    assert _with(EnvironmentRules(), tmp=TmpPlacement.PRIVATE)["TMPDIR"] == "/tmp"


def test_a_restricted_network_is_marked() -> None:
    assert _with(EnvironmentRules(), network=NetworkMode.RESTRICTED)[NETWORK_MARKER] == "1"
    assert NETWORK_MARKER not in _with(EnvironmentRules())
