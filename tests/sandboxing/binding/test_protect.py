"""Protected names: read-only below every writable rule, and never a way to more."""

from __future__ import annotations

import pytest

from sandboxing.binding.bind import PolicyExtras
from sandboxing.binding.bound import (
    RuleOrigin,
)
from sandboxing.binding.decide import decide
from sandboxing.profile.access import Access, AccessMode
from sandboxing.profile.rule_id import RuleId
from tests.fakes.filesystem import Directory, File, Node, Symlink
from tests.sandboxing.binding.subjects import (
    DENY,
    PRIVATE,
    READ,
    WRITE,
    bind,
    entry,
    places,
    rule_ids,
)


class TestProtectedNames:
    @pytest.mark.parametrize("name", [".git", ".agents", ".codex", ".aws"])
    @pytest.mark.parametrize("node", [Directory(), File()])
    def test_an_existing_name_below_a_writable_rule_is_read_only(self, name: str, node: Node) -> None:
        bound = bind([entry("/w", WRITE)], tree={f"/w/{name}": node})
        (rule,) = (rule for rule in bound.rules if rule.origin is RuleOrigin.PROTECTED_NAME)
        assert (rule.path, rule.access) == (f"/w/{name}", READ)
        assert rule.rule == RuleId(source="built-in", pointer=f"protected-names/{name}")
        assert not decide(bound, Access.WRITE, f"/w/{name}/x").allowed

    def test_a_missing_name_is_held_by_the_name_rule(self) -> None:
        bound = bind([entry("/w", WRITE)])
        assert places(bound, RuleOrigin.PROTECTED_NAME) == set()
        decision = decide(bound, Access.WRITE, "/w/.git")
        assert (decision.allowed, decision.mode) == (False, READ)
        assert decision.rule == RuleId(source="built-in", pointer="protected-names/.git")

    @pytest.mark.parametrize("access", AccessMode)
    @pytest.mark.parametrize("place", ["/w/.git", ":roots/.git"])
    def test_an_entry_that_names_it_takes_its_place(self, place: str, access: AccessMode) -> None:
        bound = bind([entry("/w", WRITE), entry(place, access)], tree={"/w/.git": Directory()})
        assert places(bound, RuleOrigin.PROTECTED_NAME) == set()
        assert decide(bound, Access.WRITE, "/w/.git/x").allowed is (access is WRITE)

    def test_names_are_protected_below_every_writable_rule(self) -> None:
        tree: dict[str, Node] = {"/w/.git": Directory(), "/tmp/.git": Directory(), "/w/sub/.git": Directory()}
        bound = bind([entry(":roots", WRITE), entry(":slash_tmp", WRITE)], tree=tree)
        assert places(bound, RuleOrigin.PROTECTED_NAME) == {("/w/.git", READ), ("/tmp/.git", READ)}

    def test_nothing_is_protected_when_everything_is_writable(self) -> None:
        bound = bind([entry(":root", WRITE)], tree={"/.git": Directory()})
        assert places(bound, RuleOrigin.PROTECTED_NAME) == set()

    def test_nothing_is_protected_where_a_deny_took_the_write(self) -> None:
        bound = bind([entry("/w", WRITE), entry("/w", DENY)], tree={"/w/.git": Directory()})
        assert not decide(bound, Access.READ, "/w/.git/config").allowed

    @pytest.mark.parametrize("pointer", ["gitdir: /w/repo.git/worktrees/a\n", "gitdir: repo.git/worktrees/a"])
    def test_the_repository_of_a_git_file_is_protected(self, pointer: str) -> None:
        tree: dict[str, Node] = {"/w/.git": File(pointer), "/w/repo.git/worktrees/a": Directory()}
        bound = bind([entry("/w", WRITE)], tree=tree)
        assert ("/w/repo.git/worktrees/a", READ) in places(bound, RuleOrigin.PROTECTED_NAME)

    def test_the_repository_that_a_worktree_shares_is_protected(self) -> None:
        tree: dict[str, Node] = {
            "/w/.git": File("gitdir: main/.git/worktrees/a"),
            "/w/main/.git/worktrees/a/commondir": File("../..\n"),
            "/w/main/.git/hooks": Directory(),
        }
        bound = bind([entry("/w", WRITE)], tree=tree)
        assert ("/w/main/.git", READ) in places(bound, RuleOrigin.PROTECTED_NAME)
        assert not decide(bound, Access.WRITE, "/w/main/.git/hooks/pre-commit").allowed
        assert decide(bound, Access.WRITE, "/w/main/src").allowed

    @pytest.mark.parametrize(
        "pointer", ["gitdir: /else/where", "gitdir: /w/none", "something", "gitdir:", "gitdir: a\0b"]
    )
    def test_a_pointer_to_nowhere_writable_changes_nothing(self, pointer: str) -> None:
        tree: dict[str, Node] = {"/w/.git": File(pointer), "/else/where": Directory()}
        bound = bind([entry("/w", WRITE)], tree=tree)
        assert not decide(bound, Access.READ, "/else/where").allowed
        assert decide(bound, Access.WRITE, "/w/src").allowed

    @pytest.mark.parametrize("target", ["/secret", "/else", ".codex"])
    def test_a_protected_name_that_is_a_link_makes_nothing_readable(self, target: str) -> None:
        tree: dict[str, Node] = {"/w/.codex": Symlink(target), "/secret": Directory(), "/else": Directory()}
        bound = bind([entry("/w", WRITE), entry("/secret", DENY)], tree=tree)
        assert not decide(bound, Access.READ, "/secret/x").allowed
        assert not decide(bound, Access.READ, "/else/x").allowed
        assert not decide(bound, Access.WRITE, "/w/.codex").allowed

    def test_what_a_protected_link_leads_to_is_read_only_too(self) -> None:
        tree: dict[str, Node] = {"/w/.git": Symlink("real.git"), "/w/real.git": Directory()}
        bound = bind([entry("/w", WRITE)], tree=tree)
        assert not decide(bound, Access.WRITE, "/w/real.git/config").allowed

    def test_a_protected_link_shows_nothing_of_the_hosts_tmp(self) -> None:
        tree: dict[str, Node] = {"/w/.codex": Symlink("/tmp/x"), "/tmp/x": Directory()}
        bound = bind([entry("/w", WRITE)], tree=tree, extras=PRIVATE)
        assert places(bound, RuleOrigin.PROTECTED_NAME) == set()

    def test_the_policy_names_its_own_names(self) -> None:
        extras = PolicyExtras(protect=(".hg", ".hg"), protect_rules=rule_ids(count=2, pointer="/protect"))
        bound = bind(
            [entry("/w", WRITE)], tree={"/w/.hg": Directory(), "/w/.git": Directory()}, extras=extras
        )
        assert (bound.protected_names, bound.protected_rules) == (
            (".hg",),
            rule_ids(count=1, pointer="/protect"),
        )
        assert not decide(bound, Access.WRITE, "/w/.hg/x").allowed
        assert decide(bound, Access.WRITE, "/w/.git/x").allowed

    @pytest.mark.parametrize(
        "path",
        ["/w/a/.git/hooks/pre-commit", "/w/.git/config", "/w/a/.git/modules/lib/x/hooks/post-merge"],
    )
    def test_the_git_hooks_preset_holds_at_any_depth(self, path: str) -> None:
        extras = PolicyExtras(protect=("git-hooks",), protect_rules=rule_ids(count=1, pointer="/protect"))
        bound = bind([entry("/w", WRITE)], extras=extras)
        decision = decide(bound, Access.WRITE, path)
        assert (decision.allowed, decision.rule) == (False, rule_ids(count=1, pointer="/protect")[0])
        assert decide(bound, Access.READ, path).allowed
        assert decide(bound, Access.WRITE, "/w/a/.git/index").allowed
