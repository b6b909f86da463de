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
)
from sandboxing.binding.decide import decide
from sandboxing.errors import BindError
from sandboxing.paths.native import PathDialect
from sandboxing.policyfile.settings import TmpPlacement
from sandboxing.profile.access import Access, AccessMode
from sandboxing.profile.entries import Entry
from sandboxing.profile.permission import PermissionProfile, decode_profile
from tests.fakes.filesystem import Directory, File, InMemoryView, Node, Symlink
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
    rule_ids,
    sealed,
)


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
        assert {rule.rule for rule in bound.rules} == set(rule_ids(count=1))

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
            entry_rules=rule_ids(count=1),
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
    def test_binding_is_deterministic(self, entries: list[Entry]) -> None:
        tree: dict[str, Node] = {"/w/.git": Directory(), "/w/a/x.key": File()}
        assert bind(entries, tree=tree) == bind(entries, tree=tree)

    @given(ENTRIES)
    def test_directories_come_before_what_is_in_them(self, entries: list[Entry]) -> None:
        bound = bind(entries, tree={"/w/.git": Directory()})
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
