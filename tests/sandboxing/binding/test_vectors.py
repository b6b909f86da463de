"""The reference vectors of access resolution: what the rules give, and what may be written."""

from __future__ import annotations

import pytest

from sandboxing.binding.decide import decide, full_disk_write, mode_of
from sandboxing.profile.access import Access, AccessMode
from sandboxing.profile.entries import Entry
from tests.sandboxing.binding.subjects import DENY, READ, WRITE, bind, entry

READ_ALL = entry(":root", READ)
ROOTS = entry(":roots", WRITE)
WORKSPACE = [READ_ALL, ROOTS]

VECTORS = [
    pytest.param([], "/w/a", DENY, False, id="1-no-entries"),
    pytest.param([READ_ALL], "/etc/x", READ, False, id="2-root-read"),
    pytest.param(WORKSPACE, "/w/a", WRITE, True, id="3-workspace"),
    pytest.param(WORKSPACE, "/w/.git/config", WRITE, False, id="4-name-rule"),
    pytest.param(WORKSPACE, "/w/s/.git/config", WRITE, True, id="5-name-rule-top-level-only"),
    pytest.param([*WORKSPACE, entry("/w/.git", WRITE)], "/w/.git/config", WRITE, True, id="6-name-granted"),
    pytest.param(
        [*WORKSPACE, entry("/w/.git/hooks", WRITE)],
        "/w/.git/config",
        WRITE,
        False,
        id="7-part-of-name-granted",
    ),
    pytest.param(
        [*WORKSPACE, entry("/w/.git/hooks", WRITE)], "/w/.git/hooks/x", WRITE, True, id="7-the-granted-part"
    ),
    pytest.param([entry("/w", WRITE), entry("/w", DENY)], "/w/a", DENY, False, id="8-deny-beats-write"),
    pytest.param([entry("/w", READ), entry("/w", WRITE)], "/w/a", WRITE, True, id="9-write-beats-read"),
    pytest.param([entry("/w", DENY), entry("/w/p", READ)], "/w/p/x", READ, False, id="10-deeper-read"),
    pytest.param([entry(":root", WRITE), entry("/etc", READ)], "/etc/x", READ, False, id="11-narrowed-root"),
    pytest.param(
        [entry(":root", WRITE), entry("/etc", READ), entry("/etc", WRITE)],
        "/etc/x",
        WRITE,
        True,
        id="12-narrowing-overridden",
    ),
    pytest.param([entry(":root", DENY), entry("/w", WRITE)], "/x", DENY, False, id="13-root-denied"),
    pytest.param([entry(":root", DENY), entry("/w", WRITE)], "/w/a", WRITE, True, id="13-workspace-below"),
    pytest.param([entry(":root", WRITE)], "/w/.git/x", WRITE, True, id="14-full-write-skips-names"),
    pytest.param([READ_ALL, entry("glob /w/*.key", DENY)], "/w/a.key", READ, False, id="15-glob"),
    pytest.param([ROOTS], "/w/../x", DENY, False, id="16-dots-are-lexical"),
    pytest.param([entry(":roots/docs", READ), ROOTS], "/w/docs/a", READ, False, id="17-subpath"),
    pytest.param([entry(":tmpdir", WRITE)], "/tmp/a", DENY, False, id="18-tmpdir-unset"),
    pytest.param([entry(":slash_tmp", WRITE)], "/tmp/.git/x", WRITE, False, id="19-names-of-every-rule"),
]


@pytest.mark.parametrize(("entries", "path", "access", "can_write"), VECTORS)
def test_vector(entries: list[Entry], path: str, access: AccessMode, *, can_write: bool) -> None:
    bound = bind(entries)
    assert mode_of(bound, path) is access
    assert decide(bound, Access.WRITE, path).allowed is can_write


@pytest.mark.parametrize(("entries", "path", "access", "can_write"), VECTORS)
def test_nothing_is_readable_that_the_rules_deny(
    entries: list[Entry],
    path: str,
    access: AccessMode,
    *,
    can_write: bool,
) -> None:
    del can_write
    readable = decide(bind(entries), Access.READ, path).allowed
    # Vector 15: a glob is no rule of the resolver, and the oracle denies its matches all the same.
    assert readable is (access.can_read and not path.endswith(".key"))


def test_full_disk_write_needs_every_narrowing_to_be_overridden() -> None:
    narrowed = [entry(":root", WRITE), entry("/etc", READ)]
    assert not full_disk_write(bind(narrowed))
    assert full_disk_write(bind([*narrowed, entry("/etc", WRITE)]))
    assert not full_disk_write(bind([*narrowed, entry("/etc", WRITE), entry("/etc/x", DENY)]))


@pytest.mark.parametrize("narrowing", ["/x", ":root", "glob /x/*.key"])
def test_a_deny_of_any_sort_ends_full_disk_write(narrowing: str) -> None:
    assert not full_disk_write(bind([entry(":root", WRITE), entry(narrowing, DENY)]))


@pytest.mark.parametrize("ignored", [":minimal", ":unknown"])
def test_symbols_without_a_place_do_not_narrow(ignored: str) -> None:
    assert full_disk_write(bind([entry(":root", WRITE), entry(ignored, READ)]))
