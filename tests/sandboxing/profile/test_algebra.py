"""Laws of combining: merge, effective, preserve, weaken and add."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandboxing.errors import PolicyError
from sandboxing.paths.convention import PathConvention
from sandboxing.profile.access import AccessMode
from sandboxing.profile.additional import AdditionalFileSystem, AdditionalNetwork, AdditionalPermissions
from sandboxing.profile.algebra import (
    add_legacy_writable_roots,
    add_readable_roots,
    add_writable_roots,
    covers,
    effective,
    intersect_with_read_only,
    merge,
    merge_glob_depth,
    normalise_additional,
    preserve_denies,
)
from sandboxing.profile.entries import Entry, GlobLocation, PortablePath, SpecialKind, at_path, special
from sandboxing.profile.permission import (
    DisabledProfile,
    ExternalProfile,
    FileSystem,
    ManagedProfile,
    NetworkSwitch,
    PermissionProfile,
    RestrictedFileSystem,
    UnrestrictedFileSystem,
)
from sandboxing.profile.predicates import file_system_of, network_of
from sandboxing.profile.resolver import index_of
from tests.sandboxing.profile.machine import Machine
from tests.strategies import additional_permissions, file_systems, profiles, small_entries, small_paths

R, W, D = AccessMode.READ, AccessMode.WRITE, AccessMode.DENY
MACHINE = Machine()
small_profiles = profiles(small_entries)


def at(path: str, access: AccessMode) -> Entry:
    return at_path(PortablePath.parse(path), access)


def glob(pattern: str) -> Entry:
    return Entry(path=GlobLocation(pattern=pattern), access=D)


def entries_of(profile: PermissionProfile) -> tuple[Entry, ...]:
    file_system = file_system_of(profile)
    return file_system.entries if isinstance(file_system, RestrictedFileSystem) else ()


def access_under(profile: PermissionProfile, path: str) -> AccessMode:
    file_system = file_system_of(profile)
    if not isinstance(file_system, RestrictedFileSystem):
        return W
    return index_of(file_system.entries, MACHINE).access(path)


@given(additional_permissions(), additional_permissions())
def test_merge_does_not_care_which_side_is_which(
    left: AdditionalPermissions, right: AdditionalPermissions
) -> None:
    one, other = merge(left, right), merge(right, left)
    assert set(one.entries) == set(other.entries)
    assert one.network == other.network
    depths = [side.file_system.glob_scan_max_depth for side in (one, other) if side.file_system is not None]
    assert depths[:1] == depths[1:]


@given(additional_permissions(), additional_permissions(), additional_permissions())
def test_merge_does_not_care_about_grouping(
    one: AdditionalPermissions, two: AdditionalPermissions, three: AdditionalPermissions
) -> None:
    assert merge(merge(one, two), three) == merge(one, merge(two, three))


@given(additional_permissions())
def test_merging_with_itself_adds_nothing(additional: AdditionalPermissions) -> None:
    once = merge(additional, additional)
    assert merge(once, once) == once
    assert set(once.entries) == set(additional.entries)
    assert once.asks_network == additional.asks_network


@given(additional_permissions())
def test_normalising_is_done_once_and_for_all(additional: AdditionalPermissions) -> None:
    once = normalise_additional(additional)
    assert normalise_additional(once) == once
    assert set(once.entries) == set(additional.entries)
    assert once.network is None or once.asks_network
    assert once.file_system is None or once.file_system.entries


def test_normalising_puts_fixed_paths_in_canonical_form() -> None:
    asked = AdditionalPermissions(file_system=AdditionalFileSystem(entries=(at("/link", R), at("/real", R))))
    canonical = normalise_additional(asked, canonical=lambda _path: PortablePath.parse("/real"))
    assert canonical.entries == (at("/real", R),)


def test_a_glob_that_gives_is_refused_with_its_place() -> None:
    giving = Entry(path=GlobLocation(pattern="/a/*"), access=R)
    asked = AdditionalPermissions(file_system=AdditionalFileSystem(entries=(glob("/b/*"), giving)))
    with pytest.raises(PolicyError) as refusal:
        normalise_additional(asked)
    assert refusal.value.message == "glob file system permissions only support deny-read entries"
    assert refusal.value.pointer == "/file_system/entries/1"


def test_absent_parts_stay_absent_in_json() -> None:
    nothing = normalise_additional(
        AdditionalPermissions(
            network=AdditionalNetwork(enabled=False), file_system=AdditionalFileSystem(entries=())
        )
    )
    assert nothing.model_dump_json() == "{}"
    assert AdditionalPermissions(network=AdditionalNetwork()).model_dump_json() == '{"network":{}}'


DEPTHS: list[tuple[int | None, int, int | None, int, int | None]] = [
    (1, 1, 3, 1, 3),
    (1, 1, None, 1, None),
    (1, 1, None, 0, 1),
    (1, 0, 3, 0, None),
    (1, 0, 3, 1, 3),
    (None, 0, 3, 1, 3),
]


@pytest.mark.parametrize(("left", "left_globs", "right", "right_globs", "expected"), DEPTHS)
def test_only_a_side_with_deny_globs_has_a_say_in_the_depth(
    left: int | None, left_globs: int, right: int | None, right_globs: int, expected: int | None
) -> None:
    sides = [
        AdditionalFileSystem(entries=(glob("/a/*"),) * globs, glob_scan_max_depth=depth)
        for depth, globs in ((left, left_globs), (right, right_globs))
    ]
    assert merge_glob_depth(sides[0], sides[1]) == expected
    assert merge_glob_depth(sides[1], sides[0]) == expected


@given(small_profiles)
def test_nothing_added_is_the_base(base: PermissionProfile) -> None:
    assert effective(base) == base
    assert effective(base, AdditionalPermissions(network=AdditionalNetwork(enabled=False))) == base


@given(small_profiles, additional_permissions())
def test_adding_twice_is_adding_once(base: PermissionProfile, additional: AdditionalPermissions) -> None:
    once = effective(base, additional)
    assert effective(once, additional) == once
    assert entries_of(once)[: len(entries_of(base))] == entries_of(base)
    if entries_of(base):
        assert set(additional.entries) <= set(entries_of(once))


@given(small_profiles, additional_permissions())
def test_the_network_opens_when_either_side_opens_it(
    base: PermissionProfile, additional: AdditionalPermissions
) -> None:
    opened = network_of(base) is NetworkSwitch.ENABLED or additional.asks_network
    assert (network_of(effective(base, additional)) is NetworkSwitch.ENABLED) is opened


@given(small_profiles, small_profiles)
def test_denies_survive_a_replacement(previous: PermissionProfile, replacement: PermissionProfile) -> None:
    kept = preserve_denies(previous, replacement)
    denies = {entry for entry in entries_of(previous) if entry.access is D}
    if isinstance(replacement, ExternalProfile) or not denies:
        assert kept == replacement
        return
    assert denies <= set(entries_of(kept))
    assert network_of(kept) is network_of(replacement)
    given_otherwise = entries_of(replacement)
    if not isinstance(file_system_of(replacement), RestrictedFileSystem):
        given_otherwise = (special(SpecialKind.ROOT, W),)
    assert set(entries_of(kept)) == {*given_otherwise, *denies}
    assert preserve_denies(previous, kept) == kept


@given(small_profiles, small_paths)
def test_a_denied_path_stays_denied_whatever_replaces_the_profile(
    replacement: PermissionProfile, path: str
) -> None:
    previous = ManagedProfile(file_system=RestrictedFileSystem(entries=(at(path, D),)))
    if not isinstance(replacement, ExternalProfile):
        assert access_under(preserve_denies(previous, replacement), path) is D


def test_denies_turn_an_unrestricted_replacement_into_a_restricted_one() -> None:
    previous = ManagedProfile(
        file_system=RestrictedFileSystem(entries=(at("/a", R), glob("/b/*")), glob_scan_max_depth=2)
    )
    expected = RestrictedFileSystem(
        entries=(special(SpecialKind.ROOT, W), glob("/b/*")), glob_scan_max_depth=2
    )
    for replacement in (DisabledProfile(), ManagedProfile(file_system=UnrestrictedFileSystem())):
        kept = preserve_denies(previous, replacement)
        assert kept == ManagedProfile(file_system=expected, network=network_of(replacement))


@given(small_profiles, small_paths)
def test_read_only_is_never_wider_and_never_writable(profile: PermissionProfile, path: str) -> None:
    weaker = intersect_with_read_only(profile)
    assert intersect_with_read_only(weaker) == weaker
    assert network_of(weaker) is network_of(profile)
    if isinstance(profile, ExternalProfile):
        return
    assert not access_under(weaker, path).can_write
    assert access_under(weaker, path).can_read == access_under(profile, path).can_read


@given(file_systems(small_entries), st.lists(small_paths, max_size=3))
def test_an_added_root_is_open_unless_an_entry_denies_that_very_place(
    file_system: FileSystem, paths: list[str]
) -> None:
    roots = [PortablePath.from_native(path, PathConvention.POSIX) for path in paths]
    for add, bit in ((add_readable_roots, R), (add_writable_roots, W)):
        after = ManagedProfile(file_system=add(file_system, roots, MACHINE))
        for path in paths:
            denied = any(e.access is D and path in MACHINE.resolve(e.path) for e in entries_of(after))
            assert denied or covers(access_under(after, path), bit)


def test_a_root_that_is_open_already_is_not_added() -> None:
    base = RestrictedFileSystem(entries=(at("/a", W),))
    inside = [PortablePath.parse("/a/b")]
    assert add_readable_roots(base, inside, MACHINE) == base
    assert add_writable_roots(base, inside, MACHINE) == base
    outside = [PortablePath.parse("/c")]
    assert add_readable_roots(base, outside, MACHINE) == RestrictedFileSystem(
        entries=(at("/a", W), at("/c", R))
    )


def test_legacy_roots_are_always_named_and_bring_their_children() -> None:
    base = RestrictedFileSystem(entries=(at("/a", W),))
    inside = (PortablePath.parse("/a/b"),)
    added = add_legacy_writable_roots(base, inside, lambda root: (PortablePath.parse(f"{root}/.git"),))
    assert added == RestrictedFileSystem(entries=(at("/a", W), at("/a/b", W), at("/a/b/.git", R)))
    unrestricted = UnrestrictedFileSystem()
    assert add_legacy_writable_roots(unrestricted, inside, lambda _root: ()) == unrestricted
