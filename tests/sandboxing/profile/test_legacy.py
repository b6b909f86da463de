"""The older SandboxPolicy: its words, its meaning as a profile, and the way back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from sandboxing.errors import PolicyError
from sandboxing.profile.access import AccessMode
from sandboxing.profile.entries import Entry, GlobLocation, PortablePath, SpecialKind, at_path, special
from sandboxing.profile.legacy import (
    DangerFullAccess,
    EnforcementPath,
    ExternalSandbox,
    LegacySandboxPolicy,
    ReadOnly,
    WorkspaceWrite,
    from_profile,
    needs_direct_enforcement,
    to_profile,
)
from sandboxing.profile.permission import (
    DisabledProfile,
    ExternalProfile,
    ManagedProfile,
    NetworkSwitch,
    PermissionProfile,
    RestrictedFileSystem,
    UnrestrictedFileSystem,
    encode_profile,
)
from sandboxing.profile.workspace import workspace_write_entries
from tests.sandboxing.profile.machine import Machine
from tests.strategies import network_switches, small_names

R, W, D = AccessMode.READ, AccessMode.WRITE, AccessMode.DENY
RESTRICTED, ENABLED = NetworkSwitch.RESTRICTED, NetworkSwitch.ENABLED
MACHINE = Machine()
ADAPTER: TypeAdapter[DangerFullAccess | ReadOnly | ExternalSandbox | WorkspaceWrite] = TypeAdapter(
    LegacySandboxPolicy
)

extra_roots = st.lists(
    small_names.map(lambda name: PortablePath.parse(f"/extra/{name}")), max_size=3, unique=True
).map(tuple)
legacy_policies = st.one_of(
    st.builds(DangerFullAccess),
    st.builds(ReadOnly, network_access=st.booleans()),
    st.builds(ExternalSandbox, network_access=network_switches),
    st.builds(
        WorkspaceWrite,
        writable_roots=extra_roots,
        network_access=st.booleans(),
        exclude_tmpdir_env_var=st.booleans(),
        exclude_slash_tmp=st.booleans(),
    ),
)


def at(path: str, access: AccessMode) -> Entry:
    return at_path(PortablePath.parse(path), access)


def managed(*entries: Entry, network: NetworkSwitch = RESTRICTED) -> ManagedProfile:
    return ManagedProfile(file_system=RestrictedFileSystem(entries=entries), network=network)


@given(legacy_policies)
def test_an_older_policy_survives_json(policy: LegacySandboxPolicy) -> None:
    assert ADAPTER.validate_json(ADAPTER.dump_json(policy)) == policy


def test_members_have_the_older_defaults() -> None:
    assert ADAPTER.validate_python({"type": "workspace-write"}) == WorkspaceWrite()
    assert ADAPTER.validate_python({"type": "read-only"}) == ReadOnly(network_access=False)
    assert ADAPTER.validate_python({"type": "external-sandbox"}) == ExternalSandbox(network_access=RESTRICTED)
    with pytest.raises(ValidationError):
        ADAPTER.validate_python({"type": "workspace_write"})


def test_workspace_write_means_what_the_reference_client_sends() -> None:
    assert encode_profile(to_profile(WorkspaceWrite()))["file_system"] == {
        "type": "restricted",
        "entries": [
            {"path": {"type": "special", "value": {"kind": "root"}}, "access": "read"},
            {"path": {"type": "special", "value": {"kind": "project_roots"}}, "access": "write"},
            {"path": {"type": "special", "value": {"kind": "slash_tmp"}}, "access": "write"},
            {"path": {"type": "special", "value": {"kind": "tmpdir"}}, "access": "write"},
            *(
                {
                    "path": {"type": "special", "value": {"kind": "project_roots", "subpath": name}},
                    "access": "read",
                    "missing_path_behavior": "skip",
                }
                for name in (".git", ".agents", ".codex", ".aws")
            ),
        ],
    }


def test_extra_roots_come_with_their_existing_children() -> None:
    policy = WorkspaceWrite(
        writable_roots=(PortablePath.parse("/x"),), exclude_slash_tmp=True, exclude_tmpdir_env_var=True
    )
    profile = to_profile(
        policy, protected_names=(), protected_children=lambda root: (PortablePath.parse(f"{root}/.git"),)
    )
    assert profile == managed(
        special(SpecialKind.ROOT, R), special(SpecialKind.PROJECT_ROOTS, W), at("/x", W), at("/x/.git", R)
    )


def test_a_target_that_the_caller_addresses_gets_no_carve_out() -> None:
    mine = special(SpecialKind.PROJECT_ROOTS, W, subpath=".git")
    expanded = workspace_write_entries(caller_entries=(mine,), protected_names=(".git", ".aws"))
    assert [entry.path for entry in expanded].count(mine.path) == 0
    assert len(expanded) == 5


@given(legacy_policies)
def test_an_older_policy_comes_back_from_its_profile(policy: LegacySandboxPolicy) -> None:
    profile = to_profile(policy)
    assert from_profile(profile, MACHINE) == policy
    assert needs_direct_enforcement(profile, MACHINE) is EnforcementPath.LEGACY


NEAREST: list[tuple[PermissionProfile, LegacySandboxPolicy]] = [
    (DisabledProfile(), DangerFullAccess()),
    (ManagedProfile(file_system=UnrestrictedFileSystem(), network=ENABLED), DangerFullAccess()),
    (ManagedProfile(file_system=UnrestrictedFileSystem(), network=RESTRICTED), ExternalSandbox()),
    (managed(special(SpecialKind.ROOT, W), network=ENABLED), DangerFullAccess()),
    (managed(special(SpecialKind.ROOT, W)), ExternalSandbox()),
    (ExternalProfile(network=ENABLED), ExternalSandbox(network_access=ENABLED)),
    (managed(), ReadOnly()),
    (managed(at("/a", R), network=ENABLED), ReadOnly(network_access=True)),
    (
        managed(special(SpecialKind.PROJECT_ROOTS, W), at("/w/x", W), at("/y", W)),
        WorkspaceWrite(
            writable_roots=(PortablePath.parse("/w/x"), PortablePath.parse("/y")),
            exclude_tmpdir_env_var=True,
            exclude_slash_tmp=True,
        ),
    ),
    (
        managed(at("/w", W), at("/tmp", W)),
        WorkspaceWrite(exclude_tmpdir_env_var=True),
    ),
]


@pytest.mark.parametrize(("profile", "expected"), NEAREST)
def test_the_nearest_older_policy(profile: PermissionProfile, expected: LegacySandboxPolicy) -> None:
    assert from_profile(profile, MACHINE) == expected


@pytest.mark.parametrize(
    "entry",
    [at("/other", W), special(SpecialKind.TMPDIR, W), special(SpecialKind.PROJECT_ROOTS, W, subpath="d")],
)
def test_writes_elsewhere_have_no_older_form(entry: Entry) -> None:
    profile = managed(special(SpecialKind.ROOT, R), entry)
    with pytest.raises(PolicyError, match="outside the workspace root need direct enforcement") as refusal:
        from_profile(profile, MACHINE)
    assert refusal.value.pointer == "/file_system/entries/1"
    assert needs_direct_enforcement(profile, MACHINE) is EnforcementPath.DIRECT


def test_a_write_that_denies_cancel_is_no_write() -> None:
    assert from_profile(managed(at("/other", W), at("/other", D)), MACHINE) == ReadOnly()


LOSSY: list[PermissionProfile] = [
    managed(at("/a", R)),
    managed(special(SpecialKind.ROOT, R), at("/a", D)),
    managed(*workspace_write_entries(), at("/w/docs", R)),
    managed(*workspace_write_entries(), Entry(path=GlobLocation(pattern="/w/*.key"), access=D)),
    managed(special(SpecialKind.MINIMAL, R)),
]


@pytest.mark.parametrize("profile", LOSSY)
def test_what_the_older_form_cannot_say_needs_direct_enforcement(profile: PermissionProfile) -> None:
    assert needs_direct_enforcement(profile, MACHINE) is EnforcementPath.DIRECT


def test_names_that_the_older_form_would_not_protect_need_direct_enforcement() -> None:
    found = needs_direct_enforcement(
        managed(*workspace_write_entries()), MACHINE, legacy_protected_names=(".git", ".agents", ".codex")
    )
    assert found is EnforcementPath.DIRECT
