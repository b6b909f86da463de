"""`sandboxctl check`: what is found, where it is said to be, and what the exit code says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from sandboxing.cli.commands import sandboxctl
from sandboxing.policyfile.shipped import shipped_names
from sandboxing.run.machine import Machine
from tests.fakes.confining_host import bare_machine, linux_machine


def run(*arguments: str, machine: Machine | None = None) -> Result:
    return CliRunner().invoke(sandboxctl, ["check", *arguments], obj=machine or linux_machine())


def written(folder: Path, *tests: str, extends: str = "workspace-write", more: str = "") -> str:
    """A policy file with one test on each line from line 5 on."""
    file = folder / "p.json"
    listed = ",\n    ".join(tests)
    head = f'{{\n  "version": 1, "name": "p",{more}\n  "extends": "{extends}",\n  "tests": [\n    '
    file.write_text(f"{head}{listed}\n  ]\n}}\n", encoding="utf-8")
    return str(file)


@pytest.mark.parametrize("machine", [linux_machine(), bare_machine()])
def test_the_shipped_policies_keep_their_promises_with_or_without_a_backend(machine: Machine) -> None:
    result = run(*shipped_names(), machine=machine)
    assert result.exit_code == 0
    assert [line.split(":")[0] for line in result.stdout.splitlines()] == list(shipped_names())


def test_a_broken_promise_is_found_at_its_place(tmp_path: Path) -> None:
    file = written(
        tmp_path,
        '{"may": "write", "path": ":workspace_roots/a"}',
        '{"may": "write", "path": "/etc/passwd"}',
        '{"may_not": "read", "path": ":workspace_roots/a"}',
    )
    result = run(file)
    assert result.exit_code == 1
    first, second = result.stdout.splitlines()
    assert first.startswith(f"{file}:6:5: cannot keep `may write /etc/passwd`: ")
    assert "is denied because `/` is read-only, by read-only:" in first
    assert second.startswith(f"{file}:7:5: cannot keep `may_not read :workspace_roots/a`: ")


@pytest.mark.parametrize(
    "promise",
    [
        '{"may": "read", "path": ":workspace_roots/src"}',
        '{"may_not": "write", "path": ":workspace_roots/.git/x"}',
        '{"may": "write", "path": ":slash_tmp/x"}',
        '{"may": "write", "path": ":tmpdir/x"}',
        '{"may": "read", "path": "~"}',
        '{"may_not": "read", "path": "~/.ssh/x"}',
        '{"may": "exec", "path": "/bin/env"}',
        '{"may_not": "write", "path": ":workspace_roots/link"}',
    ],
)
def test_every_form_of_a_path_is_understood(tmp_path: Path, promise: str) -> None:
    result = run(written(tmp_path, promise))
    assert (result.exit_code, result.stdout.count("1 tests passed")) == (0, 1)


def test_a_place_that_this_machine_lacks_is_told_and_is_no_finding(tmp_path: Path) -> None:
    more = ' "tmp": "host",'
    result = run(written(tmp_path, '{"may": "write", "path": ":tmpdir/x"}', more=more))
    assert result.exit_code == 0
    assert "not tested, this machine has no such place: may write :tmpdir/x" in result.stdout


def test_the_workspace_option_moves_the_workspace(tmp_path: Path) -> None:
    file = written(tmp_path, '{"may": "write", "path": "/srv/w/x"}')
    assert run(file).exit_code == 1
    assert run(file, "--workspace", "/srv/w").exit_code == 0


def test_every_workspace_has_to_keep_the_promise(tmp_path: Path) -> None:
    file = written(tmp_path, '{"may": "write", "path": ":workspace_roots/link"}')
    result = run(file, "--workspace", "/home/dev/project", "--workspace", "/srv/w")
    assert (result.exit_code, len(result.stdout.splitlines())) == (1, 1)


def test_a_document_that_cannot_be_read_strictly_is_a_finding_with_place_and_hint(tmp_path: Path) -> None:
    file = tmp_path / "p.json"
    file.write_text('{"version": 1,\n "name": "p", "extends": "read-only", "protct": []}', encoding="utf-8")
    result = run(str(file), "read-only")
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert lines[0].startswith(f"{file}:2:39: ")
    assert lines[1] == "  hint: did you mean `protect`?"
    assert lines[2].startswith("read-only: good, ")


@pytest.mark.parametrize("policy", ["no-such-policy", "./no/such.json"])
def test_a_policy_that_cannot_be_had_is_a_finding(policy: str) -> None:
    result = run(policy)
    assert result.exit_code == 1
    assert policy.removeprefix("./") in result.stdout


def test_json_has_its_documented_members(tmp_path: Path) -> None:
    result = run(written(tmp_path, '{"may": "write", "path": "/etc/passwd"}'), "read-only", "--json")
    told = json.loads(result.stdout)
    assert result.exit_code == 1
    assert list(told) == ["version", "good", "policies"]
    assert told["good"] is False
    (finding,) = told["policies"][0]["findings"]
    assert list(finding) == ["code", "position", "pointer", "message", "hint"]
    assert (finding["code"], finding["pointer"]) == ("test-failed", "/tests/0")
    assert told["policies"][1]["findings"] == []


def test_control_characters_do_not_reach_the_terminal(tmp_path: Path) -> None:
    result = run(written(tmp_path, '{"may": "write", "path": "/etc/\\u001b[2J"}'))
    assert "\\x1b[2J" in result.stdout
    assert "\x1b" not in result.stdout


def test_no_policy_is_a_usage_error() -> None:
    assert run().exit_code == 2
