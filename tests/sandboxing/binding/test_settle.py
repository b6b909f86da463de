"""Drafts settled on a machine: a private `/tmp`, and links that the command may have made."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sandboxing.binding.bound import (
    RuleOrigin,
)
from sandboxing.binding.decide import decide
from sandboxing.errors import BindError
from sandboxing.profile.access import Access, AccessMode
from sandboxing.profile.rule_id import RuleId
from tests.fakes.filesystem import Directory, InMemoryView, Node, Symlink
from tests.sandboxing.binding.subjects import (
    DENY,
    FACTS,
    PRIVATE,
    READ,
    WRITE,
    bind,
    entry,
    places,
    reasons,
)


class TestPrivateTmp:
    @pytest.mark.parametrize("place", [":slash_tmp", ":tmpdir", "/tmp"])
    @pytest.mark.parametrize("access", [READ, WRITE])
    def test_every_grant_of_it_is_one_rule(self, place: str, access: AccessMode) -> None:
        facts = replace(FACTS, tmpdir="/var/tmp/u")
        (rule,) = bind([entry(place, access)], facts=facts, extras=PRIVATE).rules
        assert (rule.path, rule.access, rule.origin) == ("/tmp", WRITE, RuleOrigin.PRIVATE_TMP)
        assert rule.rule == RuleId(source="built-in", pointer="tmp")

    @pytest.mark.parametrize("place", [":slash_tmp", "/tmp"])
    def test_a_deny_of_it_still_denies(self, place: str) -> None:
        assert not decide(bind([entry(place, DENY)], extras=PRIVATE), Access.READ, "/tmp/x").allowed

    def test_an_existing_host_path_below_it_is_more_specific(self) -> None:
        bound = bind([entry("/tmp/ws", READ)], tree={"/tmp/ws": Directory()}, extras=PRIVATE)
        assert places(bound) == {("/tmp/ws", READ)}
        assert not decide(bound, Access.WRITE, "/tmp/ws/x").allowed
        assert decide(bound, Access.WRITE, "/tmp/other").allowed

    def test_a_missing_host_path_below_it_has_no_effect(self) -> None:
        bound = bind([entry("/tmp/none", READ)], extras=PRIVATE)
        assert places(bound) == set()
        assert reasons(bound) == ["`/tmp/none` does not exist, and `/tmp` is the command's own"]

    def test_where_tmp_is_a_link_the_rule_stands_at_its_target(self) -> None:
        view = InMemoryView(
            {"/w": Directory(), "/tmp": Symlink("private/tmp"), "/private/tmp/ws": Directory()}
        )
        bound = bind([entry("/tmp/ws", READ), entry("/tmp/none", READ)], tree=view, extras=PRIVATE)
        assert places(bound, RuleOrigin.PRIVATE_TMP) == {("/private/tmp", WRITE)}
        assert places(bound) == {("/private/tmp/ws", READ)}

    def test_the_hosts_tmp_is_not_searched_for_protected_names(self) -> None:
        assert (
            places(bind([], tree={"/tmp/.git": Directory()}, extras=PRIVATE), RuleOrigin.PROTECTED_NAME)
            == set()
        )


class TestLinksOfTheCommand:
    def test_a_grant_does_not_follow_a_link_below_a_writable_rule(self) -> None:
        tree: dict[str, Node] = {"/w/out": Symlink("/home/u"), "/home/u": Directory()}
        bound = bind([entry("/w", WRITE), entry("/w/out", WRITE)], tree=tree)
        assert not decide(bound, Access.WRITE, "/home/u/.bashrc").allowed
        assert "leads to `/home/u`" in reasons(bound)[0]

    def test_a_read_rule_of_a_link_does_not_show_what_was_hidden(self) -> None:
        tree: dict[str, Node] = {"/w/.aws": Symlink("/home/u/.aws"), "/home/u/.aws": Directory()}
        bound = bind([entry(":roots", WRITE), entry(":roots/.aws", READ, skip=True)], tree=tree)
        assert not decide(bound, Access.READ, "/home/u/.aws/credentials").allowed
        assert not decide(bound, Access.WRITE, "/w/.aws").allowed

    def test_a_read_rule_that_would_have_to_hold_the_link_is_refused(self) -> None:
        tree: dict[str, Node] = {"/w/docs": Symlink("/home/u/docs"), "/home/u/docs": Directory()}
        with pytest.raises(BindError, match="could exchange the link `/w/docs`") as refusal:
            bind([entry("/w", WRITE), entry("/w/docs", READ)], tree=tree)
        assert refusal.value.hint == "write a rule for `/home/u/docs` itself"

    @pytest.mark.parametrize("access", [READ, WRITE])
    def test_a_link_to_what_is_granted_anyway_is_followed(self, access: AccessMode) -> None:
        tree: dict[str, Node] = {"/w/lnk": Symlink("real"), "/w/real": Directory()}
        bound = bind([entry("/w", WRITE), entry("/w/lnk", access)], tree=tree)
        assert ("/w/real", access) in places(bound)

    def test_a_deny_follows_every_link(self) -> None:
        tree: dict[str, Node] = {"/w/lnk": Symlink("/data"), "/data": Directory()}
        bound = bind([entry(":root", READ), entry("/w", WRITE), entry("/w/lnk", DENY)], tree=tree)
        assert not decide(bound, Access.READ, "/data/x").allowed
        assert not decide(bound, Access.WRITE, "/w/lnk").allowed

    def test_links_inside_a_workspace_are_nobodys_grant_either(self) -> None:
        tree: dict[str, Node] = {"/w/docs": Symlink("/home/u/.ssh"), "/home/u/.ssh": Directory()}
        bound = bind([entry(":roots", READ), entry(":roots/docs", READ)], tree=tree)
        assert not decide(bound, Access.READ, "/home/u/.ssh/id").allowed

    def test_links_on_the_way_to_a_workspace_are_the_callers(self) -> None:
        tree: dict[str, Node] = {"/tmp/ws": Symlink("/data/ws"), "/data/ws": Directory()}
        bound = bind([entry(":slash_tmp", WRITE), entry(":roots", WRITE)], tree=tree, roots=("/tmp/ws",))
        assert decide(bound, Access.WRITE, "/data/ws/x").allowed

    def test_links_that_only_the_system_can_make_are_followed(self) -> None:
        tree: dict[str, Node] = {"/var/run": Symlink("/run"), "/run/x": Directory()}
        bound = bind([entry("/w", WRITE), entry("/var/run/x", WRITE)], tree=tree)
        assert decide(bound, Access.WRITE, "/run/x/y").allowed

    def test_a_link_does_not_bring_back_the_hosts_tmp(self) -> None:
        tree: dict[str, Node] = {"/w/lnk": Symlink("/tmp/secret"), "/tmp/secret": Directory()}
        bound = bind([entry("/w", WRITE), entry("/w/lnk", WRITE)], tree=tree, extras=PRIVATE)
        assert ("/tmp/secret", WRITE) not in places(bound)

    def test_links_in_a_circle_stop_a_rule_unless_it_may_be_skipped(self) -> None:
        tree: dict[str, Node] = {"/w/.aws": Symlink(".aws")}
        assert len(bind([entry("/w/.aws", READ, skip=True)], tree=tree).unbound) == 1
        with pytest.raises(BindError, match="links"):
            bind([entry("/w/.aws", READ)], tree=tree)
