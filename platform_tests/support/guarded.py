"""A program under guard: killed at a chosen moment, and watched until nothing of it is left.

The tester's side of `guard`. It judges nothing.
"""

import sys

assert sys.platform == "linux"

import json
import os
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Final

from platform_tests.support import guard
from platform_tests.support.ground import Ground
from platform_tests.support.sandboxctl import caller_environment

GONE_WITHIN_S: Final = 10.0
"""How long the kernel may take to end a whole tree on a busy machine."""


@dataclass(frozen=True, slots=True)
class Guarded:
    """A running program.

    Attributes:
        pid: its process.
        stdout: what it prints.
        lines: the conversation with the guard.
    """

    pid: int
    stdout: IO[str]
    lines: IO[str]

    def kill(self, pid: int, *, after_s: float) -> None:
        """Have a process killed at a moment, or as soon as the program changes its state before."""
        self._say(f"after {after_s:.6f} kill {pid}")

    def left(self) -> dict[str, str]:
        """Who is left, by pid, when there was time enough for everybody to end."""
        self._say(f"drain {GONE_WITHIN_S}")
        left: dict[str, str] = json.loads(self.lines.readline())
        return left

    def _say(self, line: str) -> None:
        self.lines.write(line + "\n")
        self.lines.flush()


@contextmanager
def guarded(ground: Ground, argv: Sequence[str]) -> Iterator[Guarded]:
    """Start a program as the ground's identity."""
    identity = ground.identity
    ours, theirs = socket.socketpair()
    ours.settimeout(4 * GONE_WITHIN_S)
    with theirs:
        process = subprocess.Popen(
            (sys.executable, "-I", "-S", os.path.abspath(guard.__file__), str(theirs.fileno()), *argv),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
            pass_fds=(theirs.fileno(),),
            cwd=ground.workspace,
            env=caller_environment(ground),
            user=identity.user,
            group=identity.group,
            extra_groups=identity.extra_groups,
        )
    assert process.stdout is not None
    with ours, ours.makefile("rw", encoding="ascii") as lines, process.stdout:
        yield Guarded(pid=int(lines.readline()), stdout=process.stdout, lines=lines)
    process.wait(timeout=GONE_WITHIN_S)
