"""The requirement table, complete, and what follows from preference and host."""

from __future__ import annotations

from itertools import product

import pytest

from sandboxing.profile.access import AccessMode
from sandboxing.profile.entries import SpecialKind, special
from sandboxing.profile.permission import (
    DisabledProfile,
    ExternalProfile,
    ManagedProfile,
    NetworkSwitch,
    PermissionProfile,
    RestrictedFileSystem,
    UnrestrictedFileSystem,
)
from sandboxing.profile.requirement import (
    CannotSandbox,
    HostAbility,
    ManagedNetwork,
    Preference,
    Requirement,
    RunUnsandboxed,
    UseSandbox,
    requirement,
    select,
)

RESTRICTED, ENABLED = NetworkSwitch.RESTRICTED, NetworkSwitch.ENABLED
NARROW = RestrictedFileSystem(entries=(special(SpecialKind.ROOT, AccessMode.READ),))
FULL_WRITE = RestrictedFileSystem(entries=(special(SpecialKind.ROOT, AccessMode.WRITE),))
ANY = UnrestrictedFileSystem()
NEEDED, NOT_NEEDED = Requirement.NEEDED, Requirement.NOT_NEEDED

TABLE: list[tuple[PermissionProfile, Requirement]] = [
    (ExternalProfile(network=RESTRICTED), NOT_NEEDED),
    (ExternalProfile(network=ENABLED), NOT_NEEDED),
    (ManagedProfile(file_system=NARROW, network=RESTRICTED), NEEDED),
    (ManagedProfile(file_system=FULL_WRITE, network=RESTRICTED), NEEDED),
    (ManagedProfile(file_system=ANY, network=RESTRICTED), NEEDED),
    (ManagedProfile(file_system=NARROW, network=ENABLED), NEEDED),
    (ManagedProfile(file_system=FULL_WRITE, network=ENABLED), NOT_NEEDED),
    (ManagedProfile(file_system=ANY, network=ENABLED), NOT_NEEDED),
    (DisabledProfile(), NOT_NEEDED),
]


@pytest.mark.parametrize(("profile", "expected"), TABLE)
def test_the_table(profile: PermissionProfile, expected: Requirement) -> None:
    assert requirement(profile, ManagedNetwork.NOT_REQUIRED) is expected
    assert requirement(profile, ManagedNetwork.REQUIRED) is NEEDED


@pytest.mark.parametrize(
    ("row", "managed", "host"),
    list(product(TABLE, ManagedNetwork, HostAbility)),
    ids=lambda value: str(value)[:40],
)
def test_selection_follows_preference_need_and_host(
    row: tuple[PermissionProfile, Requirement], managed: ManagedNetwork, host: HostAbility
) -> None:
    profile, alone = row
    needed = managed is ManagedNetwork.REQUIRED or alone is NEEDED
    can = UseSandbox if host is HostAbility.AVAILABLE else CannotSandbox
    expected = {
        Preference.AUTO: can if needed else RunUnsandboxed,
        Preference.REQUIRE: can,
        Preference.FORBID: RunUnsandboxed,
    }
    for preference, outcome in expected.items():
        selected = select(profile, managed_network=managed, host=host, preference=preference)
        assert type(selected) is outcome
