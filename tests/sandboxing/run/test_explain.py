"""What an explanation holds: all of the policy, all of the plan, and no answer of its own."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandboxing.binding.bound import PathKind, RuleOrigin
from sandboxing.binding.decide import decide
from sandboxing.contract.enforcement import Hold
from sandboxing.errors import BindError, SandboxUnavailable
from sandboxing.policyfile.decode import decode_policy
from sandboxing.policyfile.document import PolicyDocument
from sandboxing.policyfile.shipped import load_shipped, shipped_names
from sandboxing.profile.access import Access, AccessMode
from sandboxing.profile.rule_id import RuleId
from sandboxing.run.answer import answer
from sandboxing.run.explain import ExplainedRule, Explanation, explain
from sandboxing.run.machine import Machine
from tests.fakes.confining_host import HOME, PROJECT, FakeHost, bare_machine, linux_machine
from tests.fakes.filesystem import Symlink


def document(*entries: dict[str, object], **more: object) -> PolicyDocument:
    """A policy with these entries and nothing protected unless `more` says so."""
    profile = {"type": "managed", "file_system": {"type": "restricted", "entries": list(entries)}}
    text = json.dumps({"version": 1, "name": "mine", "profile": profile, "protect": [], **more})
    return decode_policy(text, file="mine.json")


def entry(kind: str, access: str) -> dict[str, object]:
    """An entry at a symbol, or at a path when `kind` starts like one."""
    if kind.startswith(("/", "~")):
        return {"path": {"type": "path", "path": kind}, "access": access}
    return {"path": {"type": "special", "value": {"kind": kind}}, "access": access}


def explained(policy: PolicyDocument, machine: Machine | None = None) -> Explanation:
    return explain(policy, machine or linux_machine(), (PROJECT,))


def rows(explanation: Explanation) -> tuple[ExplainedRule, ...]:
    return (*explanation.filesystem, *explanation.protected, explanation.network)


@pytest.mark.parametrize("policy", shipped_names())
def test_every_row_of_the_plan_is_explained_once(policy: str) -> None:
    explanation = explained(load_shipped(policy))
    assert explanation.planned is not None
    planned = Counter((row.rule, row.mechanisms) for row in explanation.planned.enforcement.rules)
    told = Counter((row.rule, row.mechanisms) for row in rows(explanation))
    assert planned - told == Counter()


@pytest.mark.parametrize("policy", shipped_names())
def test_every_bound_rule_is_explained_with_and_without_a_host_that_confines(policy: str) -> None:
    for machine in (linux_machine(), bare_machine()):
        explanation = explained(load_shipped(policy), machine)
        bound: Counter[tuple[RuleId, str | None]] = Counter(
            (rule.rule, rule.path) for rule in explanation.bound.rules
        )
        told = Counter((row.rule, row.bound_to) for row in rows(explanation))
        assert bound - told == Counter()


def test_without_a_backend_nothing_is_said_to_be_held() -> None:
    explanation = explained(load_shipped("workspace-write"), bare_machine())
    assert isinstance(explanation.refusal, SandboxUnavailable)
    assert (explanation.planned, explanation.capabilities) == (None, None)
    held = {row.hold for row in rows(explanation) if row.bound_to is not None}
    assert held == {None}
    assert all(row.mechanisms == () and row.caveats == () for row in rows(explanation))


def test_a_refused_demand_still_shows_what_would_be_planned() -> None:
    policy = document(entry("root", "read"), network={"domains": {"a.test": "allow"}})
    explanation = explained(policy)
    assert isinstance(explanation.refusal, SandboxUnavailable)
    assert explanation.planned is not None
    assert explanation.filesystem[0].mechanisms == ("root mount",)


def test_a_place_is_told_as_written_as_spelled_and_as_bound() -> None:
    policy = document(entry("root", "read"), entry("~/.ssh", "deny"), entry("/var/run/docker.sock", "deny"))
    told = {row.written: (row.spelled, row.bound_to) for row in explained(policy).filesystem}
    assert told[":root"] == ("/", "/")
    assert told["~/.ssh"] == (f"{HOME}/.ssh", f"{HOME}/.ssh")
    assert told["/var/run/docker.sock"] == ("/var/run/docker.sock", "/run/docker.sock")


def test_a_rule_without_an_effect_keeps_its_access_and_gives_its_reason() -> None:
    policy = document(entry("root", "read"), entry("tmpdir", "deny"))
    (row,) = [row for row in explained(policy).filesystem if row.bound_to is None]
    assert (row.access, row.written, row.hold) == (AccessMode.DENY, ":tmpdir", Hold.NOT_APPLICABLE)
    assert row.reason == "TMPDIR is not set here"


def test_protected_names_are_told_whether_they_exist_or_not() -> None:
    told = {row.bound_to: row for row in explained(load_shipped("workspace-write")).protected}
    assert told[f"{PROJECT}/.git"].kind is PathKind.DIRECTORY
    assert told[f"{PROJECT}/.git"].mechanisms == ("read-only mount", "landlock")
    missing = told[f"{PROJECT}/.codex"]
    assert (missing.kind, missing.mechanisms) == (PathKind.MISSING, ())
    assert [caveat.code for caveat in missing.caveats] == ["missing-names"]


def test_no_name_is_protected_where_nothing_is_writable_or_everything_is() -> None:
    assert explained(load_shipped("read-only")).protected == ()
    assert explained(document(entry("root", "write"), protect=[".git"])).protected == ()


def test_a_name_that_an_entry_gives_away_is_not_told_as_protected() -> None:
    policy = document(
        entry("root", "read"), entry(PROJECT, "write"), entry(f"{PROJECT}/.x", "write"), protect=[".x"]
    )
    assert explained(policy).protected == ()


def test_patterns_that_are_protected_at_any_depth_are_told() -> None:
    policy = document(entry("root", "read"), entry(PROJECT, "write"), protect=["git-hooks"])
    told = {row.bound_to for row in explained(policy).protected}
    assert "/**/.git/hooks" in told


def test_a_match_of_a_glob_and_the_glob_itself_are_told() -> None:
    glob: dict[str, object] = {
        "path": {"type": "glob_pattern", "pattern": ":workspace_roots/**/*.py"},
        "access": "deny",
    }
    told = explained(document(entry("root", "read"), glob)).filesystem
    match = next(row for row in told if row.origin is RuleOrigin.GLOB_MATCH)
    pattern = next(row for row in told if row.bound_to is not None and row.kind is None)
    assert (match.bound_to, pattern.bound_to) == (f"{PROJECT}/src/a.py", f"{PROJECT}/**/*.py")
    assert match.written == pattern.written == ":workspace_roots/**/*.py"


def test_dropped_variables_are_told_by_name_and_never_by_value() -> None:
    machine = linux_machine(environment={"PATH": "/bin", "MY_TOKEN": "s3cret"})
    environment = explained(load_shipped("workspace-write"), machine).environment
    assert environment.dropped == ("MY_TOKEN",)
    assert "s3cret" not in repr(environment)
    assert dict(environment.set)["TMPDIR"] == "/tmp"


def test_a_limit_names_what_holds_it() -> None:
    limits = {limit.name: limit.mechanisms for limit in explained(load_shipped("offline-untrusted")).limits}
    assert limits["processes"] == ("rlimit NPROC",)
    assert limits["tmp_mb"] == ("tmpfs size",)
    assert limits["wall_s"] == ("ended by the runner",)


def test_the_first_workspace_is_the_policy_cwd() -> None:
    explanation = explain(load_shipped("workspace-write"), linux_machine(), ("/srv", PROJECT))
    assert explanation.bound.cwd == "/srv"
    assert explanation.bound.workspace_roots == ("/srv", PROJECT)


PLACES = st.sampled_from(
    [
        "/", "/etc/passwd", "/etc/shadow", "/bin/env", "/var/run/docker.sock", "/run/user/1", "/tmp/x",
        "/dev/null", "/proc/1", f"{HOME}/.ssh/id_ed25519", f"{HOME}/.aws", f"{HOME}/x", PROJECT,
        "src/a.py", ".git/config", ".codex/x", "link", "../..", "a/b/c",
    ]
)  # fmt: skip


@given(st.sampled_from(shipped_names()), PLACES, st.sampled_from(list(Access)))
def test_an_answer_is_the_oracles_answer_about_the_resolved_path(
    policy: str, path: str, access: Access
) -> None:
    machine = linux_machine()
    explanation = explained(load_shipped(policy), machine)
    answered = answer(explanation, machine, path, access)
    assert answered.resolved == machine.resolve(path)
    assert answered.decision == decide(explanation.bound, access, answered.resolved)
    deciding = answered.deciding
    assert (None if deciding is None else deciding.rule) == answered.decision.rule
    assert tuple(row.rule for row in answered.losing) == answered.decision.losers


@given(st.sampled_from(shipped_names()), PLACES)
def test_where_the_mounts_give_something_else_the_rule_names_a_gap(policy: str, path: str) -> None:
    machine = linux_machine()
    answered = answer(explained(load_shipped(policy), machine), machine, path, Access.WRITE)
    inside = answered.inside
    if inside is not None and inside is not answered.decision.mode:
        assert answered.deciding is not None
        assert answered.deciding.caveats


def test_a_link_is_judged_by_what_it_leads_to() -> None:
    machine = linux_machine()
    answered = answer(explained(load_shipped("workspace-write"), machine), machine, "link", Access.WRITE)
    assert (answered.given, answered.resolved) == ("link", "/etc/passwd")
    assert not answered.decision.allowed


def test_the_sandboxs_own_places_are_told_from_the_hosts() -> None:
    machine = linux_machine()
    explanation = explained(load_shipped("workspace-write"), machine)
    assert answer(explanation, machine, "/dev/null", Access.WRITE).own
    assert not answer(explanation, machine, "/etc/passwd", Access.WRITE).own
    bare = bare_machine()
    assert not answer(explained(load_shipped("workspace-write"), bare), bare, "/dev/null", Access.WRITE).own


def test_an_answer_by_a_missing_protected_name_shows_its_gap() -> None:
    machine = linux_machine()
    answered = answer(explained(load_shipped("workspace-write"), machine), machine, ".codex/x", Access.WRITE)
    assert answered.deciding is not None
    assert answered.deciding.bound_to == f"{PROJECT}/.codex"
    assert answered.inside is AccessMode.WRITE


def test_links_in_a_circle_are_an_error() -> None:
    machine = linux_machine(files={f"{PROJECT}/a": Symlink("b"), f"{PROJECT}/b": Symlink("a")})
    with pytest.raises(BindError):
        answer(explained(load_shipped("workspace-write"), machine), machine, "a", Access.READ)


def test_workspace_roots_are_resolved_and_default_to_the_callers_directory() -> None:
    machine = linux_machine(files={"/w": Symlink("/srv/w")})
    assert machine.workspace_roots(()) == (PROJECT,)
    assert machine.workspace_roots(("/w", "src")) == ("/srv/w", f"{PROJECT}/src")


def test_a_machine_whose_host_lacks_something_required_is_refused_by_name() -> None:
    host = FakeHost()
    lacking = tuple(
        replace(feature, available=False, cure="switch it on")
        if feature.name == "user-namespaces"
        else feature
        for feature in host.capabilities.features
    )
    host.capabilities = replace(host.capabilities, features=lacking)
    explanation = explained(load_shipped("read-only"), linux_machine(host))
    assert explanation.refusal is not None
    assert explanation.refusal.hint == "switch it on"
    assert explanation.planned is None
