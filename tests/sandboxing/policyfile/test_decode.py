"""What a policy document means once it is decoded."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandboxing.errors import PolicyError
from sandboxing.policyfile.decode import decode_policy
from sandboxing.policyfile.document import DocumentKind, PolicyDocument
from sandboxing.policyfile.settings import (
    DEFAULT_EXCLUDE,
    DEFAULT_PROTECT,
    EnvironmentRules,
    Expectation,
    Limits,
    ProxyMode,
    TmpPlacement,
    Verdict,
)
from sandboxing.profile.access import Access, AccessMode
from sandboxing.profile.entries import GlobLocation, PathLocation, SpecialKind, SpecialLocation
from sandboxing.profile.permission import (
    DisabledProfile,
    ExternalProfile,
    ManagedProfile,
    NetworkSwitch,
    RestrictedFileSystem,
    UnrestrictedFileSystem,
)
from sandboxing.profile.rule_id import RuleId

POLICY = """{
  "version": 1,
  "name": "mine",
  "description": "d",
  "profile": {
    "type": "managed",
    "network": "restricted",
    "why": "offline",
    "file_system": {
      "type": "restricted",
      "glob_scan_max_depth": 4,
      "entries": [
        {"path": {"type": "special", "value": {"kind": "root"}}, "access": "read", "why": "look"},
        {"access": "write",
         "path": {"type": "special", "value": {"kind": "project_roots", "subpath": "docs"}}},
        {"path": {"type": "path", "path": "~/.ssh/"}, "access": "none", "why": "keys"},
        {"path": {"type": "glob_pattern", "pattern": ":workspace_roots/**/.env"}, "access": "deny",
         "missing_path_behavior": "skip"}
      ]
    }
  },
  "network": {"mode": "limited", "domains": {"b.test": "deny", "a.test": "allow"}, "ports": [443],
              "unix_sockets": {"/run/x.sock": "allow"}, "allow_local_binding": true, "why": "docs"},
  "environment": {"inherit": "core", "exclude": ["A*"], "include_only": ["B*"],
                  "set": {"Z": "1", "Y": ""}},
  "limits": {"wall_s": 1.5, "memory_mb": 2, "processes": 3, "open_files": 4, "file_size_mb": 5,
             "output_mb": 6, "tmp_mb": 7},
  "sealed": [{"path": {"type": "path", "path": "/etc/shadow"}, "access": "deny", "why": "hashes"}],
  "protect": [".git", "git-hooks"],
  "degrade": ["network"],
  "tmp": "host",
  "tests": [
    {"may": "write", "path": ":workspace_roots/docs/a"},
    {"may_not": "exec", "path": "~/.ssh/x"}
  ]
}
"""
MINIMAL = '{"version": 1, "name": "m", "profile": {"type": "disabled"}}'


def decoded(text: str = POLICY) -> PolicyDocument:
    return decode_policy(text, file="p.json", load_base=None)


def test_entries_become_wire_entries_without_their_reasons() -> None:
    profile = decoded().profile
    assert isinstance(profile, ManagedProfile)
    assert isinstance(profile.file_system, RestrictedFileSystem)
    assert profile.file_system.glob_scan_max_depth == 4
    root, docs, keys, env = profile.file_system.entries
    assert isinstance(root.path, SpecialLocation)
    assert (root.path.value.kind, root.access) == (SpecialKind.ROOT, AccessMode.READ)
    assert isinstance(docs.path, SpecialLocation)
    assert (docs.path.value.kind, docs.path.value.subpath) == (SpecialKind.PROJECT_ROOTS, "docs")
    assert isinstance(keys.path, PathLocation)
    assert (keys.path.path.text, keys.access) == ("~/.ssh", AccessMode.DENY)
    assert isinstance(env.path, GlobLocation)
    assert env.path.project_subpattern == "**/.env"
    assert env.missing_path_behavior == "skip"


def test_every_rule_keeps_its_place_and_its_reason() -> None:
    document = decoded()
    at = "/profile/file_system/entries"
    assert document.entry_rules == (
        RuleId("p.json", f"{at}/0", line=13, why="look"),
        RuleId("p.json", f"{at}/1", line=14),
        RuleId("p.json", f"{at}/2", line=16, why="keys"),
        RuleId("p.json", f"{at}/3", line=17),
    )
    assert document.sealed_rules == (RuleId("p.json", "/sealed/0", line=28, why="hashes"),)
    assert document.network_rule == RuleId("p.json", "/profile/network", line=7, why="offline")
    assert document.filesystem_rule == RuleId("p.json", "/profile/file_system", line=9, why="offline")
    assert [rule.pointer for rule in document.protect_rules] == ["/protect/0", "/protect/1"]
    assert document.tests[1].rule == RuleId("p.json", "/tests/1", line=34)


def test_blocks_become_plain_data() -> None:
    document = decoded()
    assert document.kind is DocumentKind.POLICY_FILE
    assert (document.name, document.description, document.text) == ("mine", "d", POLICY)
    assert document.environment == EnvironmentRules("core", ("A*",), ("B*",), (("Y", ""), ("Z", "1")))
    assert document.limits == Limits(
        wall_s=1.5, memory_mb=2, processes=3, open_files=4, file_size_mb=5, output_mb=6, tmp_mb=7
    )
    assert document.protect == (".git", "git-hooks")
    assert document.degrade == {"network"}
    assert document.tmp is TmpPlacement.HOST
    assert [(t.expect, t.access, t.path) for t in document.tests] == [
        (Expectation.MAY, Access.WRITE, ":workspace_roots/docs/a"),
        (Expectation.MAY_NOT, Access.EXECUTE, "~/.ssh/x"),
    ]
    network = document.network
    assert network is not None
    assert network.mode is ProxyMode.LIMITED
    assert network.domains == (("a.test", Verdict.ALLOW), ("b.test", Verdict.DENY))
    assert network.unix_sockets == (("/run/x.sock", Verdict.ALLOW),)
    assert (network.ports, network.allow_local_binding) == ((443,), True)
    assert network.rule == RuleId("p.json", "/network", line=22, why="docs")


def test_a_policy_file_that_says_little_gets_the_careful_defaults() -> None:
    document = decoded(MINIMAL)
    assert document.tmp is TmpPlacement.PRIVATE
    assert document.environment == EnvironmentRules(exclude=DEFAULT_EXCLUDE)
    assert document.protect == DEFAULT_PROTECT
    assert [rule.source for rule in document.protect_rules] == ["built-in"] * 4
    assert (document.limits, document.network, document.sealed, document.tests) == (Limits(), None, (), ())
    assert document.network_rule == RuleId("p.json", "/profile", line=1)
    assert isinstance(document.profile, DisabledProfile)


def test_an_empty_exclude_keeps_every_variable() -> None:
    text = MINIMAL.replace("}}", '}, "environment": {"exclude": []}}')
    assert decoded(text).environment == EnvironmentRules()


@pytest.mark.parametrize(
    ("profile", "kind"),
    [
        ({"type": "disabled"}, DisabledProfile),
        ({"type": "external"}, ExternalProfile),
        ({"type": "external", "network": "enabled"}, ExternalProfile),
        ({"type": "managed", "file_system": {"type": "unrestricted"}}, ManagedProfile),
    ],
)
def test_every_kind_of_profile_decodes_in_both_formats(
    profile: dict[str, object], kind: type[object]
) -> None:
    policy = decoded(json.dumps({"version": 1, "name": "n", "profile": profile}))
    wire = decoded(json.dumps(profile))
    assert isinstance(policy.profile, kind)
    assert policy.profile == wire.profile
    assert policy.entry_rules == ()


def test_the_network_switch_is_restricted_unless_it_says_otherwise() -> None:
    profile = decoded('{"version":1,"name":"n","profile":{"type":"external"}}').profile
    assert isinstance(profile, ExternalProfile)
    assert profile.network is NetworkSwitch.RESTRICTED


WIRE = """{"type": "managed", "network": "enabled", "newer": null,
 "file_system": {"type": "restricted", "entries": [
  {"path": {"type": "special", "value": {"kind": "slash_tmp"}}, "access": "write"},
  {"path": {"type": "special", "value": {"kind": "unknown", "path": ":n"}}, "access": "read", "x": 1}]}}"""


def test_a_wire_profile_means_what_the_wire_says_and_no_more() -> None:
    document = decoded(WIRE)
    assert document.kind is DocumentKind.WIRE_PROFILE
    assert document.tmp is TmpPlacement.HOST
    assert document.environment == EnvironmentRules()
    assert document.protect == (".git", ".agents", ".codex", ".aws")
    assert (document.limits, document.network, document.sealed, document.merged) == (Limits(), None, (), None)
    assert [(rule.pointer, rule.line) for rule in document.entry_rules] == [
        ("/file_system/entries/0", 3),
        ("/file_system/entries/1", 4),
    ]
    assert document.network_rule == RuleId("p.json", "/network", line=1)


def test_the_older_wire_forms_keep_one_rule_for_each_path() -> None:
    document = decoded(
        '{"network": {"enabled": true},\n "file_system": {"write": ["/w"],\n "read": ["/a", "/b"]}}'
    )
    profile = document.profile
    assert isinstance(profile, ManagedProfile)
    assert isinstance(profile.file_system, RestrictedFileSystem)
    assert len(profile.file_system.entries) == 3
    assert [(rule.pointer, rule.line) for rule in document.entry_rules] == [
        ("/file_system/read/0", 3),
        ("/file_system/read/1", 3),
        ("/file_system/write/0", 2),
    ]


def test_an_unrestricted_file_system_has_no_entry_rules() -> None:
    profile = decoded('{"type":"managed","file_system":{"type":"unrestricted"}}').profile
    assert isinstance(profile, ManagedProfile)
    assert isinstance(profile.file_system, UnrestrictedFileSystem)


KEYS = [
    "version",
    "name",
    "profile",
    "type",
    "file_system",
    "entries",
    "path",
    "access",
    "value",
    "kind",
    "subpath",
    "network",
    "environment",
    "set",
    "domains",
    "limits",
    "wall_s",
    "tests",
    "may",
    "sealed",
    "protect",
    "extends",
    "read",
    "write",
    "enabled",
    "x",
]
WORDS = ["managed", "restricted", "path", "special", "/a", "root", "x", "read", "project_roots", ""]
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(WORDS)
)
JSONISH = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5),
    max_leaves=20,
)


@given(JSONISH)
def test_any_json_is_decoded_or_refused_with_a_place(value: object) -> None:
    try:
        decoded(json.dumps(value))
    except PolicyError as error:
        assert (error.file, error.line) == ("p.json", 1)
        assert error.column is not None
        assert "\n" not in error.message


SPOILT = st.sampled_from(
    [None, True, 0, -1, 1.5, "", "nonsense", [], [None], {}, {"x": 1}, "/a/../b", 10**30]
)


@given(st.data())
def test_one_spoilt_value_in_a_good_policy_is_refused_or_harmless(data: st.DataObject) -> None:
    value = json.loads(POLICY)
    parent, key = data.draw(st.sampled_from(list(_members(value))))
    parent[key] = data.draw(SPOILT)
    try:
        decoded(json.dumps(value, indent=1))
    except PolicyError as error:
        assert error.line is not None
        assert error.message.startswith("cannot ")
        assert "\n" not in error.message


def _members(value: object) -> list[tuple[dict[str, object], str]]:
    found: list[tuple[dict[str, object], str]] = []
    if isinstance(value, dict):
        for key, member in value.items():
            found.append((value, key))
            found.extend(_members(member))
    if isinstance(value, list):
        for member in value:
            found.extend(_members(member))
    return found


@given(st.text(max_size=60) | st.text('{}[]":,versionam1 ', max_size=60))
def test_arbitrary_text_raises_nothing_but_policy_errors(text: str) -> None:
    try:
        decoded(text)
    except PolicyError as error:
        assert error.line is not None


@pytest.mark.parametrize("text", ["[]", "1", '"x"', "null"])
def test_a_document_that_is_no_object_is_refused(text: str) -> None:
    with pytest.raises(PolicyError, match="expected an object"):
        decoded(text)


@pytest.mark.parametrize(
    "name", [".githooks", "hooks", "githooks", "pre-hooks", "Makefile", "git", ".vscode"]
)
def test_any_file_name_can_be_protected(name: str) -> None:
    text = json.dumps({"version": 1, "name": "n", "profile": {"type": "disabled"}, "protect": [name]})
    assert decoded(text).protect == (name,)


@pytest.mark.parametrize("number", [1, 1.5, 600])
def test_seconds_may_have_a_fraction_or_none(number: float) -> None:
    text = json.dumps(
        {"version": 1, "name": "n", "profile": {"type": "disabled"}, "limits": {"wall_s": number}}
    )
    assert decoded(text).limits.wall_s == number
