"""`sandboxctl run` as people meet it: exit codes, what it says about a refusal, and the report."""

import sys

assert sys.platform == "linux"

import json
import signal
import subprocess
import time
from collections.abc import Callable

import pytest

from platform_tests.support.ground import Ground
from platform_tests.support.sandboxctl import caller_environment, run_arguments, run_as, run_sandboxctl

DENIED = "sandboxctl: denied: "


def sh(script: str, *arguments: str) -> list[str]:
    return ["sh", "-c", script, "sh", *arguments]


def test_a_command_that_stays_in_its_workspace_notices_nothing(ground: Ground) -> None:
    run = run_sandboxctl(ground, sh("echo hi > ok.txt && cat ok.txt"))
    assert (run.code, run.stdout, run.stderr) == (0, "hi\n", "")
    assert ground.listing("ws") == ("ok.txt",)


WRITERS = {
    "shell": 'echo x > "$1"',
    "cp": 'cp /etc/passwd "$1"',
    "python": 'python3 -c "import sys; open(sys.argv[1], \'w\')" "$1"',
}


@pytest.mark.parametrize("writer", WRITERS)
def test_a_refused_write_names_path_and_rule_in_one_line(
    writer: str, new_ground: Callable[[], Ground]
) -> None:
    outside = new_ground()
    assert run_as(outside, sh(WRITERS[writer], outside.at("outside", "new"))).code == 0
    ground = new_ground()
    target = ground.at("outside", "new")
    run = run_sandboxctl(ground, sh(WRITERS[writer], target))
    assert run.code != 0
    [line] = [line for line in run.own_lines if line.startswith(DENIED)]
    assert line.startswith(f"{DENIED}write {target}: by read-only:")
    assert "/profile/file_system/entries/0" in line
    assert line.endswith("[EROFS]")
    [denial] = run.report["denials"]
    assert run.report["outcome"] == "denied"
    assert (denial["resolved"], denial["errno"]) == (target, "EROFS")
    assert denial["rule"]["pointer"] == "/profile/file_system/entries/0"
    assert ground.listing("outside") == ()


def test_a_refused_read_names_path_and_rule_in_one_line(ground: Ground) -> None:
    key = ground.file("home/.ssh/id_ed25519", "secret")
    assert run_as(ground, ["cat", key]).stdout == "secret"
    run = run_sandboxctl(ground, ["cat", key])
    assert (run.code, run.stdout) == (1, "")
    [line] = [line for line in run.own_lines if line.startswith(DENIED)]
    assert line.startswith(f"{DENIED}read {key}: by read-only:")
    assert line.endswith("[EACCES]")
    assert run.report["denials"][0]["rule"]["why"].startswith("Private keys")


def test_a_refusal_in_a_policy_of_ones_own_names_that_file(ground: Ground) -> None:
    secret = ground.file("ws/secret", "x")
    policy = ground.policy(
        {
            "extends": "workspace-write",
            "profile": {
                "type": "managed",
                "file_system": {
                    "type": "restricted",
                    "entries": [
                        {"path": {"type": "path", "path": "{ground}/ws/secret"}, "access": "deny", "why": "W"}
                    ],
                },
            },
        }
    )
    run = run_sandboxctl(ground, ["cat", "secret"], policy=policy)
    [line] = [line for line in run.own_lines if line.startswith(DENIED)]
    assert f"read {secret}: by {policy}:1 /profile/file_system/entries/0 (W)" in line


def test_a_plain_permission_failure_names_no_rule(new_ground: Callable[[], Ground]) -> None:
    outside, ground = new_ground(), new_ground()
    for one in (outside, ground):
        one.file("ws/not-executable", "", mode=0o644)
        one.file("outside/not-executable", "", mode=0o644)
    script = sh("./not-executable; exec ../outside/not-executable")
    control = run_as(outside, script)
    run = run_sandboxctl(ground, script)
    assert control.code == run.code == 126
    assert control.stderr == run.stderr
    assert run.stderr.count("Permission denied") == 2
    assert run.report["outcome"] == "command_exited"
    assert run.report["denials"] == []


def test_an_unreadable_file_of_an_ordinary_user_names_no_rule(new_ground: Callable[[], Ground]) -> None:
    outside, ground = new_ground(), new_ground()
    for one in (outside, ground):
        one.file("ws/unreadable", "x", mode=0o000)
    run = run_sandboxctl(ground, ["cat", "unreadable"])
    assert run.code == 1
    assert "Permission denied" in run.stderr
    # outside, root reads it all the same; inside it has no capability to, and no rule is the cause
    assert run_as(outside, ["cat", "unreadable"]).code == (0 if ground.identity.is_root else 1)
    assert run.own_lines == []
    assert run.report["denials"] == []


def test_a_denied_name_cannot_steer_the_terminal(ground: Ground) -> None:
    target = ground.at("outside", "a\x1b]0;x\x07b")
    run = run_sandboxctl(
        ground, sh('touch "$1" 2>/dev/null; echo "$1: Read-only file system" >&2; false', target)
    )
    [line] = [line for line in run.own_lines if line.startswith(DENIED)]
    assert line.isprintable()
    assert "\\x1b]0;x\\x07b" in line


@pytest.mark.parametrize("code", [0, 7, 125, 255])
def test_the_exit_code_of_the_command_is_passed_on(code: int, ground: Ground) -> None:
    run = run_sandboxctl(ground, sh(f"exit {code}"))
    assert (run.code, run.stderr) == (code, "")
    assert run.report["outcome"] == "command_exited"
    assert run.report["exit"]["code"] == code


@pytest.mark.parametrize("name", ["TERM", "KILL", "SEGV"])
def test_a_signal_that_ends_the_command_is_128_and_its_number(name: str, ground: Ground) -> None:
    number = signal.Signals[f"SIG{name}"]
    run = run_sandboxctl(ground, sh(f"kill -{name} $$"))
    assert run.code == 128 + number
    assert run.report["exit"] == {
        "code": None,
        "signal": number,
        "limit": None,
        "shell_code": 128 + number,
    }


def test_a_program_that_is_not_there_is_127(ground: Ground) -> None:
    for name in ("no-such-program", "./no-such-program", "/no/such/program"):
        run = run_sandboxctl(ground, [name])
        assert run.code == 127
        assert run.stderr == f"sandboxctl: cannot run `{name}`: no such file or directory\n"
        assert run.report["outcome"] == "setup_failed"
        assert run.report["exit"] is None


def test_a_program_that_cannot_be_executed_is_126(ground: Ground) -> None:
    ground.file("ws/text", "text")
    for name in ("./text", ground.at("ws")):
        run = run_sandboxctl(ground, [name])
        assert (run.code, run.stderr) == (126, f"sandboxctl: cannot run `{name}`: permission denied\n")


def test_a_program_that_the_policy_hides_is_said_to_be_hidden(ground: Ground) -> None:
    program = ground.file("outside/program", "#!/bin/sh\necho ran\n", mode=0o755)
    assert run_as(ground, [program]).stdout == "ran\n"
    run = run_sandboxctl(ground, [program], policy="offline-untrusted")
    assert run.code == 127
    assert run.own_lines[1].startswith(f"sandboxctl: hint: {program} exists outside")


def test_the_deadline_is_124(ground: Ground) -> None:
    before = time.monotonic()
    run = run_sandboxctl(ground, sh("trap '' TERM; sleep 60; sleep 60"), options=("--timeout", "0.3"))
    assert run.code == 124
    assert time.monotonic() - before < 20
    assert run.report["exit"]["limit"] == "wall_s"
    assert run.report["outcome"] == "command_exited"
    assert run.own_lines == ["sandboxctl: the command was ended by the limit wall_s"]


def test_a_misspelt_key_is_125_with_its_place_and_the_likely_key(ground: Ground) -> None:
    text = '{\n  "version": 1,\n  "name": "p",\n  "extends": "read-only",\n  "protekt": []\n}\n'
    policy = ground.file("policies/misspelt.json", text)
    run = run_sandboxctl(ground, ["touch", "ran"], policy=policy)
    assert run.code == 125
    assert f"{policy}:5:3" in run.own_lines[0]
    assert "/protekt" in run.own_lines[0]
    assert "`protect`" in run.stderr
    assert run.report["error"]["code"] == "policy-invalid"
    assert ground.listing("ws") == ()


@pytest.mark.parametrize(
    "options",
    [
        ("--policy", "no-such-policy"),
        ("--policy", "./no-such-file.json"),
        ("--cwd", "/no/such/directory"),
    ],
    ids=lambda options: options[1].rpartition("/")[2],
)
def test_what_fails_before_the_command_is_125_and_the_command_never_runs(
    options: tuple[str, str], ground: Ground
) -> None:
    run = run_sandboxctl(ground, ["touch", ground.at("ws", "ran")], options=options)
    assert run.code == 125
    assert run.report["outcome"] == "setup_failed"
    assert run.report["exit"] is None
    assert "cannot " in run.own_lines[0]
    assert ground.listing("ws") == ()


def test_the_report_holds_outcome_enforcement_and_denials(ground: Ground) -> None:
    run = run_sandboxctl(ground, ["true"])
    assert run.report["version"] == 1
    assert (run.report["argv"], run.report["policy"]) == (["true"], "workspace-write")
    assert (run.report["outcome"], run.report["denials"]) == ("command_exited", [])
    rules = run.report["enforcement"]["rules"]
    [workspace] = [row for row in rules if row["bound_to"] == ground.workspace and row["access"] == "write"]
    assert (workspace["hold"], workspace["mechanisms"]) == ("enforced", ["writable mount"])
    [network] = [row for row in rules if row["bound_to"] == "network"]
    assert network["hold"] == "enforced"
    assert all(row["rule"]["pointer"] for row in rules)
    codes = {caveat["code"] for caveat in run.report["enforcement"]["caveats"]}
    assert ("uid-0" in codes) == ground.identity.is_root


def test_the_same_report_is_printed_on_request(ground: Ground) -> None:
    run = run_sandboxctl(ground, ["sh", "-c", "exit 3"], options=("--json",))
    assert run.code == 3
    assert json.loads(run.stderr) == run.report


def test_a_protected_name_that_appears_is_found_and_told(ground: Ground) -> None:
    run = run_sandboxctl(ground, sh("mkdir -p .git/hooks sub/.git"))
    assert run.code == 0
    [finding] = run.report["findings"]
    assert ground.at("ws", ".git") in finding
    assert run.own_lines == [f"sandboxctl: warning: {finding}"]


def test_standard_input_reaches_the_command(ground: Ground) -> None:
    identity = ground.identity
    finished = subprocess.run(
        run_arguments(ground, ["cat"]),
        input=b"a\0b\xff" * 100_000,
        capture_output=True,
        check=True,
        timeout=30,
        cwd=ground.workspace,
        env=caller_environment(ground),
        user=identity.user,
        group=identity.group,
        extra_groups=identity.extra_groups,
    )
    assert finished.stdout == b"a\0b\xff" * 100_000


@pytest.mark.parametrize("name", ["INT", "TERM", "HUP"])
def test_a_signal_to_the_program_reaches_the_command(name: str, ground: Ground) -> None:
    identity = ground.identity
    script = f"trap 'echo caught; exit 9' {name}; echo ready; while :; do sleep 0.05; done"
    with subprocess.Popen(
        run_arguments(ground, sh(script)),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        cwd=ground.workspace,
        env=caller_environment(ground),
        user=identity.user,
        group=identity.group,
        extra_groups=identity.extra_groups,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(signal.Signals[f"SIG{name}"])
        assert process.stdout.read() == b"caught\n"
        assert process.wait(timeout=30) == 9
