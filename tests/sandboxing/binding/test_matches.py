"""Deny globs bound on a machine: patterns for what appears later, rules for what is there."""

from __future__ import annotations

import pytest

from sandboxing.binding.bound import (
    PathKind,
    RuleOrigin,
    Tier,
)
from sandboxing.binding.decide import decide
from sandboxing.profile.access import Access
from tests.fakes.filesystem import Directory, File, Node, Symlink
from tests.sandboxing.binding.subjects import (
    DENY,
    WRITE,
    bind,
    entry,
    places,
    reasons,
    sealed,
)


class TestGlobs:
    def test_a_match_becomes_a_rule_and_the_pattern_stays(self) -> None:
        tree: dict[str, Node] = {"/w/a.key": File(), "/w/d/b.key": Directory(), "/w/d/b.key/inner": File()}
        bound = bind([entry("glob /w/**/*.key", DENY)], tree=tree)
        assert places(bound, RuleOrigin.GLOB_MATCH) == {("/w/a.key", DENY), ("/w/d/b.key", DENY)}
        assert [glob.pattern for glob in bound.globs] == ["/w/**/*.key"]

    @pytest.mark.parametrize(
        ("pattern", "patterns"),
        [
            ("*.key", ["/w/*.key"]),
            ("./sub/*.key", ["/w/sub/*.key"]),
            ("~/*.key", ["/home/u/*.key"]),
            ("codex-project-roots://**/*.key", ["/w/**/*.key", "/x[[]1[]]/**/*.key"]),
            ("/w/{a,b}/*.key", ["/w/a/*.key", "/w/b/*.key"]),
        ],
    )
    def test_patterns_are_read_from_where_they_belong(self, pattern: str, patterns: list[str]) -> None:
        bound = bind([entry(f"glob {pattern}", DENY)], roots=("/w", "/x[1]"))
        assert [glob.pattern for glob in bound.globs] == patterns

    def test_links_in_the_fixed_beginning_are_resolved(self) -> None:
        tree: dict[str, Node] = {"/lnk": Symlink("/real{1}"), "/real{1}/a.key": File()}
        bound = bind([entry("glob /lnk/*.key", DENY)], tree=tree)
        assert [glob.pattern for glob in bound.globs] == ["/lnk/*.key", "/real[{]1[}]/*.key"]
        assert not decide(bound, Access.READ, "/real{1}/a.key").allowed
        assert places(bound, RuleOrigin.GLOB_MATCH) == {("/real{1}/a.key", DENY)}

    def test_a_matched_link_denies_what_it_leads_to(self) -> None:
        tree: dict[str, Node] = {"/w/a.key": Symlink("/data/k"), "/data/k": File()}
        (rule,) = bind([entry("glob /w/*.key", DENY)], tree=tree).rules
        assert (rule.path, rule.spelled, rule.kind) == ("/data/k", "/w/a.key", PathKind.FILE)
        assert [link.target for link in rule.links] == ["/data/k"]

    @pytest.mark.parametrize("target", ["/", ".", "/w"])
    def test_a_matched_link_cannot_deny_the_workspace(self, target: str) -> None:
        tree: dict[str, Node] = {"/w/a.key": Symlink(target)}
        bound = bind([entry("/w", WRITE), entry("glob /w/*.key", DENY)], tree=tree)
        assert decide(bound, Access.WRITE, "/w/x").allowed
        assert not decide(bound, Access.READ, "/w/a.key").allowed
        assert "holds the workspace" in reasons(bound)[0]

    def test_a_matched_link_in_a_circle_is_denied_and_stops_nothing(self) -> None:
        bound = bind([entry("glob /w/*.key", DENY)], tree={"/w/a.key": Symlink("a.key")})
        assert places(bound, RuleOrigin.GLOB_MATCH) == {("/w/a.key", DENY)}

    def test_the_authors_scan_depth_is_kept(self) -> None:
        tree: dict[str, Node] = {"/w/a.key": File(), "/w/d/b.key": File()}
        bound = bind([entry("glob /w/**/*.key", DENY)], tree=tree, scan_depth=1)
        assert places(bound, RuleOrigin.GLOB_MATCH) == {("/w/a.key", DENY)}
        assert not decide(bound, Access.READ, "/w/d/b.key").allowed

    def test_a_sealed_glob_seals_its_matches(self) -> None:
        bound = bind([], tree={"/w/a.key": File()}, extras=sealed("glob /w/*.key"))
        assert [rule.tier for rule in bound.rules] == [Tier.SEALED]
        assert [glob.tier for glob in bound.globs] == [Tier.SEALED]
