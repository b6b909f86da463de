"""Binding: what symbols, globs, links and protected names become on a machine."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandboxing.binding.bind import PolicyExtras, bind_profile
from sandboxing.binding.bound import (
    BoundPolicy,
    FilesystemKind,
    NetworkMode,
    PathKind,
    RuleOrigin,
    Tier,
    TmpPlacement,
)
from sandboxing.binding.decide import decide
from sandboxing.errors import BindError
from sandboxing.paths.native import PathDialect
from sandboxing.profile.access import Access, AccessMode
from sandboxing.profile.permission import PermissionProfile, decode_profile
from sandboxing.profile.rule_id import RuleId
from tests.fakes.filesystem import Directory, File, InMemoryView, Node, Symlink
from tests.sandboxing.binding.subjects import DENY, FACTS, READ, WRITE, bind, entry, rule_ids, sealed

PRIVATE = PolicyExtras(tmp=TmpPlacement.PRIVATE)


def places(bound: BoundPolicy, origin: RuleOrigin = RuleOrigin.ENTRY) -> set[tuple[str, AccessMode]]:
    return {(rule.path, rule.access) for rule in bound.rules if rule.origin is origin}


def reasons(bound: BoundPolicy) -> list[str]:
    return [unbound.reason for unbound in bound.unbound]


class TestSymbols:
    @pytest.mark.parametrize(
        ("place", "bound_to"),
        [
            (":root", {"/"}),
            (":roots", {"/w", "/x"}),
            (":roots/docs/a", {"/w/docs/a", "/x/docs/a"}),
            (":roots/.", {"/w", "/x"}),
            (":slash_tmp", {"/tmp"}),
            (":tmpdir", {"/var/tmp/u"}),
            ("~", {"/home/u"}),
            ("~/.ssh", {"/home/u/.ssh"}),
            ("file:///a%20b", {"/a b"}),
            ("/a/../b//c", {"/b/c"}),
        ],
    )
    def test_places(self, place: str, bound_to: set[str]) -> None:
        facts = replace(FACTS, tmpdir="/var/tmp/u")
        bound = bind([entry(place, READ)], facts=facts, roots=("/w", "/x"))
        assert {path for path, _ in places(bound)} == bound_to
        assert {rule.rule for rule in bound.rules} == set(rule_ids(1))

    @pytest.mark.parametrize(
        ("place", "access", "reason"),
        [
            (":roots", WRITE, "there is no workspace root"),
            ("glob codex-project-roots://**/x", DENY, "there is no workspace root"),
            (":tmpdir", WRITE, "TMPDIR is not set here"),
            (":slash_tmp", WRITE, "`/tmp` is no directory here"),
            (":unknown", READ, "the symbol `:new` is not known here"),
            (":minimal", DENY, "`minimal` can be granted, not denied"),
            ("glob /w/*", WRITE, "a glob has an effect with `deny` only, not with `write`"),
            ("glob /w/*", READ, "a glob has an effect with `deny` only, not with `read`"),
        ],
    )
    def test_what_has_no_effect_says_why(self, place: str, access: AccessMode, reason: str) -> None:
        bound = bind([entry(place, access)], facts=replace(FACTS, slash_tmp=None), roots=())
        assert bound.rules == ()
        assert reasons(bound) == [reason]

    def test_minimal_is_what_exists_of_the_platforms_roots(self) -> None:
        bound = bind([entry(":minimal", WRITE)], tree={"/bin": Symlink("usr/bin")})
        assert [(rule.spelled, rule.path, rule.access) for rule in bound.rules] == [
            ("/usr", "/usr", READ),
            ("/bin", "/usr/bin", READ),
        ]
        assert {rule.origin for rule in bound.rules} == {RuleOrigin.PLATFORM_DEFAULT}

    def test_a_foreign_path_is_refused(self) -> None:
        with pytest.raises(BindError, match="cannot bind `C:"):
            bind([entry("C:\\x", READ)])

    def test_home_must_be_known_to_be_named(self) -> None:
        facts = replace(FACTS, home=None)
        for place in ("~/.ssh", "glob ~/*.key"):
            with pytest.raises(BindError, match="home directory is not known"):
                bind([entry(place, DENY)], facts=facts)

    def test_the_root_on_windows_is_the_drive_of_the_policy_cwd(self) -> None:
        facts = replace(FACTS, dialect=PathDialect.WINDOWS, cwd="D:\\w", home="C:\\u", slash_tmp=None)
        profile = decode_profile(
            {
                "type": "managed",
                "network": "restricted",
                "file_system": {
                    "type": "restricted",
                    "entries": [{"path": {"type": "special", "value": {"kind": "root"}}, "access": "read"}],
                },
            }
        )
        bound = bind_profile(
            profile,
            name="test",
            entry_rules=rule_ids(1),
            facts=facts,
            view=InMemoryView(dialect=PathDialect.WINDOWS),
            cwd="d:/w",
            workspace_roots=("D:\\w",),
        )
        assert places(bound) == {("D:\\", READ)}


class TestRegimes:
    @pytest.mark.parametrize(
        ("raw", "kind", "network"),
        [
            ({"type": "disabled"}, FilesystemKind.UNRESTRICTED, NetworkMode.ENABLED),
            ({"type": "external", "network": "restricted"}, FilesystemKind.EXTERNAL, NetworkMode.RESTRICTED),
            (
                {"type": "managed", "network": "enabled", "file_system": {"type": "unrestricted"}},
                FilesystemKind.UNRESTRICTED,
                NetworkMode.ENABLED,
            ),
        ],
    )
    def test_regime_and_network(
        self, raw: dict[str, object], kind: FilesystemKind, network: NetworkMode
    ) -> None:
        bound = self.bound(decode_profile(raw), PolicyExtras())
        assert (bound.filesystem, bound.network, bound.rules) == (kind, network, ())

    def test_sealed_rules_turn_an_unrestricted_file_system_into_a_writable_root(self) -> None:
        raw: dict[str, object] = {
            "type": "managed",
            "network": "restricted",
            "file_system": {"type": "unrestricted"},
        }
        bound = self.bound(decode_profile(raw), sealed("/home/u/.ssh"))
        assert bound.filesystem is FilesystemKind.RESTRICTED
        assert decide(bound, Access.WRITE, "/etc/x").allowed
        assert not decide(bound, Access.READ, "/home/u/.ssh/id").allowed

    @pytest.mark.parametrize("kind", ["disabled", "external"])
    def test_sealed_rules_need_a_profile_that_holds_them(self, kind: str) -> None:
        with pytest.raises(BindError, match="sealed"):
            self.bound(
                decode_profile({"type": kind} | ({"network": "restricted"} if kind == "external" else {})),
                sealed("/x"),
            )

    def test_a_private_tmp_needs_a_restricted_file_system(self) -> None:
        bound = self.bound(decode_profile({"type": "disabled"}), PRIVATE)
        assert bound.tmp is TmpPlacement.HOST
        assert len(bound.unbound) == 1

    @staticmethod
    def bound(profile: PermissionProfile, extras: PolicyExtras) -> BoundPolicy:
        return bind_profile(
            profile,
            name="test",
            entry_rules=(),
            facts=FACTS,
            view=InMemoryView(),
            cwd="/w",
            workspace_roots=("/w",),
            extras=extras,
        )


class TestOrder:
    ENTRIES = st.lists(
        st.builds(
            entry,
            st.sampled_from(["/w", "/w/a", ":root", ":roots", "~/x", ":slash_tmp", "glob /w/**/*.key"]),
            st.sampled_from(AccessMode),
        ),
        max_size=6,
    )

    @given(ENTRIES)
    def test_binding_is_deterministic(self, entries: list[object]) -> None:
        tree = {"/w/.git": Directory(), "/w/a/x.key": File()}
        assert bind(entries, tree=tree) == bind(entries, tree=tree)  # type: ignore[arg-type]  # built by `entry`

    @given(ENTRIES)
    def test_directories_come_before_what_is_in_them(self, entries: list[object]) -> None:
        bound = bind(entries, tree={"/w/.git": Directory()})  # type: ignore[arg-type]  # built by `entry`
        keys = [(PathDialect.POSIX.components(rule.path), rule.access.strength) for rule in bound.rules]
        assert keys == sorted(keys)

    def test_duplicates_are_kept_with_their_origins(self) -> None:
        bound = bind([entry("/a", READ), entry("/a", READ)])
        assert [rule.rule.pointer for rule in bound.rules] == ["/entries/0", "/entries/1"]

    def test_ten_thousand_entries_bind(self) -> None:
        modes = (READ, WRITE, DENY)
        entries = [entry(f"/w/d{at % 100}/e{at}", modes[at % 3]) for at in range(10_000)]
        bound = bind(entries)
        assert len(bound.rules) == 10_000
        assert decide(bound, Access.WRITE, "/w/d1/e1/x").allowed
        assert not decide(bound, Access.READ, "/w/d2/e2/x").allowed


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
            ("codex-project-roots://**/*.key", ["/w/**/*.key", "/x[[]1]/**/*.key"]),
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
        extras = PolicyExtras(protect=(".hg", ".hg"), protect_rules=rule_ids(2, pointer="/protect"))
        bound = bind(
            [entry("/w", WRITE)], tree={"/w/.hg": Directory(), "/w/.git": Directory()}, extras=extras
        )
        assert (bound.protected_names, bound.protected_rules) == ((".hg",), rule_ids(1, pointer="/protect"))
        assert not decide(bound, Access.WRITE, "/w/.hg/x").allowed
        assert decide(bound, Access.WRITE, "/w/.git/x").allowed

    @pytest.mark.parametrize(
        "path",
        ["/w/a/.git/hooks/pre-commit", "/w/.git/config", "/w/a/.git/modules/lib/x/hooks/post-merge"],
    )
    def test_the_git_hooks_preset_holds_at_any_depth(self, path: str) -> None:
        extras = PolicyExtras(protect=("git-hooks",), protect_rules=rule_ids(1, pointer="/protect"))
        bound = bind([entry("/w", WRITE)], extras=extras)
        decision = decide(bound, Access.WRITE, path)
        assert (decision.allowed, decision.rule) == (False, rule_ids(1, pointer="/protect")[0])
        assert decide(bound, Access.READ, path).allowed
        assert decide(bound, Access.WRITE, "/w/a/.git/index").allowed


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


def test_a_rule_keeps_both_spellings_and_the_links_between() -> None:
    (rule,) = bind([entry("/lnk/x", READ)], tree={"/lnk": Symlink("/real"), "/real/x": File()}).rules
    assert (rule.spelled, rule.path, rule.kind) == ("/lnk/x", "/real/x", PathKind.FILE)
    assert [link.path for link in rule.links] == ["/lnk"]


def test_skipping_is_told_to_planners() -> None:
    (rule,) = bind([entry("/none", READ, skip=True)]).rules
    assert (rule.kind, rule.skip_missing) == (PathKind.MISSING, True)


@pytest.mark.parametrize("roots", [("w",), ("/w", "C:\\w")])
def test_workspace_roots_must_be_native_and_absolute(roots: tuple[str, ...]) -> None:
    with pytest.raises(BindError, match="cannot bind workspace root"):
        bind([], roots=roots)
