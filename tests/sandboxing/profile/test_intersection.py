"""Intersection: never more than either side, denies of both, cwd-dependent symbols made concrete."""

from __future__ import annotations

from hypothesis import given

from sandboxing.paths.native import PathDialect
from sandboxing.profile.access import AccessMode
from sandboxing.profile.additional import AdditionalFileSystem, AdditionalNetwork, AdditionalPermissions
from sandboxing.profile.algebra import normalise_additional
from sandboxing.profile.entries import Entry, GlobLocation, PortablePath, SpecialKind, at_path, special
from sandboxing.profile.intersection import intersect
from sandboxing.profile.resolver import index_of
from tests.sandboxing.profile.machine import Machine
from tests.strategies import additional_permissions, small_paths

R, W, D = AccessMode.READ, AccessMode.WRITE, AccessMode.DENY
MACHINE = Machine(workspace_roots=("/w", "/v"))


def at(path: str, access: AccessMode) -> Entry:
    return at_path(PortablePath.parse(path), access)


def glob(pattern: str) -> Entry:
    return Entry(path=GlobLocation(pattern=pattern), access=D)


def roots(access: AccessMode, subpath: str | None = None) -> Entry:
    return special(SpecialKind.PROJECT_ROOTS, access, subpath=subpath)


def permissions(*entries: Entry, depth: int | None = None) -> AdditionalPermissions:
    return AdditionalPermissions(file_system=AdditionalFileSystem(entries=entries, glob_scan_max_depth=depth))


def both(requested: AdditionalPermissions, granted: AdditionalPermissions) -> tuple[Entry, ...]:
    return intersect(requested, granted, MACHINE).entries


@given(additional_permissions(), small_paths)
def test_intersecting_with_itself_never_widens(asked: AdditionalPermissions, path: str) -> None:
    result = intersect(asked, asked, MACHINE)
    before, after = (index_of(side.entries, MACHINE).access(path) for side in (asked, result))
    assert before.can_read or not after.can_read
    assert before.can_write or not after.can_write


@given(additional_permissions(), additional_permissions())
def test_every_kept_grant_is_granted_and_covered_by_the_request(
    requested: AdditionalPermissions, granted: AdditionalPermissions
) -> None:
    request, grant = (index_of(side.entries, MACHINE) for side in (requested, granted))
    for entry in intersect(requested, granted, MACHINE).entries:
        for path in MACHINE.resolve(entry.path) if entry.access is not D else ():
            assert request.access(path).can_read
            assert request.access(path).can_write or not entry.access.can_write
            assert grant.winner(path) is not None


@given(additional_permissions(), additional_permissions())
def test_the_network_needs_both_sides(
    requested: AdditionalPermissions, granted: AdditionalPermissions
) -> None:
    result = intersect(requested, granted, MACHINE)
    assert result.asks_network == (requested.asks_network and granted.asks_network)


@given(additional_permissions(), additional_permissions())
def test_the_result_is_in_normal_form_and_stable(
    requested: AdditionalPermissions, granted: AdditionalPermissions
) -> None:
    result = intersect(requested, granted, MACHINE)
    assert normalise_additional(result) == result


def test_a_grant_needs_as_much_in_the_request() -> None:
    assert both(permissions(at("/a", R)), permissions(at("/a", W))) == ()
    assert both(permissions(at("/a", W)), permissions(at("/a", R))) == (at("/a", R),)
    assert both(permissions(at("/a", W)), permissions(at("/a/b", W))) == (at("/a/b", W),)
    assert both(permissions(at("/a/b", W)), permissions(at("/a", W))) == ()


def test_a_grant_inside_a_requested_deny_is_dropped_even_where_the_request_reopens_it() -> None:
    asked = permissions(at("/a", W), at("/a/b", D), at("/a/b/c", R))
    assert both(asked, permissions(at("/a/b/c", R))) == ()
    assert both(permissions(at("/a", W), glob("/a/*.key")), permissions(at("/a/x.key", R))) == ()


def test_denies_of_both_sides_that_touch_a_kept_grant_come_along() -> None:
    requested = permissions(at("/a", W), at("/a/b", D), at("/z", D))
    granted = permissions(at("/a", W), at("/a/c", D), glob("/a/*.key"), at("/y", D), depth=4)
    result = intersect(requested, granted, MACHINE)
    assert result.entries == (at("/a", W), at("/a/b", D), at("/a/c", D), glob("/a/*.key"))
    assert result.file_system is not None
    assert result.file_system.glob_scan_max_depth == 4


def test_a_deny_above_a_kept_grant_comes_along() -> None:
    assert both(permissions(at("/a/b", R)), permissions(at("/a/b", R), at("/a", D))) == (
        at("/a/b", R),
        at("/a", D),
    )


def test_denies_alone_are_no_result() -> None:
    assert intersect(permissions(at("/a", D)), permissions(at("/a", D)), MACHINE) == AdditionalPermissions()


def test_workspace_symbols_come_out_as_the_paths_they_mean() -> None:
    asked = permissions(roots(W), roots(D, "secret"), glob("codex-project-roots://*.key"))
    assert both(asked, permissions(roots(W))) == (
        at("/w", W),
        at("/v", W),
        at("/w/secret", D),
        at("/v/secret", D),
        glob("/w/*.key"),
        glob("/v/*.key"),
    )


def test_only_the_covered_part_of_a_symbol_is_kept() -> None:
    assert both(permissions(at("/w", W)), permissions(roots(W))) == (at("/w", W),)


def test_a_grant_without_a_place_needs_its_equal_and_takes_all_denies() -> None:
    minimal = special(SpecialKind.MINIMAL, R)
    assert both(permissions(at("/", R)), permissions(minimal)) == ()
    assert both(permissions(minimal, at("/z", D)), permissions(minimal)) == (minimal, at("/z", D))


def test_a_glob_never_gives() -> None:
    giving = Entry(path=GlobLocation(pattern="/a/*"), access=R)
    assert both(permissions(at("/a", R), giving), permissions(giving)) == ()


def test_slash_tmp_is_no_place_on_windows() -> None:
    machine = Machine(
        dialect=PathDialect.WINDOWS, cwd="C:\\w", workspace_roots=("C:\\w",), slash_tmp=("C:\\tmp",)
    )
    tmp, root = special(SpecialKind.SLASH_TMP, W), special(SpecialKind.ROOT, W)
    assert intersect(permissions(tmp, root), permissions(tmp), machine) == AdditionalPermissions()
    assert intersect(permissions(root), permissions(root), machine).entries == (at("C:\\", W),)


def test_a_network_that_is_not_asked_for_is_not_given() -> None:
    network = AdditionalPermissions(network=AdditionalNetwork(enabled=True))
    assert intersect(network, network, MACHINE) == network
    assert intersect(AdditionalPermissions(), network, MACHINE) == AdditionalPermissions()
