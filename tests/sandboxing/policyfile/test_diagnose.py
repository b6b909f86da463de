"""Misspelt and missing keys and words are named, placed, and given the nearest right one."""

from __future__ import annotations

import json

import pytest

from sandboxing.errors import PolicyError
from sandboxing.policyfile.decode import decode_policy

ENTRY = {"path": {"type": "path", "path": "/a"}, "access": "read"}
ENTRY_0 = "/profile/file_system/entries/0"


def policy(**more: object) -> dict[str, object]:
    return {"version": 1, "name": "n", "profile": managed(), **more}


def managed(*entries: object, **more: object) -> dict[str, object]:
    return {"type": "managed", "file_system": {"type": "restricted", "entries": list(entries)}, **more}


def at(path: object, access: object = "read") -> dict[str, object]:
    return policy(profile=managed({"path": path, "access": access}))


def special(**value: object) -> dict[str, object]:
    return at({"type": "special", "value": value})


def refusal(value: object) -> PolicyError:
    with pytest.raises(PolicyError) as caught:
        decode_policy(json.dumps(value), file="p.json", load_base=None)
    return caught.value


@pytest.mark.parametrize(
    ("value", "pointer", "near"),
    [
        (policy(protct=[]), "/protct", "protect"),
        (policy(Name="n"), "/Name", "name"),
        (policy(profile=managed(networ="x")), "/profile/networ", "network"),
        (policy(profile={"type": "managed", "filesystem": {}}), "/profile/filesystem", "file_system"),
        (policy(profile={"typ": "managed"}), "/profile/typ", "type"),
        (
            policy(profile={"type": "managed", "file_system": {"type": "restricted", "entires": []}}),
            "/profile/file_system/entires",
            "entries",
        ),
        (policy(profile=managed({**ENTRY, "acces": "read"})), f"{ENTRY_0}/acces", "access"),
        (policy(profile=managed({**ENTRY, "wy": "x"})), f"{ENTRY_0}/wy", "why"),
        (at({"type": "path", "path": "/a", "subpath": "x"}), f"{ENTRY_0}/path/subpath", "path"),
        (special(kind="project_roots", sub_path="x"), f"{ENTRY_0}/path/value/sub_path", "subpath"),
        (policy(sealed=[{**ENTRY, "acess": "deny"}]), "/sealed/0/acess", "access"),
        (policy(limits={"wall": 1}), "/limits/wall", "wall_s"),
        (policy(tests=[{"maynot": "read", "path": "/"}]), "/tests/0/maynot", "may_not"),
        (policy(environment={"exlude": []}), "/environment/exlude", "exclude"),
        (policy(network={"domain": {}}), "/network/domain", "domains"),
    ],
)
def test_misspelt_keys(value: object, pointer: str, near: str) -> None:
    error = refusal(value)
    key = pointer.rpartition("/")[2]
    assert error.pointer == pointer
    assert error.message == f"cannot accept key `{key}`: unknown key"
    assert error.hint == f"did you mean `{near}`?"


def test_a_key_that_resembles_nothing_gets_the_list() -> None:
    error = refusal(special(kind="root", subpath="x"))
    assert error.pointer == f"{ENTRY_0}/path/value/subpath"
    assert error.hint == "the keys here are `kind`"


@pytest.mark.parametrize(
    ("value", "pointer", "near"),
    [
        (at({"type": "path", "path": "/a"}, "raed"), f"{ENTRY_0}/access", "read"),
        (at({"type": "pth", "path": "/a"}), f"{ENTRY_0}/path/type", "path"),
        (special(kind="rot"), f"{ENTRY_0}/path/value/kind", "root"),
        (policy(profile={"type": "manged"}), "/profile/type", "managed"),
        (policy(profile=managed(network="enable")), "/profile/network", "enabled"),
        (policy(tmp="privat"), "/tmp", "private"),
        (policy(network={"mode": "ful"}), "/network/mode", "full"),
        (policy(network={"domains": {"a.test": "alow"}}), "/network/domains/a.test", "allow"),
        (policy(environment={"inherit": "al"}), "/environment/inherit", "all"),
        (policy(protect=["git-hook"]), "/protect/0", "git-hooks"),
        (policy(profile=managed({**ENTRY, "missing_path_behavior": "skp"})), None, "skip"),
        (policy(tests=[{"may": "execute", "path": "/"}]), "/tests/0/may", "exec"),
        ({"type": "manged"}, "/type", "managed"),
        (managed({**ENTRY, "access": "raed"}), "/file_system/entries/0/access", "read"),
    ],
)
def test_misspelt_words(value: object, pointer: str | None, near: str) -> None:
    error = refusal(value)
    assert error.pointer == (pointer or f"{ENTRY_0}/missing_path_behavior")
    assert error.hint == f"did you mean `{near}`?"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (policy(profile=managed(network="on")), "network `on`: expected `restricted` or `enabled`"),
        (at({"type": "x"}), "type `x`: expected `path`, `glob_pattern` or `special`"),
        (policy(profile={"type": "x"}), "type `x`: expected `managed`, `disabled` or `external`"),
        (
            managed({**ENTRY, "access": "x"}),
            "access `x`: expected `read`, `write`, `deny` or `none`",
        ),
    ],
)
def test_a_wrong_word_gets_the_right_ones(value: object, message: str) -> None:
    assert refusal(value).message == f"cannot accept {message}"


def test_a_symbol_that_only_a_newer_release_knows_is_refused_in_a_policy_file() -> None:
    assert refusal(special(kind="unknown", path=":new")).pointer == f"{ENTRY_0}/path/value/kind"


@pytest.mark.parametrize(
    ("value", "pointer", "key"),
    [
        ({"name": "n", "profile": managed()}, "", "version"),
        ({"version": 1, "profile": managed()}, "", "name"),
        ({"version": 1, "name": "n"}, "", "profile"),
        (policy(profile={"type": "managed"}), "/profile", "file_system"),
        (policy(profile={}), "/profile", "type"),
        (policy(profile=managed({"access": "read"})), ENTRY_0, "path"),
        (at({"type": "path"}), f"{ENTRY_0}/path", "path"),
        (policy(tests=[{"may": "read"}]), "/tests/0", "path"),
        ({"type": "managed", "file_system": {"type": "restricted"}}, "/file_system", "entries"),
    ],
)
def test_missing_keys(value: object, pointer: str, key: str) -> None:
    error = refusal(value)
    assert error.pointer == pointer
    assert error.message == f"cannot accept `{pointer or 'document'}`: key `{key}` is missing"
    assert error.hint is not None


def test_an_unknown_key_is_reported_before_the_errors_that_it_causes() -> None:
    error = refusal({"version": 1, "name": "", "profil": {"type": "disabled"}, "tmp": 3})
    assert error.message == "cannot accept key `profil`: unknown key"


TEXT = """{
  "version": 1,
  "name": "n",
  "profile": {
    "type": "managed",
    "file_system": {
      "type": "restricted",
      "entries": [
        {"path": {"type": "path", "path": "/a"}, "access": "read"},
        {"path": {"type": "path", "path": "/b"}, "access": "raed"}
      ]
    }
  }
}
"""


@pytest.mark.parametrize(
    ("old", "new", "line", "column"),
    [
        ("", "", 10, 60),
        ('"entries"', '"entires"', 8, 7),
        ('"path": "/b"', '"path": "b"', 10, 43),
        ('"file_system"', '"file_sytem"', 6, 5),
        ('"version": 1', '"version": 3', 2, 14),
        ("{\n", '{ "nam": 1,\n', 1, 3),
    ],
)
def test_the_place_is_the_offending_token(old: str, new: str, line: int, column: int) -> None:
    with pytest.raises(PolicyError) as caught:
        decode_policy(TEXT.replace(old, new, 1) if old else TEXT, file="p.json", load_base=None)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert caught.value.position == f"p.json:{line}:{column}"


def test_long_and_unprintable_values_are_shortened_and_escaped() -> None:
    error = refusal(policy(tmp="x\n\x1b" * 100))
    assert error.message.isprintable()
    assert len(error.message) < 150
