"""Globs: the compiled expression against a naive matcher, and the corners of the syntax."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandboxing.binding.globs import MAX_GLOB_ALTERNATIVES, escape, parse_glob, path_expression, slashed
from sandboxing.errors import BindError
from sandboxing.paths.native import PathDialect

POSIX, WINDOWS = PathDialect.POSIX, PathDialect.WINDOWS

SEGMENTS = st.one_of(
    st.just("**"), st.text("ab*?.", min_size=1, max_size=5).filter(lambda text: text not in {".", ".."})
)
PATTERNS = st.lists(SEGMENTS, min_size=1, max_size=5).map(lambda parts: "/" + "/".join(parts))
NAMES = st.lists(
    st.text("ab.\n", min_size=1, max_size=5).filter(lambda text: text not in {".", ".."}), max_size=5
)


def matches(pattern: str, path: str, *, dialect: PathDialect = POSIX) -> bool:
    expression = path_expression(parse_glob(pattern, dialect=dialect), dialect=dialect)
    return expression.match(slashed(path, dialect=dialect)) is not None


def naive_name(pattern: str, name: str) -> bool:
    if not pattern:
        return not name
    if pattern[0] == "*":
        return naive_name(pattern[1:], name) or (bool(name) and naive_name(pattern, name[1:]))
    return bool(name) and pattern[0] in {"?", name[0]} and naive_name(pattern[1:], name[1:])


def naive(parts: list[str], names: list[str]) -> bool:
    """Whether the parts match the names, or names above them."""
    if not parts:
        return True
    if not names:
        return False
    if parts[0] == "**":
        return (
            naive(parts[1:], names)
            if len(parts) > 1 and naive(parts[1:], names)
            else (len(parts) == 1 or naive(parts, names[1:]))
        )
    return naive_name(parts[0], names[0]) and naive(parts[1:], names[1:])


@given(PATTERNS, NAMES)
def test_the_expression_agrees_with_a_naive_matcher(pattern: str, names: list[str]) -> None:
    assert matches(pattern, "/" + "/".join(names)) is naive(pattern[1:].split("/"), names)


@given(PATTERNS, NAMES, NAMES)
def test_a_match_covers_what_is_below_it(pattern: str, names: list[str], below: list[str]) -> None:
    if matches(pattern, "/" + "/".join(names)):
        assert matches(pattern, "/" + "/".join(names + below))


@given(st.text("ab*?[]{}\\,! ", min_size=1, max_size=8), st.sampled_from(["", "x"]))
def test_an_escaped_path_matches_itself_and_no_other(name: str, other: str) -> None:
    pattern = "/" + escape(name, dialect=POSIX)
    assert matches(pattern, "/" + name)
    assert matches(pattern, "/" + name + other) is (not other)
    (glob,) = parse_glob(pattern, dialect=POSIX)
    assert glob.static_names == (name,)


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("/w/*.env", "/w/.env", True),
        ("/w/*.env", "/w/a/.env", False),
        ("/w/**/.env", "/w/.env", True),
        ("/w/**/.env", "/w/a/b/.env", True),
        ("/w/**/.env", "/w/.environment", False),
        ("/w/**", "/w", False),
        ("/w/**", "/w/a", True),
        ("/w/a**b", "/w/axxb", True),
        ("/w/a**b", "/w/ax/xb", False),
        ("/w/[ab].txt", "/w/a.txt", True),
        ("/w/[!ab].txt", "/w/a.txt", False),
        ("/w/[!ab].txt", "/w/c.txt", True),
        ("/w/[^ab].txt", "/w/c.txt", True),
        ("/w/[a-c]x", "/w/bx", True),
        ("/w/[a-c]x", "/w/dx", False),
        ("/w/[]]x", "/w/]x", True),
        ("/w/[a-]x", "/w/-x", True),
        ("/w/[x", "/w/[x", True),
        ("/w/[x", "/w/x", False),
        ("/w/[a/b]", "/w/[a/b]", True),
        ("/w/x[+-9]y", "/w/x/y", False),
        ("/w/{a,b}.key", "/w/b.key", True),
        ("/w/{a,b}.key", "/w/c.key", False),
        ("/w/{a,b/{c,d}}/x", "/w/b/d/x", True),
        ("/w/{a", "/w/{a", True),
        ("/w/{}x", "/w/x", True),
        ("/w/[{]a,b}", "/w/{a,b}", True),
        ("/w/\\*", "/w/*", True),
        ("/w/\\*", "/w/a", False),
        ("/w/a\\", "/w/a\\", True),
        ("/w//./a*", "/w/ab", True),
        ("/w/x/../*.key", "/w/a.key", True),
        ("/w/a.c", "/w/abc", False),
        ("/w/A*", "/w/ab", False),
    ],
)
def test_syntax(pattern: str, path: str, *, expected: bool) -> None:
    assert matches(pattern, path) is expected


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("C:\\w\\**\\*.Key", "C:\\W\\a\\b.kEY", True),
        ("C:/w/*.key", "C:\\w\\a.key", True),
        ("C:\\w\\*.key", "D:\\w\\a.key", False),
        ("\\\\srv\\share\\**\\x", "\\\\srv\\share\\a\\x", True),
    ],
)
def test_windows_syntax(pattern: str, path: str, *, expected: bool) -> None:
    assert matches(pattern, path, dialect=WINDOWS) is expected


@pytest.mark.parametrize(
    "pattern",
    ["w/*", "", "/w/*/../x", "/w/[b-a]", "/w/" + "{a,b}" * 9],
)
def test_what_has_no_meaning_is_refused(pattern: str) -> None:
    with pytest.raises(BindError, match="cannot expand glob `"):
        parse_glob(pattern, dialect=POSIX)


def test_many_empty_braces_are_cheap() -> None:
    assert len(parse_glob("/w/" + "{a,a}" * 8, dialect=POSIX)) == 1
    assert len(parse_glob("/w/" + "{a,b}" * 8, dialect=POSIX)) == MAX_GLOB_ALTERNATIVES


def test_a_hostile_pattern_takes_no_exponential_time() -> None:
    assert not matches("/w/" + "**/" * 1 + "a*" * 60 + "b", "/w/" + "a" * 250)
    assert not matches("/w/" + "**/a/" * 30 + "b", "/w" + "/a" * 1000)


def test_static_names_end_at_the_first_wildcard() -> None:
    (glob,) = parse_glob("/w/src/[k]/*.key/x", dialect=POSIX)
    assert glob.static_names == ("w", "src", "k")
