"""A terminal with somebody at it: a program on a pty of its own, keys sent to it, its output waited for.

It draws nothing: output is searched as it comes, escape sequences and all. Used by the terminal tests.
"""

import sys

assert sys.platform == "linux"

import fcntl
import os
import re
import select
import struct
import subprocess
import termios
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from platform_tests.support.ground import Ground

WAIT_S: Final = 20.0
"""Longest time for something to appear."""

_LEADER: Final = (
    "import fcntl, os, sys, termios; os.setsid(); fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
    "os.execvp(sys.argv[1], sys.argv[1:])"
)


@dataclass(slots=True)
class Terminal:
    """One terminal.

    Attributes:
        master: our end.
        process: the program.
        seen: output that nobody has waited for yet.
        history: all output.
    """

    master: int
    process: "subprocess.Popen[bytes]"
    seen: str = ""
    history: list[str] = field(default_factory=list)

    def type(self, keys: str) -> None:
        """Press keys."""
        os.write(self.master, keys.encode())

    def wait_for(self, pattern: str) -> "re.Match[str]":
        """Wait until output matches, and forget it up to there.

        Raises:
            AssertionError: it did not come.
        """
        deadline = time.monotonic() + WAIT_S
        while (found := re.search(pattern, self.seen)) is None:
            assert self._read(deadline), f"{pattern!r} did not come; seen: {''.join(self.history)!r}"
        self.seen = self.seen[found.end() :]
        return found

    def wait_for_end(self) -> int:
        """Read to the end; the program's exit code as a shell reports it."""
        deadline = time.monotonic() + WAIT_S
        while self._read(deadline):
            pass
        code = self.process.wait(timeout=WAIT_S)
        return code if code >= 0 else 128 - code

    def resize(self, rows: int, columns: int) -> None:
        """Change the size of the window."""
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def settings(self) -> list[object]:
        """Modes of the terminal: raw or not, echo or not."""
        return list(termios.tcgetattr(self.master)[:4])

    def _read(self, deadline: float) -> bool:
        """Take what comes next; False at the end and when the time is over."""
        if not select.select([self.master], [], [], max(0.0, deadline - time.monotonic()))[0]:
            return False
        try:
            data = os.read(self.master, 65536)
        except OSError:
            return False  # EIO: the last user of the terminal is gone
        text = data.decode(errors="replace")
        self.seen += text
        self.history.append(text)
        return bool(data)


@contextmanager
def at_terminal(
    ground: Ground, argv: Sequence[str], *, environment: Mapping[str, str], rows: int = 24, columns: int = 80
) -> Iterator[Terminal]:
    """Start a program as the ground's identity on a new terminal, which it leads."""
    identity = ground.identity
    master, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    if identity.switched:
        os.fchown(slave, identity.uid, identity.gid)
    try:
        process = subprocess.Popen(
            (sys.executable, "-I", "-S", "-c", _LEADER, *argv),
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=ground.workspace,
            env=dict(environment),
            user=identity.user,
            group=identity.group,
            extra_groups=identity.extra_groups,
        )
    finally:
        os.close(slave)
    try:
        yield Terminal(master=master, process=process)
    finally:
        process.kill()
        process.wait()
        os.close(master)
