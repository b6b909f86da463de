"""The bare resolver: longest path, then strength, never order; and the reference's vectors."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandboxing.paths.native import PathDialect
from sandboxing.profile.access import AccessMode
from sandboxing.profile.resolve import PathRule, RuleIndex, resolve_access
from tests.strategies import accesses, small_paths

POSIX = PathDialect.POSIX
R, W, D = AccessMode.READ, AccessMode.WRITE, AccessMode.DENY

rules = st.lists(st.builds(PathRule, small_paths, accesses), max_size=8)

VECTORS: list[tuple[list[tuple[str, AccessMode]], str, AccessMode]] = [
    ([], "/w/a", D),
    ([("/", R)], "/etc/x", R),
    ([("/", R), ("/w", W)], "/w/a", W),
    ([("/w", W), ("/w", D)], "/w/a", D),
    ([("/w", R), ("/w", W)], "/w/a", W),
    ([("/w", D), ("/w/p", R)], "/w/p/x", R),
    ([("/", W), ("/etc", R)], "/etc/x", R),
    ([("/", W), ("/etc", R), ("/etc", W)], "/etc/x", W),
    ([("/", D), ("/w", W)], "/x", D),
    ([("/", D), ("/w", W)], "/w/a", W),
    ([("/w", W)], "/w/../x", D),
    ([("/w/docs", R), ("/w", W)], "/w/docs/a", R),
    ([("/w", W)], "/ww", D),
]


@pytest.mark.parametrize(("given_rules", "path", "access"), VECTORS)
def test_the_vectors(given_rules: list[tuple[str, AccessMode]], path: str, access: AccessMode) -> None:
    listed = [PathRule(*rule) for rule in given_rules]
    winner = resolve_access(listed, path, POSIX)
    assert (winner.access if winner else D) is access
    assert RuleIndex(listed, POSIX).access(path) is access


@given(rules, small_paths)
def test_the_index_gives_the_resolvers_answer(listed: list[PathRule], path: str) -> None:
    assert RuleIndex(listed, POSIX).winner(path) == resolve_access(listed, path, POSIX)


@given(st.data(), rules, small_paths)
def test_order_and_repetition_decide_nothing(data: st.DataObject, listed: list[PathRule], path: str) -> None:
    shuffled = data.draw(st.permutations(listed + listed))
    assert resolve_access(shuffled, path, POSIX) == resolve_access(listed, path, POSIX)


@given(rules, small_paths)
def test_a_deny_at_the_path_itself_always_wins(listed: list[PathRule], path: str) -> None:
    winner = resolve_access([*listed, PathRule(path, D)], path, POSIX)
    assert winner is not None
    assert winner.access is D


@given(rules, small_paths)
def test_the_winner_covers_the_path_and_no_rule_is_nearer(listed: list[PathRule], path: str) -> None:
    winner = resolve_access(listed, path, POSIX)
    covering = [rule for rule in listed if POSIX.is_within(path, rule.path)]
    if winner is None:
        assert covering == []
        return
    assert winner in covering
    assert all(POSIX.depth(rule.path) <= POSIX.depth(winner.path) for rule in covering)


def test_windows_rules_cover_every_spelling() -> None:
    winner = resolve_access(
        [PathRule("C:\\Secret", D), PathRule("C:\\", W)], "c:/SECRET./x", PathDialect.WINDOWS
    )
    assert winner == PathRule("C:\\Secret", D)
