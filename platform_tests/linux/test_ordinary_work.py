"""Ordinary programs in the sandbox: they work as they do outside, and nothing of them stays behind."""

import sys

assert sys.platform == "linux"

import os
import select
import signal
import subprocess
from collections.abc import Callable

import pytest

from platform_tests.support.ground import CHECKOUT, Ground
from platform_tests.support.sandboxctl import program, run_as, run_sandboxctl
from platform_tests.support.scenario import Scenario, Verdict, answers_of, play_inside, play_outside

WORK = Scenario(
    name="work",
    victim="work",
    verdicts={
        **dict.fromkeys(
            (
                "process-pool",
                "shared-memory",
                "fifo",
                "unix-stream",
                "threads",
                "database",
                "signals",
                "temporary-folder",
            ),
            Verdict("ok"),
        ),
        "terminal": Verdict("/dev/pts 0", "/dev/pts 0"),
        "job-control": Verdict("exit 7", "exit 7"),
        "pipeline": Verdict("a b ", "a b "),
    },
)


def test_what_programs_do_all_day_works(new_ground: Callable[[], Ground]) -> None:
    outside = new_ground()
    assert play_outside(WORK, outside) == WORK.expected_outside(outside)
    inside = new_ground()
    assert play_inside(WORK, inside) == WORK.expected_inside(inside)


def test_what_the_command_writes_is_the_callers(ground: Ground) -> None:
    assert run_sandboxctl(ground, ["sh", "-c", "mkdir d && echo hi > d/f"]).code == 0
    about = os.stat(ground.at("ws", "d", "f"))
    assert (about.st_uid, about.st_gid, oct(about.st_mode)) == (
        ground.identity.uid,
        ground.identity.gid,
        "0o100644",
    )


ESCAPES = {
    "background-child": "cat fifo-in &",
    "own-session": "setsid cat fifo-in &",
    "double-fork": "(setsid sh -c 'trap \"\" HUP TERM INT; cat fifo-in' &)",
    "stubborn-command-at-the-deadline": "trap '' TERM INT; cat fifo-in; cat fifo-in",
}
"""Each leaves a process that waits for ever on `fifo-in`, and holds open what the shell had open."""


def is_held_open(descriptor: int, within_s: float) -> bool:
    """Whether somebody still has the fifo open for writing when the time is over."""
    poller = select.poll()
    poller.register(descriptor, 0)  # the end of the last writer is reported without asking
    return not poller.poll(within_s * 1000)


@pytest.mark.parametrize("escape", ESCAPES)
def test_nobody_outlives_the_run(escape: str, new_ground: Callable[[], Ground]) -> None:
    for sandboxed in (False, True):
        ground = new_ground()
        for name in ("fifo-in", "fifo-out"):
            os.mkfifo(ground.at("ws", name))
            os.chown(ground.at("ws", name), ground.identity.uid, ground.identity.gid)
        reader = os.open(ground.at("ws", "fifo-out"), os.O_RDONLY | os.O_NONBLOCK)
        keeper = os.open(ground.at("ws", "fifo-in"), os.O_RDWR)
        try:
            script = f"exec 8> fifo-out > /dev/null 2>&1; {ESCAPES[escape]}"
            if sandboxed:
                run = run_sandboxctl(ground, ["sh", "-c", script], options=("--timeout", "2"))
                assert run.code in (0, 124)
                assert not is_held_open(reader, within_s=5)
            elif "deadline" not in escape:
                assert run_as(ground, ["sh", "-c", script]).code == 0
                assert is_held_open(reader, within_s=0.2)
        finally:
            os.close(keeper)
            os.close(reader)


def test_a_sandbox_in_a_sandbox_is_refused_in_one_clear_line(ground: Ground) -> None:
    policy = ground.policy(
        {
            "extends": "workspace-write",
            "profile": {
                "type": "managed",
                "file_system": {
                    "type": "restricted",
                    # both may lie below the host's /tmp
                    "entries": [
                        {"path": {"type": "path", "path": path}, "access": "read"}
                        for path in (CHECKOUT, sys.prefix)
                    ],
                },
            },
        }
    )
    inner = [*program(), "run", "--", "touch", "ran"]
    run = run_sandboxctl(ground, inner, policy=policy)
    assert run.code == 125
    [line, *rest] = run.stderr.splitlines()
    assert line.startswith("sandboxctl: cannot create `user namespace`: ")
    assert all(extra.startswith("sandboxctl: hint: ") for extra in rest)
    assert len(rest) <= 1
    assert "ran" not in ground.listing("ws")


def test_a_command_killed_by_a_signal_takes_its_children_along(ground: Ground) -> None:
    os.mkfifo(ground.at("ws", "fifo"))
    os.chown(ground.at("ws", "fifo"), ground.identity.uid, ground.identity.gid)
    reader = os.open(ground.at("ws", "fifo"), os.O_RDONLY | os.O_NONBLOCK)
    try:
        script = "exec 8> fifo; setsid sleep 300 & kill -SEGV $$"
        assert run_sandboxctl(ground, ["sh", "-c", script]).code == 128 + signal.SIGSEGV
        assert not is_held_open(reader, within_s=5)
    finally:
        os.close(reader)


def test_a_repository_can_be_worked_on_but_not_rewired(ground: Ground) -> None:
    settings = ["-c", "user.name=t", "-c", "user.email=t@t", "-c", "safe.directory=*"]
    subprocess.run(
        ["git", "init", "-q", ground.workspace],
        check=True,
        user=ground.identity.user,
        group=ground.identity.group,
        extra_groups=ground.identity.extra_groups,
        env=ground.environment(),
    )
    ground.file("ws/file", "text")
    assert run_sandboxctl(ground, ["git", *settings, "status", "--porcelain"]).stdout == "?? file\n"
    run = run_sandboxctl(ground, ["git", *settings, "config", "core.hooksPath", "/tmp"])
    assert run.code != 0
    assert "Read-only file system" in run.stderr
    assert run_as(ground, ["git", *settings, "config", "core.hooksPath", "/tmp"]).code == 0


def test_the_victims_really_run_outside_without_a_sandbox(ground: Ground) -> None:
    answers = answers_of(run_as(ground, ground.victim("status", {})))
    assert answers["status"]["Seccomp"] == "0"


def test_a_background_child_that_keeps_the_streams_does_not_delay_the_end(ground: Ground) -> None:
    run = run_sandboxctl(ground, ["sh", "-c", "echo out; echo err >&2; sleep 300 & exit 3"])
    assert (run.code, run.stdout, run.stderr) == (3, "out\n", "err\n")
