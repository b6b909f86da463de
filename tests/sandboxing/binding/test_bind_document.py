"""Policy documents bound on a machine: everything they say arrives, and their better defaults hold."""

from __future__ import annotations

import json

import pytest

from sandboxing.binding.bind import bind_document
from sandboxing.binding.bound import BoundPolicy
from sandboxing.binding.decide import decide
from sandboxing.policyfile.decode import decode_policy
from sandboxing.policyfile.settings import TmpPlacement
from sandboxing.profile.access import Access
from tests.fakes.filesystem import Directory, File
from tests.sandboxing.binding.subjects import FACTS, machine

Json = dict[str, object]


def rule(place: str, access: str) -> Json:
    if place.startswith(":"):
        return {"path": {"type": "special", "value": {"kind": place[1:]}}, "access": access}
    return {"path": {"type": "path", "path": place}, "access": access}


def policy(*entries: Json, **members: object) -> Json:
    file_system = {"type": "restricted", "entries": list(entries)}
    profile = {"type": "managed", "network": "enabled", "file_system": file_system}
    return {"version": 1, "name": "mine", "profile": profile} | members


def bound(document: Json, *, roots: tuple[str, ...] = ()) -> BoundPolicy:
    decoded = decode_policy(json.dumps(document), file="mine.json")
    view = machine({"/w/.git": Directory(), "/w/.hg": Directory(), "/w/.env": File()})
    return bind_document(decoded, facts=FACTS, view=view, cwd="/w", workspace_roots=roots)


def test_the_policy_cwd_is_the_workspace_unless_roots_are_given() -> None:
    document = policy(rule(":project_roots", "write"))
    assert bound(document).workspace_roots == ("/w",)
    assert bound(document, roots=("/a", "/b", "/a")).workspace_roots == ("/a", "/b")


def test_rules_point_into_the_document() -> None:
    decision = decide(bound(policy(rule("/data", "write"))), Access.WRITE, "/data/x")
    assert decision.rule is not None
    assert (decision.rule.source, decision.rule.pointer) == ("mine.json", "/profile/file_system/entries/0")


def test_tmp_is_private_unless_the_document_says_otherwise() -> None:
    assert decide(bound(policy()), Access.WRITE, "/tmp/x").allowed
    host = bound(policy(tmp="host"))
    assert host.tmp is TmpPlacement.HOST
    assert not decide(host, Access.WRITE, "/tmp/x").allowed


def test_sealed_entries_hold_against_deeper_grants() -> None:
    document = policy(rule("~/.ssh/known_hosts", "read"), sealed=[rule("~/.ssh", "deny")])
    decision = decide(bound(document), Access.READ, "/home/u/.ssh/known_hosts")
    assert not decision.allowed
    assert decision.rule is not None
    assert decision.rule.pointer == "/sealed/0"


def test_protected_names_and_presets_point_to_their_place() -> None:
    document = bound(policy(rule(":project_roots", "write"), protect=[".hg", "git-hooks"]))
    assert document.protected_names == (".hg",)
    held = {
        path: decide(document, Access.WRITE, path) for path in ("/w/.hg/x", "/w/a/.git/hooks/x", "/w/.git/x")
    }
    assert {
        path: one.rule.pointer if one.rule and not one.allowed else None for path, one in held.items()
    } == {
        "/w/.hg/x": "/protect/0",
        "/w/a/.git/hooks/x": "/protect/1",
        "/w/.git/x": None,
    }


def test_workspace_globs_use_the_documents_spelling() -> None:
    glob: Json = {"path": {"type": "glob_pattern", "pattern": ":workspace_roots/**/.env"}, "access": "deny"}
    document = bound(policy(rule(":root", "read"), glob))
    assert not decide(document, Access.READ, "/w/.env").allowed
    assert not decide(document, Access.READ, "/w/later/.env").allowed


def test_everything_beside_the_profile_arrives() -> None:
    document = bound(
        policy(limits={"wall_s": 5.0}, environment={"inherit": "core"}, degrade=["deny-globs"], tmp="host")
    )
    assert document.name == "mine"
    assert document.limits.wall_s == 5.0
    assert document.environment.inherit == "core"
    assert document.degrade == frozenset({"deny-globs"})
    assert document.network_rule.pointer == "/profile/network"


@pytest.mark.parametrize("access", ["read", "write"])
def test_a_raw_wire_profile_means_what_the_wire_says(access: str) -> None:
    profile = policy(rule(":slash_tmp", access), rule(":project_roots", "write"))["profile"]
    assert isinstance(profile, dict)
    document = bound(profile)
    assert document.tmp is TmpPlacement.HOST
    assert decide(document, Access.WRITE, "/tmp/x").allowed is (access == "write")
    assert decide(document, Access.WRITE, "/w/x").allowed
    assert document.read_only_globs == ()
