"""Probes: a plan that differs from the oracle anywhere differs from it at a probe."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from sandboxing.binding.bound import FilesystemKind
from sandboxing.binding.boundaries import PROBE_NAME, probe_paths
from sandboxing.binding.decide import DecisionIndex
from sandboxing.profile.access import Access, AccessMode
from tests.fakes.filesystem import File
from tests.sandboxing.binding.subjects import READ, WRITE, bind, entry

NAMES = ("a", "b", ".git", "ab")
PATHS = st.lists(st.sampled_from(NAMES), max_size=4).map(lambda names: "/" + "/".join(names))
ENTRIES = st.lists(st.tuples(PATHS, st.sampled_from(AccessMode)), max_size=5)


def test_both_sides_of_a_rule_are_probed() -> None:
    probes = probe_paths(bind([entry("/w/a", READ)]))
    for path in ("/", "/w", "/w/a", f"/w/a/{PROBE_NAME}", f"/w/{PROBE_NAME}", f"/w/a{PROBE_NAME}"):
        assert path in probes


def test_protected_names_are_probed_where_they_hold_and_where_they_do_not() -> None:
    probes = probe_paths(bind([entry("/w", WRITE)]))
    for path in ("/w/.git", f"/w/.git/{PROBE_NAME}", f"/w/{PROBE_NAME}/.git"):
        assert path in probes


def test_nothing_is_probed_below_a_file() -> None:
    probes = probe_paths(bind([entry("/w/f", WRITE)], tree={"/w/f": File()}))
    assert not [path for path in probes if path.startswith("/w/f/")]


def test_probes_are_sorted_and_unique() -> None:
    probes = probe_paths(bind([entry("/w", WRITE), entry("/w", READ), entry("/w/a", READ)]))
    assert len(set(probes)) == len(probes)
    assert list(probes) == sorted(probes, key=lambda path: path.split("/"))


def test_an_unrestricted_policy_has_no_edges() -> None:
    bound = replace(bind([entry("/x", WRITE)]), filesystem=FilesystemKind.UNRESTRICTED)
    assert probe_paths(bound) == ("/", "/w")


@given(ENTRIES, ENTRIES)
def test_policies_that_agree_at_the_probes_of_both_agree_everywhere(
    ours: list[tuple[str, AccessMode]], theirs: list[tuple[str, AccessMode]]
) -> None:
    one, other = (bind([entry(*pair) for pair in pairs]) for pairs in (ours, theirs))
    first, second = DecisionIndex(one), DecisionIndex(other)
    probes = {*probe_paths(one), *probe_paths(other)}
    if any(first.decide(Access.READ, path).mode != second.decide(Access.READ, path).mode for path in probes):
        return
    everywhere = ["/" + "/".join(names) for names in _combinations(depth=4)]
    for path in everywhere:
        assert first.decide(Access.READ, path).mode is second.decide(Access.READ, path).mode, path


def _combinations(*, depth: int) -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = [()]
    for names in found:
        if len(names) < depth:
            found.extend((*names, name) for name in (*NAMES, "c"))
    return found
