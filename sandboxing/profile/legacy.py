"""The older SandboxPolicy, and the way to and from a profile.

It owns the old words and their defaults. The old form says less than a profile, so the way back can fail and
`needs_direct_enforcement` tells when it loses something. Clients of older protocols need it.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from sandboxing.errors import PolicyError
from sandboxing.profile.access import AccessMode
from sandboxing.profile.entries import (
    Entry,
    PortablePath,
    SpecialKind,
    SpecialLocation,
    SpecialValue,
    WireModel,
    special,
)
from sandboxing.profile.permission import (
    DisabledProfile,
    ExternalProfile,
    ManagedProfile,
    NetworkSwitch,
    PermissionProfile,
    RestrictedFileSystem,
)
from sandboxing.profile.predicates import file_system_of, has_full_disk_write, network_of
from sandboxing.profile.resolver import Resolver
from sandboxing.profile.signature import SemanticSignature, can_write, signature_of
from sandboxing.profile.variant import variant_of
from sandboxing.profile.workspace import (
    REFERENCE_PROTECTED_NAMES,
    ProtectedChildren,
    no_children,
    workspace_write_entries,
)

Flag = Annotated[bool, Field(strict=True)]


class EnforcementPath(StrEnum):
    """Whether a backend that speaks the old form may be given it."""

    LEGACY = "legacy"
    DIRECT = "direct"


class DangerFullAccess(WireModel):
    """No limits."""

    type: Literal["danger-full-access"] = "danger-full-access"


class ReadOnly(WireModel):
    """Everything can be read, nothing written."""

    type: Literal["read-only"] = "read-only"
    network_access: Flag = False


class ExternalSandbox(WireModel):
    """Files are confined by somebody else."""

    type: Literal["external-sandbox"] = "external-sandbox"
    network_access: Annotated[NetworkSwitch, variant_of(NetworkSwitch)] = NetworkSwitch.RESTRICTED


class WorkspaceWrite(WireModel):
    """The workspace and temporary places can be written.

    Attributes:
        writable_roots: writable places beside the workspace.
        network_access: whether the network is open.
        exclude_tmpdir_env_var: keeps `$TMPDIR` closed.
        exclude_slash_tmp: keeps `/tmp` closed.
    """

    type: Literal["workspace-write"] = "workspace-write"
    writable_roots: tuple[PortablePath, ...] = ()
    network_access: Flag = False
    exclude_tmpdir_env_var: Flag = False
    exclude_slash_tmp: Flag = False


LegacySandboxPolicy = Annotated[
    DangerFullAccess | ReadOnly | ExternalSandbox | WorkspaceWrite, Field(discriminator="type")
]


def to_profile(
    policy: LegacySandboxPolicy,
    *,
    protected_names: tuple[str, ...] = REFERENCE_PROTECTED_NAMES,
    protected_children: ProtectedChildren = no_children,
) -> PermissionProfile:
    """The profile that an old policy means.

    Args:
        policy: the old policy.
        protected_names: names carved out of each workspace root.
        protected_children: existing children to carve out of each extra writable root.
    """
    match policy:
        case DangerFullAccess():
            return DisabledProfile()
        case ExternalSandbox():
            return ExternalProfile(network=policy.network_access)
        case ReadOnly():
            entries: tuple[Entry, ...] = (special(SpecialKind.ROOT, AccessMode.READ),)
            return _managed(entries, _switch(policy))
        case WorkspaceWrite():
            excluded = {SpecialKind.TMPDIR} if policy.exclude_tmpdir_env_var else set()
            excluded |= {SpecialKind.SLASH_TMP} if policy.exclude_slash_tmp else set()
            expanded = workspace_write_entries(
                extra_roots=policy.writable_roots,
                excluded=frozenset(excluded),
                protected_names=protected_names,
                protected_children=protected_children,
            )
            return _managed(expanded, _switch(policy))


def from_profile(
    profile: PermissionProfile,
    resolver: Resolver,
    *,
    protected_names: tuple[str, ...] = REFERENCE_PROTECTED_NAMES,
) -> LegacySandboxPolicy:
    """The old policy nearest to a profile; denies and globs are lost.

    Raises:
        PolicyError: something outside a workspace that cannot be written can be written, which the old form
            has no words for.
    """
    file_system = file_system_of(profile)
    network = network_of(profile)
    if isinstance(profile, ExternalProfile):
        return ExternalSandbox(network_access=network)
    if not isinstance(file_system, RestrictedFileSystem) or has_full_disk_write(file_system):
        if network is NetworkSwitch.ENABLED:
            return DangerFullAccess()
        return ExternalSandbox(network_access=NetworkSwitch.RESTRICTED)
    return _from_restricted(file_system, network, resolver, protected_names)


def needs_direct_enforcement(
    profile: PermissionProfile,
    resolver: Resolver,
    *,
    protected_names: tuple[str, ...] = REFERENCE_PROTECTED_NAMES,
    legacy_protected_names: tuple[str, ...] = REFERENCE_PROTECTED_NAMES,
) -> EnforcementPath:
    """Whether the old form of a profile would mean anything else than the profile itself.

    Compared is what the entries mean on this machine; children that are protected because they exist are the
    binder's subject and take no part.

    Args:
        profile: the profile.
        resolver: the machine.
        protected_names: names that stay read-only below each writable rule.
        legacy_protected_names: names that a backend of the old form protects.
    """
    try:
        legacy = from_profile(profile, resolver, protected_names=protected_names)
    except PolicyError:
        return EnforcementPath.DIRECT
    again = to_profile(legacy, protected_names=legacy_protected_names)
    said = _meaning(profile, resolver, protected_names)
    if said == _meaning(again, resolver, legacy_protected_names):
        return EnforcementPath.LEGACY
    return EnforcementPath.DIRECT


def _meaning(
    profile: PermissionProfile, resolver: Resolver, names: tuple[str, ...]
) -> tuple[SemanticSignature, NetworkSwitch]:
    return signature_of(file_system_of(profile), resolver, names), network_of(profile)


def _from_restricted(
    file_system: RestrictedFileSystem,
    network: NetworkSwitch,
    resolver: Resolver,
    protected_names: tuple[str, ...],
) -> LegacySandboxPolicy:
    workspace = _resolved(SpecialKind.PROJECT_ROOTS, resolver)
    same = resolver.dialect.same
    writable = [
        (position, path)
        for position, entry in enumerate(file_system.entries)
        if entry.access is AccessMode.WRITE
        for path in resolver.resolve(entry.path)
        if can_write(file_system, path, resolver, protected_names)
    ]
    is_open = network is NetworkSwitch.ENABLED
    if not any(can_write(file_system, root, resolver, protected_names) for root in workspace):
        if writable:
            raise PolicyError(
                f"cannot express `{writable[0][1]}` in the older form: "
                "writes outside the workspace root need direct enforcement",
                file="profile",
                pointer=f"/file_system/entries/{writable[0][0]}",
            )
        return ReadOnly(network_access=is_open)
    slash_tmp = _resolved(SpecialKind.SLASH_TMP, resolver)
    tmpdir = _resolved(SpecialKind.TMPDIR, resolver)
    implied = (*workspace, *slash_tmp, *tmpdir)
    extra = [path for _, path in writable if not any(same(path, known) for known in implied)]
    convention = resolver.dialect.convention
    return WorkspaceWrite(
        writable_roots=tuple(PortablePath.from_native(path, convention) for path in dict.fromkeys(extra)),
        network_access=is_open,
        exclude_tmpdir_env_var=not _all_writable(file_system, tmpdir, resolver, protected_names),
        exclude_slash_tmp=not _all_writable(file_system, slash_tmp, resolver, protected_names),
    )


def _all_writable(
    file_system: RestrictedFileSystem, paths: tuple[str, ...], resolver: Resolver, names: tuple[str, ...]
) -> bool:
    return bool(paths) and all(can_write(file_system, path, resolver, names) for path in paths)


def _resolved(kind: SpecialKind, resolver: Resolver) -> tuple[str, ...]:
    return resolver.resolve(SpecialLocation(value=SpecialValue(kind=kind)))


def _managed(entries: tuple[Entry, ...], network: NetworkSwitch) -> ManagedProfile:
    return ManagedProfile(file_system=RestrictedFileSystem(entries=entries), network=network)


def _switch(policy: ReadOnly | WorkspaceWrite) -> NetworkSwitch:
    return NetworkSwitch.ENABLED if policy.network_access else NetworkSwitch.RESTRICTED
