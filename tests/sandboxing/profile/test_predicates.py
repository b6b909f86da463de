"""Whole-section predicates, the name rule and what can be written, over the reference's vectors."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandboxing.paths.native import PathDialect
from sandboxing.profile.access import AccessMode
from sandboxing.profile.entries import Entry, GlobLocation, PortablePath, SpecialKind, at_path, special
from sandboxing.profile.permission import FileSystem, RestrictedFileSystem, UnrestrictedFileSystem
from sandboxing.profile.predicates import (
    has_full_disk_read,
    has_full_disk_write,
    has_read_denies,
    protecting_name,
    wants_platform_defaults,
)
from sandboxing.profile.resolve import PathRule
from sandboxing.profile.resolver import index_of
from sandboxing.profile.signature import can_write
from tests.sandboxing.profile.machine import Machine
from tests.strategies import file_systems, small_entries, small_paths

R, W, D = AccessMode.READ, AccessMode.WRITE, AccessMode.DENY
NAMES = (".git", ".agents", ".codex", ".aws")
MACHINE = Machine()


def root(access: AccessMode) -> Entry:
    return special(SpecialKind.ROOT, access)


def roots(access: AccessMode, subpath: str | None = None) -> Entry:
    return special(SpecialKind.PROJECT_ROOTS, access, subpath=subpath)


def at(path: str, access: AccessMode) -> Entry:
    return at_path(PortablePath.parse(path), access)


def glob(pattern: str, access: AccessMode = D) -> Entry:
    return Entry(path=GlobLocation(pattern=pattern), access=access)


def section(*entries: Entry) -> RestrictedFileSystem:
    return RestrictedFileSystem(entries=entries)


WRITES: list[tuple[tuple[Entry, ...], str, bool]] = [
    ((root(R), roots(W)), "/w/a", True),
    ((root(R), roots(W)), "/w/.git/config", False),
    ((root(R), roots(W)), "/w/.git", False),
    ((root(R), roots(W)), "/w/s/.git/config", True),
    ((root(R), roots(W)), "/w/.GIT/config", True),
    ((root(R), roots(W), at("/w/.git", W)), "/w/.git/config", True),
    ((root(R), roots(W), at("/w/.git/hooks", W)), "/w/.git/config", False),
    ((root(R), roots(W), at("/w/.git/hooks", W)), "/w/.git/hooks/x", True),
    ((at("/w", W), at("/w", D)), "/w/a", False),
    ((at("/w", R), at("/w", W)), "/w/a", True),
    ((root(W), at("/etc", R)), "/etc/x", False),
    ((root(W), at("/etc", R), at("/etc", W)), "/etc/x", True),
    ((root(D), at("/w", W)), "/w/a", True),
    ((root(W),), "/w/.git/x", True),
    ((root(W), at("/etc", D)), "/.git/x", False),
    ((roots(R, "docs"), roots(W)), "/w/docs/a", False),
    ((special(SpecialKind.SLASH_TMP, W),), "/tmp/.git/x", False),
    ((), "/w/a", False),
]


@pytest.mark.parametrize(("entries", "path", "expected"), WRITES)
def test_what_can_be_written(entries: tuple[Entry, ...], path: str, *, expected: bool) -> None:
    assert can_write(section(*entries), path, MACHINE, NAMES) is expected


def test_everything_can_be_written_without_restrictions() -> None:
    assert can_write(UnrestrictedFileSystem(), "/w/.git", MACHINE, NAMES)


FULL: list[tuple[tuple[Entry, ...], bool, bool]] = [
    ((), False, False),
    ((root(R),), True, False),
    ((root(W),), True, True),
    ((root(R), at("/a", D)), False, False),
    ((root(W), at("/a", R)), True, False),
    ((root(W), at("/a", R), at("/a", W)), True, True),
    ((root(W), at("/a", R), at("file:///a", W)), True, True),
    ((root(W), at("/a", D), at("/a", W)), False, False),
    ((root(W), root(D)), False, False),
    ((root(W), root(R)), True, True),
    ((root(W), glob("/a/*")), False, False),
    ((root(W), glob("/a/*", W)), True, False),
    ((root(W), special(SpecialKind.MINIMAL, R)), True, True),
    ((root(W), special(SpecialKind.MINIMAL, D)), False, True),
    ((root(W), roots(R, "docs")), True, False),
]


@pytest.mark.parametrize(("entries", "reads", "writes"), FULL)
def test_full_disk_access(entries: tuple[Entry, ...], *, reads: bool, writes: bool) -> None:
    assert has_full_disk_read(section(*entries)) is reads
    assert has_full_disk_write(section(*entries)) is writes


@given(file_systems(small_entries), small_paths)
def test_a_full_disk_has_no_exception(file_system: FileSystem, path: str) -> None:
    if not isinstance(file_system, RestrictedFileSystem):
        return
    access = index_of(file_system.entries, MACHINE).access(path)
    assert access.can_read or not has_full_disk_read(file_system)
    assert access.can_write or not has_full_disk_write(file_system)


def test_platform_defaults_follow_minimal() -> None:
    minimal = special(SpecialKind.MINIMAL, R)
    assert wants_platform_defaults(section(minimal))
    assert not wants_platform_defaults(section(minimal, root(R)))
    assert wants_platform_defaults(section(minimal, root(R), at("/a", D)))
    assert not wants_platform_defaults(section(minimal, special(SpecialKind.MINIMAL, D)))
    assert not wants_platform_defaults(section())
    assert not wants_platform_defaults(UnrestrictedFileSystem())


def test_read_denies_do_not_count_a_tmp_that_windows_lacks() -> None:
    tmp = section(special(SpecialKind.SLASH_TMP, D))
    assert has_read_denies(tmp, PathDialect.POSIX)
    assert not has_read_denies(tmp, PathDialect.WINDOWS)
    assert has_read_denies(section(glob("/a/*")), PathDialect.WINDOWS)
    assert not has_read_denies(section(root(R)), PathDialect.POSIX)
    assert not has_read_denies(UnrestrictedFileSystem(), PathDialect.POSIX)


@given(st.lists(small_paths, max_size=5), small_paths, st.data())
def test_the_name_rule_ignores_the_order_of_rules(
    writable: list[str], path: str, data: st.DataObject
) -> None:
    rules = [PathRule(place, W) for place in writable]
    shuffled = data.draw(st.permutations(rules))
    answers = {protecting_name(order, path, NAMES, PathDialect.POSIX) for order in (rules, shuffled)}
    assert len(answers) == 1


def test_names_are_compared_as_windows_compares_them() -> None:
    rules = [PathRule("C:\\w", W)]
    assert protecting_name(rules, "c:\\W\\.GIT\\x", NAMES, PathDialect.WINDOWS) == ".git"
