"""The oracle: precedence as properties, against a small oracle written straight from the rules."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandboxing.binding.bound import (
    BoundGlob,
    BoundPolicy,
    FilesystemKind,
    NetworkMode,
    PathKind,
    RuleOrigin,
    Tier,
)
from sandboxing.binding.decide import (
    DecisionIndex,
    decide,
    decide_network,
    full_disk_read,
    full_disk_write,
    has_read_denies,
    mode_of,
    platform_defaults,
)
from sandboxing.paths.native import PathDialect
from sandboxing.policyfile.settings import TmpPlacement
from sandboxing.profile.access import Access, AccessMode
from sandboxing.profile.entries import Entry
from sandboxing.profile.resolve import resolve_access
from tests.fakes.filesystem import Directory, File, Node, Symlink
from tests.sandboxing.binding.subjects import DENY, FACTS, READ, WRITE, bind, entry, sealed

NAMES = ("a", "b", ".git", "w", "ab")
PATHS = st.lists(st.sampled_from(NAMES), max_size=4).map(lambda names: "/" + "/".join(names))
ENTRIES = st.lists(st.builds(entry, PATHS, st.sampled_from(AccessMode)), max_size=8)
SEALED = st.lists(PATHS.filter(lambda path: path != "/"), max_size=2)


def naive(entries: list[Entry], closed: list[str], access: Access, path: str) -> bool:
    """The rules once more, by brute force over text split at slashes."""

    def parts(text: str) -> list[str]:
        return [name for name in text.split("/") if name]

    def within(inner: str, outer: str) -> bool:
        return parts(inner)[: len(parts(outer))] == parts(outer)

    rules = [(str(item.path.path), item.access) for item in entries if item.path.type == "path"]
    if any(within(path, place) for place in closed):
        return False
    covering = [(len(parts(place)), mode) for place, mode in rules if within(path, place)]
    depth = max((length for length, _ in covering), default=None)
    modes = {mode for length, mode in covering if length == depth}
    if not modes or DENY in modes:
        return False
    if access is not Access.WRITE:
        return True
    if WRITE not in modes:
        return False
    written = [place for place, mode in rules if mode is WRITE]
    narrowed = any(mode is DENY or (mode is READ and place not in written) for place, mode in rules)
    if "/" in written and not narrowed and not closed:
        return True
    assert depth is not None
    return parts(path)[depth : depth + 1] != [".git"]


@given(ENTRIES, SEALED, st.sampled_from(Access), PATHS)
def test_the_oracle_agrees_with_a_naive_one(
    entries: list[Entry], closed: list[str], access: Access, path: str
) -> None:
    bound = bind(entries, extras=sealed(*closed))
    assert decide(bound, access, path).allowed is naive(entries, closed, access, path)


@given(ENTRIES, PATHS)
def test_path_rules_are_those_of_the_shared_resolver(entries: list[Entry], path: str) -> None:
    bound = bind(entries)
    winner = resolve_access(bound.rules, path, PathDialect.POSIX)
    assert mode_of(bound, path) is (winner.access if winner else DENY)


@given(ENTRIES.flatmap(lambda some: st.tuples(st.just(some), st.permutations(some))), PATHS)
def test_the_order_of_entries_decides_nothing(pair: tuple[list[Entry], list[Entry]], path: str) -> None:
    one, other = (DecisionIndex(bind(entries)) for entries in pair)
    for access in Access:
        assert one.decide(access, path).allowed is other.decide(access, path).allowed


@given(ENTRIES, PATHS)
def test_on_one_path_deny_beats_write_beats_read(entries: list[Entry], path: str) -> None:
    written = bind([*entries, entry(path, READ), entry(path, WRITE)])
    others = {item.access for item in entries if item.path.type == "path" and str(item.path.path) == path}
    assert mode_of(written, path) is (DENY if DENY in others else WRITE)
    assert mode_of(bind([*entries, entry(path, WRITE), entry(path, DENY)]), path) is DENY


@given(ENTRIES, ENTRIES, SEALED, PATHS)
def test_no_grant_reopens_a_sealed_deny(
    entries: list[Entry], grants: list[Entry], closed: list[str], path: str
) -> None:
    before = DecisionIndex(bind(entries, extras=sealed(*closed)))
    after = DecisionIndex(bind([*entries, *grants], extras=sealed(*closed)))
    for place in closed:
        for probe in (place, f"{place}{path}"):
            assert not before.decide(Access.READ, probe).allowed
            assert not after.decide(Access.READ, probe).allowed


@given(ENTRIES, PATHS)
def test_write_includes_read_and_exec_is_read(entries: list[Entry], path: str) -> None:
    index = DecisionIndex(bind(entries))
    read = index.decide(Access.READ, path)
    assert index.decide(Access.EXECUTE, path).allowed is read.allowed
    assert read.allowed or not index.decide(Access.WRITE, path).allowed


@given(ENTRIES, PATHS)
def test_mode_tells_what_every_access_would_get(entries: list[Entry], path: str) -> None:
    index = DecisionIndex(bind(entries))
    mode = index.decide(Access.READ, path).mode
    assert index.decide(Access.READ, path).allowed is mode.can_read
    assert index.decide(Access.WRITE, path).allowed is mode.can_write


def test_losers_are_named_strongest_first() -> None:
    entries = [entry("/", READ), entry("/w", WRITE), entry("/w/a", DENY), entry("/w/a", READ)]
    decision = decide(bind(entries), Access.READ, "/w/a/x")
    assert decision.rule is not None
    assert decision.rule.pointer == "/entries/2"
    assert [rule.pointer for rule in decision.losers] == ["/entries/3", "/entries/1", "/entries/0"]
    assert decision.reason == "`/w/a` is denied"


def test_without_a_rule_there_is_no_winner_to_name() -> None:
    decision = decide(bind([entry("/w", WRITE)]), Access.READ, "/etc")
    assert (decision.allowed, decision.rule, decision.reason) == (False, None, "no rule grants the path")


def test_relative_paths_are_read_from_the_policy_cwd() -> None:
    bound = bind([entry("/w", WRITE)])
    assert decide(bound, Access.WRITE, "a").allowed
    assert not decide(bound, Access.WRITE, "../a").allowed


def test_a_path_with_nul_is_denied() -> None:
    assert not decide(bind([entry("/", READ)]), Access.READ, "/a\0b").allowed


def test_component_boundaries_are_respected() -> None:
    bound = bind([entry("/w", WRITE), entry("/w/a", DENY)])
    assert decide(bound, Access.WRITE, "/w/ab").allowed
    assert not decide(bound, Access.WRITE, "/wx").allowed


@pytest.mark.parametrize("kind", [FilesystemKind.UNRESTRICTED, FilesystemKind.EXTERNAL])
def test_an_unrestricted_file_system_gives_write_everywhere(kind: FilesystemKind) -> None:
    bound = replace(bind([entry("/w", DENY)]), filesystem=kind)
    assert decide(bound, Access.WRITE, "/w/.git/x").allowed
    assert mode_of(bound, "/anything") is WRITE
    assert full_disk_read(bound)
    assert full_disk_write(bound)
    assert not has_read_denies(bound)


@pytest.mark.parametrize("mode", NetworkMode)
def test_the_network_switch_names_its_rule(mode: NetworkMode) -> None:
    bound = replace(bind([]), network=mode)
    decision = decide_network(bound)
    assert decision.allowed is (mode is NetworkMode.ENABLED)
    assert decision.rule == bound.network_rule


def test_a_deny_glob_holds_for_files_that_appear_later_and_below_matched_directories() -> None:
    bound = bind([entry("/w", WRITE), entry("glob /w/**/secret*", DENY)])
    for path in ("/w/secret.txt", "/w/a/b/secrets", "/w/secret.d/inner/file"):
        decision = decide(bound, Access.READ, path)
        assert not decision.allowed
        assert decision.rule is not None
        assert decision.rule.pointer == "/entries/1"
    assert decide(bound, Access.WRITE, "/w/not-secret").allowed


def test_no_grant_reopens_a_deny_glob() -> None:
    entries = [entry("/w", WRITE), entry("glob /w/*.d", DENY), entry("/w/x.d/open", WRITE)]
    bound = bind(entries, tree={"/w/x.d/open": Directory()})
    assert not decide(bound, Access.READ, "/w/x.d/open/file").allowed
    assert mode_of(bound, "/w/x.d/open/file") is WRITE


def test_what_a_matched_link_leads_to_is_denied() -> None:
    tree: dict[str, Node] = {"/w/a.key": Symlink("/data/key"), "/data/key": File()}
    bound = bind([entry("/", READ), entry("glob /w/*.key", DENY)], tree=tree)
    assert not decide(bound, Access.READ, "/data/key").allowed
    assert not decide(bound, Access.READ, "/w/a.key").allowed
    assert decide(bound, Access.READ, "/data/other").allowed


def test_platform_defaults_add_reading_and_take_no_writing() -> None:
    minimal = entry(":minimal", READ)
    tree = {"/usr/lib": Directory(), "/bin": Directory()}
    alone = bind([minimal], tree=tree)
    assert decide(alone, Access.EXECUTE, "/usr/bin/env").allowed
    assert not decide(alone, Access.READ, "/etc/passwd").allowed
    assert platform_defaults(alone)
    written = bind([entry(":root", WRITE), entry("/x", DENY), minimal], tree=tree)
    assert decide(written, Access.WRITE, "/usr/lib/x").allowed


def test_platform_defaults_survive_a_denied_root_and_nothing_deeper() -> None:
    minimal = entry(":minimal", READ)
    facts = replace(FACTS, platform_read_roots=("/usr/lib",))
    tree = {"/usr/lib": Directory()}
    assert decide(
        bind([entry(":root", DENY), minimal], tree=tree, facts=facts), Access.READ, "/usr/lib/x"
    ).allowed
    assert not decide(
        bind([entry("/usr", DENY), minimal], tree=tree, facts=facts), Access.READ, "/usr/lib/x"
    ).allowed


def test_read_only_globs_narrow_writes_at_any_depth_until_a_rule_names_the_place() -> None:
    hooks = BoundGlob(rule=bind([]).network_rule, pattern="/**/.git/hooks")
    bound = replace(bind([entry("/w", WRITE), entry("/w/b/.git/hooks", WRITE)]), read_only_globs=(hooks,))
    decision = decide(bound, Access.WRITE, "/w/a/.git/hooks/pre-commit")
    assert (decision.allowed, decision.mode, decision.rule) == (False, READ, hooks.rule)
    assert decide(bound, Access.WRITE, "/w/a/.git/index").allowed
    assert decide(bound, Access.WRITE, "/w/b/.git/hooks/pre-commit").allowed


def test_presets_do_not_hold_in_a_private_tmp() -> None:
    hooks = BoundGlob(rule=bind([]).network_rule, pattern="/**/.git/hooks")
    bound = bind([entry("/w", WRITE)])
    tmp = replace(bound.rules[0], path="/tmp", spelled="/tmp", origin=RuleOrigin.PRIVATE_TMP)
    bound = replace(bound, rules=(tmp,), tmp=TmpPlacement.PRIVATE, read_only_globs=(hooks,))
    assert decide(bound, Access.WRITE, "/tmp/clone/.git/hooks/sample").allowed


def test_a_narrowing_rule_holds_the_link_that_it_was_given_as() -> None:
    bound = bind(
        [entry("/w", WRITE), entry("/w/docs", READ)],
        tree={"/w/docs": Symlink("real"), "/w/real": Directory()},
    )
    assert not decide(bound, Access.WRITE, "/w/real/page").allowed
    assert not decide(bound, Access.WRITE, "/w/docs").allowed


def test_a_writable_rule_does_not_make_its_own_link_writable() -> None:
    bound = bind([entry("/lnk", WRITE)], tree={"/lnk": Symlink("/data"), "/data": Directory()})
    assert decide(bound, Access.WRITE, "/data/x").allowed
    assert not decide(bound, Access.WRITE, "/lnk").allowed


def test_windows_names_are_compared_as_windows_does() -> None:
    bound = BoundPolicy(
        name="test",
        filesystem=FilesystemKind.RESTRICTED,
        rules=tuple(
            replace(rule, path=path, spelled=path, kind=PathKind.DIRECTORY)
            for rule, path in zip(
                bind([entry("/a", WRITE), entry("/b", DENY)]).rules,
                ("C:\\Work", "C:\\work\\Secret"),
                strict=True,
            )
        ),
        network=NetworkMode.RESTRICTED,
        network_rule=bind([]).network_rule,
        cwd="C:\\Work",
        workspace_roots=(),
        globs=(BoundGlob(rule=bind([]).network_rule, pattern="C:\\Work\\**\\*.key", tier=Tier.SEALED),),
        protected_names=(".git",),
        dialect=PathDialect.WINDOWS,
    )
    assert decide(bound, Access.WRITE, "c:/WORK/a").allowed
    assert not decide(bound, Access.READ, "C:\\WORK\\SECRET.\\x").allowed
    assert not decide(bound, Access.READ, "C:\\work\\a\\B.KEY").allowed
    assert not decide(bound, Access.WRITE, "C:\\work\\.GIT\\config").allowed
