"""The limits of a policy: what runs into one, and that a limit this host cannot hold is refused."""

import sys

assert sys.platform == "linux"

from collections.abc import Mapping

import pytest

from platform_tests.support.ground import BASE_PYTHON, Ground
from platform_tests.support.sandboxctl import Run, run_as, run_sandboxctl

NO_SPACE = "No space left on device"
WRITE_TOO_MUCH = """
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
if open("f", "wb", 0).write(bytes(1 << 21)) == 1 << 20:
    open("f", "ab", 0).write(b"x")
"""

PROGRAMS: Mapping[str, tuple[Mapping[str, int], str, str]] = {
    "memory": ({"memory_mb": 512}, "bytearray(1 << 30)", "MemoryError"),
    "file-size": ({"file_size_mb": 1}, WRITE_TOO_MUCH, "File too large"),
    "open-files": ({"open_files": 64}, "x = [open('/dev/null') for _ in range(64)]", "Too many open files"),
    "private-tmp": ({"tmp_mb": 1}, "open('/tmp/f', 'wb').write(bytes(1 << 21))", NO_SPACE),
    "shared-memory": ({"tmp_mb": 1}, "open('/dev/shm/f', 'wb').write(bytes(1 << 21))", NO_SPACE),
}


def limited(ground: Ground, limits: Mapping[str, float], program: str, *options: str) -> Run:
    policy = ground.policy({"extends": "workspace-write", "limits": dict(limits)})
    return run_sandboxctl(ground, [BASE_PYTHON, "-I", "-S", "-c", program], policy=policy, options=options)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_limit_is_met_inside_and_not_outside(name: str, ground: Ground) -> None:
    limits, program, error = PROGRAMS[name]
    harmless = program.replace("/tmp/f", ground.at("temporary", "f"))
    harmless = harmless.replace("/dev/shm/f", ground.at("temporary", "g"))
    assert run_as(ground, [BASE_PYTHON, "-I", "-S", "-c", harmless]).code == 0
    run = limited(ground, limits, program)
    assert run.code == 1
    assert error in run.stderr
    assert run.report["denials"] == []


FORKS = """
import os, sys
pids = []
try:
    for _ in range(30):
        pid = os.fork()
        if pid == 0:
            sys.stdin.read()
            os._exit(0)
        pids.append(pid)
except BlockingIOError:
    print("stopped after", len(pids))
"""


def test_a_limit_of_processes_is_held_or_refused(ground: Ground) -> None:
    run = limited(ground, {"processes": 20}, FORKS)
    if not ground.identity.is_root:
        assert run.stdout.startswith("stopped after ")
        assert 10 <= int(run.stdout.split()[-1]) < 20
        return
    # the kernel never counts the processes of uid 0
    assert run.code == 125
    assert run.report["error"]["code"] == "sandbox-unavailable"
    assert "uid 0" in run.own_lines[0]
    allowed = limited(ground, {"processes": 20}, FORKS, "--allow-degraded", "process-limit")
    assert (allowed.code, allowed.stdout) == (0, "")


def test_a_limit_of_wall_time_ends_the_run(ground: Ground) -> None:
    run = limited(ground, {"wall_s": 1}, "import time; time.sleep(60)")
    assert run.code == 124
    assert run.report["exit"]["limit"] == "wall_s"
