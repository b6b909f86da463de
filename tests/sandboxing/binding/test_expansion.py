"""The walk of deny globs: it finds what the expression matches, and stays within its bounds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandboxing.binding import expansion
from sandboxing.binding.bound import PathKind
from sandboxing.binding.expansion import GlobWalk
from sandboxing.binding.globs import parse_glob, path_expression
from sandboxing.errors import BindError
from sandboxing.paths.native import PathDialect
from tests.fakes.filesystem import Directory, File, InMemoryView, Node, Symlink

POSIX = PathDialect.POSIX
NAMES = ("a", "b", "ab", ".env")
FILES = st.sets(st.lists(st.sampled_from(NAMES), min_size=1, max_size=5).map("/".join), max_size=12)
SEGMENTS = st.sampled_from(["a", "b", "*", "a*", "**", "?", ".env"])
PATTERNS = st.lists(SEGMENTS, min_size=1, max_size=4).map(lambda parts: "/w/" + "/".join(parts))


def walk(view: InMemoryView, *patterns: str, max_depth: int | None = None) -> set[str]:
    globs = tuple(glob for pattern in patterns for glob in parse_glob(pattern, dialect=POSIX))
    return {match.path for match in GlobWalk(globs, view, POSIX, max_depth=max_depth).matches()}


def tree(names: set[str]) -> InMemoryView:
    """Files at the names; a name that is also a directory of another one becomes a directory."""
    view = InMemoryView({"/w": Directory()})
    for name in sorted(names):
        above = any(other.startswith(f"{name}/") for other in names)
        view.put(f"/w/{name}", Directory() if above else File())
    return view


def everything(names: set[str]) -> set[str]:
    parts = [name.split("/") for name in names]
    return {"/w/" + "/".join(split[:count]) for split in parts for count in range(1, len(split) + 1)}


@given(FILES, st.lists(PATTERNS, min_size=1, max_size=3))
def test_walk_and_expression_agree(names: set[str], patterns: list[str]) -> None:
    found = walk(tree(names), *patterns)
    globs = [glob for pattern in patterns for glob in parse_glob(pattern, dialect=POSIX)]
    expression = path_expression(globs, dialect=POSIX)
    for path in everything(names):
        covered = any(path == match or path.startswith(f"{match}/") for match in found)
        assert covered is (expression.match(path) is not None), path


@given(FILES, st.lists(PATTERNS, min_size=1, max_size=3))
def test_each_directory_is_listed_at_most_once_and_no_match_is_inside_another(
    names: set[str], patterns: list[str]
) -> None:
    view = tree(names)
    found = walk(view, *patterns)
    assert len(view.listed) == len(set(view.listed))
    assert not any(inner != outer and inner.startswith(f"{outer}/") for inner in found for outer in found)


def test_directories_in_which_nothing_can_match_are_not_listed() -> None:
    view = InMemoryView({"/w/a/b/x.key": File(), "/w/other/deep/x.key": File(), "/w/a/c/d/x.key": File()})
    assert walk(view, "/w/a/*/*.key") == {"/w/a/b/x.key"}
    assert set(view.listed) == {"/w/a", "/w/a/b", "/w/a/c"}


def test_fixed_names_are_looked_up_without_listing() -> None:
    view = InMemoryView({"/w/a/secret": File(), "/w/a/other": File()})
    assert walk(view, "/w/a/secret") == {"/w/a/secret"}
    assert view.listed == []


def test_links_are_matched_and_never_entered() -> None:
    view = InMemoryView({"/w/loop": Symlink("/w"), "/w/x.key": File(), "/w/l.key": Symlink("/etc")})
    globs = parse_glob("/w/**/*.key", dialect=POSIX)
    found = {match.path: match.kind for match in GlobWalk(globs, view, POSIX, max_depth=None).matches()}
    assert found == {"/w/x.key": PathKind.FILE, "/w/l.key": PathKind.OTHER}


def test_the_authors_depth_counts_from_the_start_of_each_glob() -> None:
    nodes: dict[str, Node] = {f"/w/{'d/' * level}x.key": File() for level in range(4)}
    assert walk(InMemoryView(nodes), "/w/**/*.key", max_depth=2) == {"/w/x.key", "/w/d/x.key"}
    assert walk(InMemoryView(nodes), "/w/**/*.key", "/w/d/d/**/*.key", max_depth=1) == {
        "/w/x.key",
        "/w/d/d/x.key",
    }


@pytest.mark.parametrize("pattern", ["/**/x", "/*", "/*/x/*.key", "/"])
def test_a_glob_from_the_root_is_refused(pattern: str) -> None:
    with pytest.raises(BindError, match="root"):
        walk(InMemoryView(), pattern)


def test_a_missing_or_plain_start_matches_nothing() -> None:
    view = InMemoryView({"/w/file": File()})
    assert walk(view, "/none/**/*.key", "/w/file/*.key") == set()


@pytest.mark.parametrize(
    ("limit", "cause"),
    [
        ("MAX_GLOB_MATCHES", "match more than"),
        ("MAX_GLOB_DIRECTORIES", "listed"),
        ("MAX_GLOB_DEPTH", "levels deep"),
    ],
)
def test_every_limit_names_a_glob(monkeypatch: pytest.MonkeyPatch, limit: str, cause: str) -> None:
    monkeypatch.setattr(expansion, limit, 2)
    view = InMemoryView({f"/w/{'d/' * level}x.key": File() for level in range(5)})
    with pytest.raises(BindError, match=cause) as refusal:
        walk(view, "/w/**/*.key")
    assert "`/w/**/*.key`" in refusal.value.message
    assert refusal.value.hint


def test_a_pattern_without_spans_is_not_stopped_by_deep_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expansion, "MAX_GLOB_DEPTH", 3)
    view = InMemoryView({f"/w/{'d/' * level}x.key": File() for level in range(9)})
    assert walk(view, "/w/*/*.key") == {"/w/d/x.key"}
