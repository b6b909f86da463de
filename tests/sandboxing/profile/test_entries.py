"""Entries and their paths: accepted forms, refused forms, and the way back to JSON."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from pydantic import ValidationError

from sandboxing.errors import PathError
from sandboxing.paths.convention import PathConvention
from sandboxing.profile.access import AccessMode
from sandboxing.profile.entries import (
    Entry,
    GlobLocation,
    PortablePath,
    SpecialKind,
    SpecialLocation,
    special,
)
from tests.strategies import all_entries, portable_paths

POSIX, WINDOWS = PathConvention.POSIX, PathConvention.WINDOWS

ROUND_TRIPS: list[dict[str, Any]] = [
    {"path": {"type": "path", "path": "/a/b"}, "access": "read"},
    {"path": {"type": "path", "path": "file:///a/b"}, "access": "write"},
    {"path": {"type": "path", "path": "C:\\Dir"}, "access": "write"},
    {"path": {"type": "path", "path": "~/x"}, "access": "deny", "missing_path_behavior": "skip"},
    {"path": {"type": "glob_pattern", "pattern": "**/*.key"}, "access": "deny"},
    {"path": {"type": "glob_pattern", "pattern": "/a/*"}, "access": "read"},
    {"path": {"type": "special", "value": {"kind": "root"}}, "access": "read"},
    {"path": {"type": "special", "value": {"kind": "project_roots", "subpath": ".git"}}, "access": "read"},
    {
        "path": {"type": "special", "value": {"kind": "unknown", "path": ":x", "subpath": "../y"}},
        "access": "read",
    },
]


@pytest.mark.parametrize("wire", ROUND_TRIPS)
def test_an_entry_leaves_as_it_came(wire: dict[str, Any]) -> None:
    entry = Entry.model_validate(wire)
    assert entry.model_dump(mode="json") == wire
    assert list(entry.model_dump(mode="json")) == list(wire)


@given(all_entries)
def test_decoding_what_was_encoded_gives_the_entry_back(entry: Entry) -> None:
    assert Entry.model_validate_json(entry.model_dump_json()) == entry
    assert Entry.model_validate(entry.model_dump(mode="json")) == entry


def test_older_words_are_read_and_newer_ones_written() -> None:
    entry = Entry.model_validate(
        {"path": {"type": "special", "value": {"kind": "current_working_directory"}}, "access": "none"}
    )
    assert entry == special(SpecialKind.PROJECT_ROOTS, AccessMode.DENY)
    assert entry.model_dump(mode="json") == {
        "path": {"type": "special", "value": {"kind": "project_roots"}},
        "access": "deny",
    }


def test_unknown_members_are_dropped() -> None:
    entry = Entry.model_validate(
        {
            "path": {"type": "special", "value": {"kind": "root", "new": 1}, "new": 1},
            "access": "read",
            "new": 1,
        }
    )
    assert entry == special(SpecialKind.ROOT, AccessMode.READ)


REFUSED: list[tuple[dict[str, Any], str]] = [
    (
        {"path": {"type": "special", "value": {"kind": "later"}}, "access": "read"},
        "unknown variant `later`, expected one of `root`, `minimal`, ",
    ),
    (
        {"path": {"type": "path", "path": "/a"}, "access": "rw"},
        "unknown variant `rw`, expected one of `read`, `write`, `deny`, `none`",
    ),
    ({"path": {"type": "path", "path": "a"}, "access": "read"}, "not absolute"),
    ({"path": {"type": "path", "path": "~other/a"}, "access": "read"}, "not absolute"),
    ({"path": {"type": "path", "path": "http://a"}, "access": "read"}, "not absolute"),
    ({"path": {"type": "path", "path": "file:///a?b"}, "access": "read"}, "query parameters"),
    ({"path": {"type": "path", "path": 3}, "access": "read"}, "valid string"),
    ({"path": {"type": "path", "path": "/a"}, "access": "read", "missing_path_behavior": "x"}, "'skip'"),
    ({"path": {"type": "glob_pattern", "pattern": ""}, "access": "deny"}, "empty"),
    ({"path": {"type": "zz"}, "access": "deny"}, "zz"),
    ({"path": {"type": "special", "value": {"kind": "unknown"}}, "access": "deny"}, "missing field `path`"),
    (
        {"path": {"type": "special", "value": {"kind": "root", "subpath": "a"}}, "access": "read"},
        "no meaning",
    ),
]


@pytest.mark.parametrize(("wire", "message"), REFUSED)
def test_what_is_no_entry_is_refused_with_the_reason(wire: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError) as refusal:
        Entry.model_validate(wire)
    assert message in str(refusal.value)


@pytest.mark.parametrize("subpath", ["/a", "\\a", "C:a", "..", "a/../../b", "a\\..\\b", "a\0"])
def test_a_subpath_stays_below_the_workspace_root(subpath: str) -> None:
    value = {"kind": "project_roots", "subpath": subpath}
    with pytest.raises(ValidationError):
        SpecialLocation.model_validate({"value": value})


def test_a_glob_knows_whether_it_is_read_from_the_workspace_roots() -> None:
    assert GlobLocation(pattern="codex-project-roots://**/.env").project_subpattern == "**/.env"
    assert GlobLocation(pattern="/a/**").project_subpattern is None


def test_two_spellings_of_one_place_are_equal() -> None:
    assert PortablePath.parse("/a/./b/") == PortablePath.parse("file:///a/b")
    assert len({PortablePath.parse("C:/x"), PortablePath.parse("file:///c:/x")}) == 1
    assert PortablePath.parse("~") == PortablePath.parse("~/")
    assert PortablePath.parse("~/a") != PortablePath.parse("/a")


NATIVE = [
    ("/a/../b", POSIX, "/b"),
    ("file:///a%20b/", POSIX, "/a b"),
    ("~", POSIX, "/home/u"),
    ("~/x//y", POSIX, "/home/u/x/y"),
    ("/C:/x", POSIX, "/C:/x"),
    ("/b\udcff", POSIX, "/b\udcff"),
    ("c:/x", WINDOWS, "C:\\x"),
    ("file:///c:/x", WINDOWS, "C:\\x"),
]


@pytest.mark.parametrize(("text", "convention", "native"), NATIVE)
def test_a_portable_path_becomes_native(text: str, convention: PathConvention, native: str) -> None:
    path = PortablePath.parse(text)
    assert path.to_native(convention, home="/home/u", host_label="here") == native


@pytest.mark.parametrize(
    ("text", "convention"),
    [("C:\\x", POSIX), ("/x", WINDOWS), ("~", POSIX), ("file:///a%2F..%2Fb", POSIX), ("file:///a%00", POSIX)],
)
def test_a_path_that_means_nothing_here_is_refused(text: str, convention: PathConvention) -> None:
    with pytest.raises(PathError):
        PortablePath.parse(text).to_native(convention, home=None, host_label="here")


@given(portable_paths)
def test_a_portable_path_keeps_its_text(path: PortablePath) -> None:
    again = PortablePath.parse(path.text)
    assert (again, again.text) == (path, path.text)
    assert (path.uri is None) != (path.home_subpath is None)
    if path.uri is not None:
        assert PortablePath.from_uri(path.uri) == path
