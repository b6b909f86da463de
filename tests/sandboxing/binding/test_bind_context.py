"""Wire contexts: which cwd counts, what a wire profile gets, and the texts that clients know."""

from __future__ import annotations

import pytest

from sandboxing.binding.bind import bind_context
from sandboxing.binding.bound import BoundPolicy
from sandboxing.binding.decide import decide
from sandboxing.errors import BindError
from sandboxing.policyfile.settings import TmpPlacement
from sandboxing.profile.access import Access
from sandboxing.profile.context import SandboxContext
from tests.fakes.filesystem import Directory
from tests.sandboxing.binding.subjects import FACTS, machine

Json = dict[str, object]

ROOTS: Json = {"type": "special", "value": {"kind": "project_roots"}}
ROOT: Json = {"type": "special", "value": {"kind": "root"}}
TMPDIR: Json = {"type": "special", "value": {"kind": "tmpdir"}}
RELATIVE: Json = {"type": "glob_pattern", "pattern": "*.key"}


def at(path: str) -> Json:
    return {"type": "path", "path": path}


def context(*entries: tuple[Json, str], **members: object) -> SandboxContext:
    file_system = {
        "type": "restricted",
        "entries": [{"path": path, "access": access} for path, access in entries],
    }
    permissions = {"type": "managed", "file_system": file_system, "network": "restricted"}
    return SandboxContext.model_validate(
        {"permissions": permissions, "windowsSandboxLevel": "disabled"} | members
    )


def bound(request: SandboxContext, *, command_cwd: str | None = "/cmd") -> BoundPolicy:
    view = machine({"/w/.git": Directory(), "/data": Directory()})
    return bind_context(request, facts=FACTS, view=view, command_cwd=command_cwd)


@pytest.mark.parametrize(
    ("members", "command_cwd", "expected"),
    [
        ({"policyContext": {"cwd": "file:///p"}, "cwd": "file:///flat"}, "/cmd", "/p"),
        ({"policyContext": {}, "cwd": "file:///flat"}, "/cmd", "/flat"),
        ({"cwd": "file:///flat"}, "/cmd", "/flat"),
        ({"cwd": "file:///flat"}, None, "/flat"),
        ({}, "/cmd", "/cmd"),
        ({}, None, "/srv"),
    ],
)
def test_the_policy_cwd_is_the_first_that_is_given(
    members: Json, command_cwd: str | None, expected: str
) -> None:
    assert bound(context((ROOT, "read"), **members), command_cwd=command_cwd).cwd == expected


@pytest.mark.parametrize("dynamic", [(ROOTS, "write"), (RELATIVE, "deny")])
def test_dynamic_permissions_of_a_file_request_need_a_cwd(dynamic: tuple[Json, str]) -> None:
    request = context(dynamic, workspaceRoots=["file:///w"])
    with pytest.raises(BindError) as refusal:
        bound(request, command_cwd=None)
    assert refusal.value.message == "file system sandbox context with dynamic permissions requires cwd"
    assert bound(request).cwd == "/cmd"


def test_without_workspace_roots_project_roots_grant_nothing() -> None:
    policy = bound(context((ROOTS, "write"), cwd="file:///w"))
    assert policy.rules == ()
    assert [one.reason for one in policy.unbound] == ["there is no workspace root"]


def test_the_policy_contexts_roots_win_even_when_empty() -> None:
    request = context((ROOTS, "write"), workspaceRoots=["file:///w"], policyContext={"cwd": "file:///w"})
    assert bound(request).workspace_roots == ()


def test_a_wire_profile_gets_the_references_protection_and_no_more() -> None:
    policy = bound(context((ROOTS, "write"), workspaceRoots=["file:///w"]))
    assert policy.protected_names == (".git", ".agents", ".codex", ".aws")
    assert policy.read_only_globs == ()
    assert policy.tmp is TmpPlacement.HOST
    assert not decide(policy, Access.WRITE, "/w/.git/config").allowed
    assert decide(policy, Access.WRITE, "/w/a/.git/hooks/x").allowed


@pytest.mark.parametrize(
    "uri", ["file:///C:/x", "file://server/share/x", "file:///a%00b", "file:///%00/bad/path/YQ"]
)
def test_a_foreign_path_is_refused_in_the_wires_words(uri: str) -> None:
    with pytest.raises(BindError) as refusal:
        bound(context((at(uri), "read")))
    assert refusal.value.message == f"invalid sandbox permission path: '{uri}' is invalid on 'linux'"


@pytest.mark.parametrize(
    "members",
    [{"cwd": "file:///C:/x"}, {"workspaceRoots": ["file:///C:/x"]}, {"userHomeDir": "file:///C:/x"}],
)
def test_every_foreign_place_is_refused(members: Json) -> None:
    with pytest.raises(BindError, match="'file:///C:/x' is invalid on 'linux'"):
        bound(context((ROOT, "read"), **members))


def test_rules_point_into_the_request() -> None:
    policy = bound(context((ROOT, "read"), (at("file:///data"), "write")))
    assert [str(rule.rule) for rule in policy.rules] == [
        "wire#/permissions/file_system/entries/0",
        "wire#/permissions/file_system/entries/1",
    ]
    assert str(policy.network_rule) == "wire#/permissions/network"


def test_the_contexts_home_wins_and_its_temporary_directories_widen_nothing() -> None:
    members: Json = {
        "userHomeDir": "file:///home/remote",
        "temporaryDirectories": ["file:///t1", "file:///t2"],
    }
    policy = bound(context((at("~/x"), "read"), (TMPDIR, "write"), **members))
    assert "/home/remote/x" in {rule.path for rule in policy.rules}
    assert not {"/t1", "/t2"} & {rule.path for rule in policy.rules}


def test_a_profile_without_entries_of_its_own_binds() -> None:
    request = SandboxContext.model_validate(
        {"permissions": {"type": "disabled"}, "windowsSandboxLevel": "disabled"}
    )
    assert decide(bound(request, command_cwd=None), Access.WRITE, "/any").allowed
