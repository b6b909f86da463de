"""Which spellings of a path a policy file takes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandboxing.policyfile.strict_paths import (
    Fault,
    glob_fault,
    path_fault,
    subpath_fault,
    without_final_separator,
)
from sandboxing.policyfile.strict_paths import test_path_fault as promise_path_fault

NAMES = st.text(st.sampled_from("ab.-_ []~ä"), min_size=1, max_size=6).filter(
    lambda name: name not in (".", "..")
)


def cause(fault: Fault | None) -> str:
    assert fault is not None
    return fault.cause


@given(
    st.lists(NAMES, min_size=1, max_size=5),
    st.sampled_from(["/", "~/", "C:\\", "D:/", "\\\\server\\share\\"]),
)
def test_absolute_and_home_paths_of_ordinary_names_are_right(names: list[str], start: str) -> None:
    separator = "\\" if "\\" in start else "/"
    assert path_fault(start + separator.join(names)) is None


@pytest.mark.parametrize(
    "text", ["/", "~", "~/", "/a/", "C:\\", "C:/", "/a/[id].tsx", "/a b", "/a/~", "/a/..b", "/a/$"]
)
def test_unusual_but_right_paths(text: str) -> None:
    assert path_fault(text) is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "it is empty"),
        ("a", "it is relative"),
        ("./a", "it is relative"),
        ("../a", "it is relative"),
        ("C:a", "it is relative"),
        ("\\a", "it is relative"),
        ("$HOME/a", "it is relative"),
        ("/a/../b", "`..` segment"),
        ("/..", "`..` segment"),
        ("~/..", "`..` segment"),
        ("C:\\a\\..\\b", "`..` segment"),
        ("C:/a/../b", "`..` segment"),
        ("/a/./b", "`.` segment"),
        ("/.", "`.` segment"),
        ("/a//b", "doubled separator"),
        ("//a", "doubled separator"),
        ("/a//", "doubled separator"),
        ("/home/$USER/x", "`$USER` would not be expanded"),
        ("/home/${USER}/x", "`${USER}` would not be expanded"),
        ("/home/${USER", "would not be expanded"),
        ("~other/x", "the caller's home only"),
        ("~\\x", "the caller's home only"),
        (":workspace_roots/x", "a symbol is not a path"),
        ("file:///a", "it is a URI"),
        ("/a\0b", "NUL"),
        ("/a/*", "only `deny` may use globs"),
        ("/a/b?", "only `deny` may use globs"),
        ("/a/**", "a glob where a path is expected"),
    ],
)
def test_refused_paths(text: str, words: str) -> None:
    assert words in cause(path_fault(text))


@pytest.mark.parametrize(
    "text",
    [
        "/a/*.env",
        "/a/**/*.env",
        "~/**/id_*",
        ":workspace_roots/**/.env",
        "codex-project-roots://*.key",
        "C:\\a\\*.pem",
        "/a/[ab]",
        "/a/{b,c}",
    ],
)
def test_right_globs(text: str) -> None:
    assert glob_fault(text) is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("**/*.env", "it is relative"),
        ("*.env", "it is relative"),
        ("/a/../*", "`..` segment"),
        ("/$HOME/*", "would not be expanded"),
        ("/a/b", "no wildcard"),
        (":workspace_roots/", "it is empty"),
        (":workspace_roots//etc/*", "must be relative"),
        (":workspace_roots/../*", "`..` segment"),
        (":tmpdir/*", "a symbol is not a path"),
    ],
)
def test_refused_globs(text: str, words: str) -> None:
    assert words in cause(glob_fault(text))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "empty"),
        ("/a", "relative to"),
        ("a/../b", "`..`"),
        (".", "`.` segment"),
        ("~/a", "relative to"),
        ("C:\\a", "relative to"),
        ("a*", "glob"),
        ("$A", "expanded"),
    ],
)
def test_refused_subpaths(text: str, words: str) -> None:
    assert words in cause(subpath_fault(text))


@pytest.mark.parametrize(
    "text", [":workspace_roots", ":workspace_roots/a/b", ":tmpdir/x", ":slash_tmp", "~/x", "/x"]
)
def test_right_paths_of_promises(text: str) -> None:
    assert promise_path_fault(text) is None


@pytest.mark.parametrize(
    "text", [":workspace_root/a", ":root", ":workspace_roots/../a", "a", ":workspace_roots/*"]
)
def test_refused_paths_of_promises(text: str) -> None:
    assert promise_path_fault(text) is not None


@pytest.mark.parametrize(
    ("text", "shorter"),
    [("/", "/"), ("/a/", "/a"), ("~/", "~"), ("C:\\", "C:\\"), ("C:\\a\\", "C:\\a"), ("/a\\", "/a\\")],
)
def test_a_separator_at_the_end_goes_unless_it_is_the_root(text: str, shorter: str) -> None:
    assert without_final_separator(text) == shorter


@given(st.text(max_size=20))
def test_every_text_gets_an_answer_in_one_line(text: str) -> None:
    for find in (path_fault, glob_fault, subpath_fault, promise_path_fault):
        fault = find(text)
        assert fault is None or "\n" not in (fault.hint or "")
