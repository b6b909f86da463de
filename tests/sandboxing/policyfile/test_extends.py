"""A policy on top of another: what is added, what is replaced, and who gets the blame."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from sandboxing.errors import PolicyError
from sandboxing.policyfile.decode import decode_policy
from sandboxing.policyfile.document import PolicyDocument
from sandboxing.policyfile.extends import MAX_CHAIN, BaseUnavailable
from sandboxing.policyfile.settings import EnvironmentRules, Limits, TmpPlacement, Verdict
from sandboxing.policyfile.shipped import find_policy, load_shipped
from sandboxing.profile.permission import ManagedProfile, NetworkSwitch, RestrictedFileSystem


def entry(path: str, access: str = "read") -> dict[str, object]:
    return {"path": {"type": "path", "path": path}, "access": access, "why": path}


def profile(*entries: object, **more: object) -> dict[str, object]:
    return {"type": "managed", "file_system": {"type": "restricted", "entries": list(entries)}, **more}


def policy(name: str, **more: object) -> str:
    return json.dumps({"version": 1, "name": name, **more})


def files(texts: dict[str, str]) -> Callable[[str], str]:
    def read(path: str) -> str:
        if path not in texts:
            raise FileNotFoundError(2, "No such file or directory", path)
        return texts[path]

    return read


def found(child: str, base: str) -> PolicyDocument:
    return find_policy("d/child.json", files({"d/child.json": child, "d/./base.json": base}))


def refusal(texts: dict[str, str], start: str) -> PolicyError:
    with pytest.raises(PolicyError) as caught:
        find_policy(start, files(texts))
    return caught.value


BASE = policy(
    "base",
    description="b",
    profile=profile(entry("/a"), entry("/s", "deny"), network="enabled", why="base why"),
    network={"mode": "limited", "domains": {"a.test": "allow", "b.test": "allow"}, "ports": [80, 443]},
    environment={"inherit": "core", "exclude": ["X*"], "set": {"A": "1", "B": "1"}},
    limits={"wall_s": 5, "processes": 9},
    sealed=[entry("/etc/shadow", "deny")],
    protect=[".git"],
    degrade=["one"],
    tmp="host",
    tests=[{"may": "read", "path": "/a"}],
)
NOTHING = policy("child", extends="./base.json")


def test_a_child_that_says_nothing_is_its_base_under_another_name() -> None:
    child, base = found(NOTHING, BASE), decode_policy(BASE, file="d/./base.json", load_base=None)
    assert child.name == "child"
    for field in (
        "profile", "entry_rules", "sealed", "sealed_rules", "network_rule", "filesystem_rule", "network",
        "environment", "limits", "protect", "protect_rules", "degrade", "tmp", "description",
    ):  # fmt: skip
        assert getattr(child, field) == getattr(base, field)
    assert child.tests == ()


def test_entries_are_appended_and_each_keeps_the_document_that_wrote_it() -> None:
    child = found(policy("child", extends="./base.json", profile=profile(entry("/c", "write"))), BASE)
    assert isinstance(child.profile, ManagedProfile)
    assert isinstance(child.profile.file_system, RestrictedFileSystem)
    assert [e.access.value for e in child.profile.file_system.entries] == ["read", "deny", "write"]
    assert [(rule.source, rule.pointer[-1], rule.why) for rule in child.entry_rules] == [
        ("d/./base.json", "0", "/a"),
        ("d/./base.json", "1", "/s"),
        ("d/child.json", "0", "/c"),
    ]


def test_the_network_switch_stays_until_the_child_sets_it() -> None:
    kept = found(policy("child", extends="./base.json", profile=profile()), BASE)
    assert isinstance(kept.profile, ManagedProfile)
    assert kept.profile.network is NetworkSwitch.ENABLED
    assert (kept.network_rule.source, kept.network_rule.why) == ("d/./base.json", "base why")
    switched = found(policy("child", extends="./base.json", profile=profile(network="restricted")), BASE)
    assert isinstance(switched.profile, ManagedProfile)
    assert switched.profile.network is NetworkSwitch.RESTRICTED
    assert (switched.network_rule.source, switched.network_rule.pointer) == (
        "d/child.json",
        "/profile/network",
    )


def test_blocks_are_replaced_key_by_key_and_maps_name_by_name() -> None:
    child = found(
        policy(
            "child",
            extends="./base.json",
            network={"domains": {"b.test": "deny", "c.test": "allow"}, "ports": [22]},
            environment={"exclude": ["Y*"], "set": {"B": "2"}},
            limits={"processes": 3},
            sealed=[entry("/etc/gshadow", "deny")],
            protect=[],
            degrade=[],
            tmp="private",
        ),
        BASE,
    )
    assert child.network is not None
    assert child.network.mode == "limited"
    assert child.network.domains == (
        ("a.test", Verdict.ALLOW),
        ("b.test", Verdict.DENY),
        ("c.test", Verdict.ALLOW),
    )
    assert child.network.ports == (22,)
    assert child.network.rule.source == "d/child.json"
    assert child.environment == EnvironmentRules("core", ("Y*",), (), (("A", "1"), ("B", "2")))
    assert child.limits == Limits(wall_s=5, processes=3)
    assert [rule.source for rule in child.sealed_rules] == ["d/./base.json", "d/child.json"]
    assert len(child.sealed) == 2
    assert (child.protect, child.protect_rules, child.degrade, child.tmp) == (
        (),
        (),
        frozenset(),
        TmpPlacement.PRIVATE,
    )


@pytest.mark.parametrize(
    ("child", "pointer"),
    [
        ({"type": "disabled"}, "/profile/type"),
        ({"type": "external"}, "/profile/type"),
        ({"type": "managed", "file_system": {"type": "unrestricted"}}, "/profile/file_system/type"),
    ],
)
def test_a_child_of_another_regime_cannot_drop_the_denies_of_its_base(child: object, pointer: str) -> None:
    texts = {"d/child.json": policy("child", extends="./base.json", profile=child), "d/base.json": BASE}
    texts["d/./base.json"] = BASE
    error = refusal(texts, "d/child.json")
    assert (error.file, error.pointer) == ("d/child.json", pointer)
    assert error.message.startswith("cannot extend `base`: its ")


def test_a_shipped_policy_can_be_the_base() -> None:
    base = load_shipped("workspace-write")
    child = found(policy("child", extends="workspace-write", profile=profile(entry("/cache", "write"))), BASE)
    assert child.entry_rules[:-1] == base.entry_rules
    assert child.environment == base.environment


CIRCLE = {
    "a.json": policy("a", extends="./b.json"),
    "./b.json": policy("b", extends="a.json"),
    "./a.json": policy("a", extends="./b.json"),
}


@pytest.mark.parametrize(
    ("base", "more", "words", "hint"),
    [
        ("a.json", {}, "it leads back to itself: a.json -> a.json", "remove one `extends` of the circle"),
        ("./b.json", CIRCLE, "it leads back to itself", "remove one `extends` of the circle"),
        ("./nothing.json", {}, "no such file or directory", None),
        ("workspace-wriet", {}, "no policy of that name ships", "did you mean `workspace-write`?"),
        (
            "w.json",
            {"w.json": '{"type": "disabled"}'},
            "it is a wire profile",
            "wrap the profile in a policy file",
        ),
    ],
)
def test_bases_that_cannot_be_had_are_errors_at_the_extends_key(
    base: str, more: dict[str, str], words: str, hint: str | None
) -> None:
    error = refusal({"a.json": policy("a", extends=base), **more}, "a.json")
    assert error.pointer == "/extends"
    assert error.line == 1
    assert words in error.message
    assert error.message.startswith("cannot extend `")
    assert error.hint == hint


def test_a_base_that_is_wrong_is_reported_in_the_base() -> None:
    error = refusal(
        {"a.json": policy("a", extends="b.json"), "b.json": '{"version": 1,\n "nam": "b"}'}, "a.json"
    )
    assert (error.file, error.line, error.pointer) == ("b.json", 2, "/nam")


def test_chains_are_bounded() -> None:
    texts = {f"{n}.json": policy("p", extends=f"{n + 1}.json") for n in range(MAX_CHAIN + 1)}
    error = refusal(texts, "0.json")
    assert f"more than {MAX_CHAIN} policies in a row" in error.message
    assert error.file == f"{MAX_CHAIN - 1}.json"


def test_the_longest_chain_is_still_read() -> None:
    texts = {f"{n}.json": policy("p", extends=f"{n + 1}.json") for n in range(MAX_CHAIN - 1)}
    texts[f"{MAX_CHAIN - 1}.json"] = BASE
    assert find_policy("0.json", files(texts)).protect == (".git",)


def test_a_loader_that_fails_is_quoted_with_its_hint() -> None:
    def fail(_: str) -> PolicyDocument:
        cause = "the registry is closed"
        raise BaseUnavailable(cause, hint="come back")

    with pytest.raises(PolicyError, match="cannot extend `x/y`: the registry is closed") as caught:
        decode_policy(policy("a", extends="x/y"), file="a", load_base=fail)
    assert caught.value.hint == "come back"


@pytest.mark.parametrize(
    ("referrer", "reference", "read"),
    [
        ("d/child.json", "base.json", "d/base.json"),
        ("d/child.json", "../base.json", "d/../base.json"),
        ("d/child.json", "/abs/base.json", "/abs/base.json"),
        ("child.json", "base.json", "base.json"),
        ("C:\\d\\child.json", "base.json", "C:\\d\\base.json"),
        ("C:\\d\\child.json", "D:\\base.json", "D:\\base.json"),
    ],
)
def test_paths_are_relative_to_the_document_that_names_them(referrer: str, reference: str, read: str) -> None:
    texts = {referrer: policy("child", extends=reference), read: BASE}
    assert find_policy(referrer, files(texts)).entry_rules[0].source == read


def test_a_loader_that_follows_a_circle_blindly_gets_an_error_all_the_same() -> None:
    texts = {"a": policy("a", extends="b"), "b": policy("b", extends="a")}

    def load(name: str) -> PolicyDocument:
        return decode_policy(texts[name], file=name, load_base=load)

    with pytest.raises(PolicyError, match="the chain of bases has no end") as caught:
        load("a")
    assert caught.value.pointer == "/extends"


def test_a_loader_of_shipped_names_places_an_unknown_name_at_the_extends_key() -> None:
    with pytest.raises(PolicyError, match="cannot extend `buld`: ") as caught:
        decode_policy(policy("a", extends="buld"), file="a", load_base=load_shipped)
    assert (caught.value.file, caught.value.pointer) == ("a", "/extends")
    assert caught.value.hint == "did you mean `build`?"
