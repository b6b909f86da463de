"""`sandboxctl explain` as a person and as a program see it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from sandboxing.cli.commands import sandboxctl
from sandboxing.policyfile.shipped import shipped_names
from sandboxing.run.machine import Machine
from tests.fakes.confining_host import HOME, PROJECT, bare_machine, linux_machine
from tests.fakes.filesystem import Directory

WIDTH = 100


def run(*arguments: str, machine: Machine | None = None, columns: int = WIDTH) -> Result:
    return CliRunner(env={"COLUMNS": str(columns)}).invoke(
        sandboxctl, ["explain", *arguments], obj=machine or linux_machine()
    )


def as_json(*arguments: str, machine: Machine | None = None) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(run(*arguments, "--json", machine=machine).stdout)
    return loaded


@pytest.mark.parametrize("policy", shipped_names())
@pytest.mark.parametrize("columns", [80, 100, 200])
def test_no_line_is_wider_than_a_hundred_columns_or_the_terminal(policy: str, columns: int) -> None:
    result = run(policy, "--plan", columns=columns)
    assert result.exit_code == 0
    assert max(map(len, result.stdout.splitlines())) <= min(columns, WIDTH)


def test_a_long_path_is_not_cut() -> None:
    deep = "/" + "/".join(["directory"] * 20)
    result = run("--workspace", deep, machine=linux_machine(files={deep: Directory()}))
    assert f"  write  {deep}\n         writable mount\n" in result.stdout


def test_groups_come_in_their_order() -> None:
    lines = run("--plan").stdout.splitlines()
    starts = (
        "workspace-write: ",
        "filesystem",
        "protected names",
        "network",
        "environment",
        "limits",
        "caveats of the whole sandbox",
        "hardening",
        "plan",
    )
    places = [next(at for at, line in enumerate(lines) if line.startswith(start)) for start in starts]
    assert places == sorted(places)


def test_a_rule_says_what_it_binds_to_what_holds_it_and_why() -> None:
    text = run().stdout
    assert f"  deny   {HOME}/.ssh " in text
    row = next(line for line in text.splitlines() if line.startswith(f"  deny   {HOME}/.ssh "))
    assert row.endswith("  mask")
    assert "`~/.ssh`: Private keys" in text
    assert "! host-replaces: when somebody outside" in text


def test_a_caveat_is_told_in_full_once() -> None:
    text = " ".join(run().stdout.split())
    assert text.count("! host-replaces: ") == 1
    assert text.count("! host-replaces") > 1


def test_the_plan_is_told_when_asked_for() -> None:
    assert "  unshare   user mount" in run("--plan").stdout
    assert "unshare" not in run().stdout


def test_without_a_backend_it_explains_and_says_so() -> None:
    result = run(machine=bare_machine())
    assert result.exit_code == 0
    assert "enforcement is not available here: cannot confine `a command`" in result.stdout
    assert f"  write  {PROJECT}" in result.stdout


def test_control_characters_do_not_reach_the_terminal(tmp_path: Path) -> None:
    policy = tmp_path / "p.json"
    entry = {"path": {"type": "path", "path": "/x\u001b[2J"}, "access": "read", "why": "bell \u0007 \u202e"}
    profile = {"type": "managed", "file_system": {"type": "restricted", "entries": [entry]}}
    policy.write_text(json.dumps({"version": 1, "name": "p", "profile": profile}), encoding="utf-8")
    for arguments in ((), ("--path", "/x\u001b[2J/\u0007")):
        result = run(str(policy), *arguments)
        assert "\\x1b[2J" in result.stdout
        assert all(character.isprintable() or character == "\n" for character in result.stdout)


@pytest.mark.parametrize(
    ("path", "access", "code", "expected"),
    [
        ("src/a.py", "write", 0, "allowed: write src/a.py"),
        ("src/a.py", "exec", 0, "allowed: exec src/a.py"),
        (".git/config", "write", 1, "denied: write .git/config"),
        (".git/config", "read", 0, "allowed: read .git/config"),
        ("/etc/passwd", "write", 1, "denied: write /etc/passwd"),
        (f"{HOME}/.ssh", "read", 1, f"denied: read {HOME}/.ssh"),
    ],
)
def test_the_exit_code_is_the_answer(path: str, access: str, code: int, expected: str) -> None:
    result = run("--path", path, "--access", access)
    assert (result.exit_code, result.stdout.splitlines()[0]) == (code, expected)


def test_an_answer_names_rule_reason_mechanism_and_losers() -> None:
    lines = run("--path", "link", "--access", "write").stdout.splitlines()
    assert lines[1] == "  resolved  /etc/passwd"
    text = run("--path", ".git/config", "--access", "write").stdout
    assert "  rule      workspace-write:" in text
    assert " /protect/0\n" in text
    assert "  held by   read-only mount, landlock\n" in text
    assert f"  over      write {PROJECT}  workspace-write:" in text
    assert "  over      read  /  read-only:" in text


def test_an_answer_warns_where_nothing_holds_the_rule() -> None:
    text = " ".join(run("--path", ".codex/x", "--access", "write").stdout.split())
    assert "denied: write .codex/x" in text
    assert "! missing-names: " in text
    assert "what is mounted here gives reading and writing" in text


def test_reading_is_asked_about_unless_said_otherwise() -> None:
    assert run("--path", "src").stdout.startswith("allowed: read src")


def test_an_access_without_a_path_is_a_usage_error() -> None:
    assert run("--access", "read").exit_code == 2


@pytest.mark.parametrize("policy", ["workspace_write", "./none.json"])
def test_a_policy_that_cannot_be_had_is_125(policy: str) -> None:
    result = run(policy)
    assert result.exit_code == 125
    assert result.stdout == ""
    assert result.stderr.startswith("sandboxctl: ")


def test_json_has_its_documented_members() -> None:
    told = as_json("workspace-write")
    assert list(told) == [
        "version", "policy", "cwd", "workspace_roots", "tmp", "backend", "host", "refusal",
        "filesystem", "protected_names", "network", "environment", "limits",
        "caveats", "hardening", "missing_hardening", "plan",
    ]  # fmt: skip
    assert told["version"] == 1
    assert told["policy"]["name"] == "workspace-write"
    (ssh,) = [rule for rule in told["filesystem"]["rules"] if rule["written"] == "~/.ssh"]
    assert list(ssh) == [
        "rule", "access", "written", "spelled", "bound_to", "links", "kind", "origin", "tier", "reason",
        "hold", "mechanisms", "caveats",
    ]  # fmt: skip
    assert (ssh["access"], ssh["bound_to"], ssh["mechanisms"]) == ("deny", f"{HOME}/.ssh", ["mask"])
    assert ssh["rule"]["pointer"].startswith("/profile/file_system/entries/")


def test_json_of_an_answer_has_its_documented_members() -> None:
    told = as_json("--path", "link", "--access", "write")
    assert list(told) == [
        "version", "policy", "access", "path", "answer", "mode", "reason", "rule", "enforced", "losers",
        "inside", "backend", "host", "refusal",
    ]  # fmt: skip
    assert told["path"] == {"given": "link", "resolved": "/etc/passwd"}
    assert (told["answer"], told["inside"]) == ("denied", "read")


def test_both_spellings_of_json_print_the_same() -> None:
    assert run("--json").stdout == run("--format", "json").stdout


def test_json_without_a_backend_has_the_same_members() -> None:
    told = as_json(machine=bare_machine())
    assert list(told) == list(as_json())
    assert (told["backend"], told["plan"]) == (None, None)
    assert told["refusal"]["code"] == "sandbox-unavailable"


def test_a_managed_network_is_told_and_refused(tmp_path: Path) -> None:
    policy = tmp_path / "p.json"
    network = {"domains": {"a.test": "allow"}, "ports": [443]}
    text = json.dumps({"version": 1, "name": "p", "extends": "read-only", "network": network})
    policy.write_text(text, encoding="utf-8")
    result = run(str(policy))
    assert result.exit_code == 0
    assert "a run would be refused: " in result.stdout
    assert "allow  a.test" in result.stdout
    assert as_json(str(policy))["network"]["managed"]["ports"] == [443]
