"""Whether a profile needs a sandbox, and what follows when the host has one or has none.

The host's ability arrives as a word; nothing is probed here. A sandbox that is needed and missing is never
skipped in silence. `run` and the executor ask before anything is planned.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from sandboxing.profile.permission import ExternalProfile, NetworkSwitch, PermissionProfile
from sandboxing.profile.predicates import file_system_of, has_full_disk_write, network_of


class Preference(StrEnum):
    """What the caller wants beyond the profile's own need."""

    AUTO = "auto"
    REQUIRE = "require"
    FORBID = "forbid"


class ManagedNetwork(StrEnum):
    """Whether connections must go through the managed proxy."""

    REQUIRED = "required"
    NOT_REQUIRED = "not-required"


class HostAbility(StrEnum):
    """Whether this host has a backend that can hold a sandbox at all."""

    AVAILABLE = "available"
    ABSENT = "absent"


class Requirement(StrEnum):
    """Whether a profile limits anything that only a sandbox can limit."""

    NEEDED = "needed"
    NOT_NEEDED = "not-needed"


@dataclass(frozen=True, slots=True)
class RunUnsandboxed:
    """The command runs without a sandbox, for this reason."""

    reason: str


@dataclass(frozen=True, slots=True)
class UseSandbox:
    """The command must run in a sandbox."""


@dataclass(frozen=True, slots=True)
class CannotSandbox:
    """The command needs a sandbox that this host lacks, so it must not run."""

    reason: str


Selection = RunUnsandboxed | UseSandbox | CannotSandbox


def requirement(profile: PermissionProfile, managed_network: ManagedNetwork) -> Requirement:
    """Whether the profile needs a sandbox.

    An external filesystem leaves only the network, and with managed networking off the party that confines
    the files confines that too.
    """
    if managed_network is ManagedNetwork.REQUIRED:
        return Requirement.NEEDED
    if isinstance(profile, ExternalProfile):
        return Requirement.NOT_NEEDED
    if network_of(profile) is NetworkSwitch.RESTRICTED:
        return Requirement.NEEDED
    if has_full_disk_write(file_system_of(profile)):
        return Requirement.NOT_NEEDED
    return Requirement.NEEDED


def select(
    profile: PermissionProfile,
    *,
    managed_network: ManagedNetwork,
    host: HostAbility,
    preference: Preference = Preference.AUTO,
) -> Selection:
    """What to do with a command under this profile."""
    if preference is Preference.FORBID:
        return RunUnsandboxed("the caller forbids a sandbox")
    needed = requirement(profile, managed_network) is Requirement.NEEDED
    if preference is Preference.AUTO and not needed:
        return RunUnsandboxed("the profile limits nothing that a sandbox would hold")
    if host is HostAbility.AVAILABLE:
        return UseSandbox()
    if preference is Preference.REQUIRE:
        return CannotSandbox("the caller requires a sandbox and this host has none")
    return CannotSandbox("the profile needs a sandbox and this host has none")
