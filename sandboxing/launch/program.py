"""Starting one program from a launcher: search in PATH, standard streams, terminal, process group.

It runs after the restrictions, so a program that the sandbox hides is not found. Never used in a process
with threads.
"""

import sys

assert sys.platform == "linux"

import errno
import fcntl
import os
import signal
import struct
import termios
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NoReturn

DEFAULT_PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""Searched when the command's environment has no PATH."""

_DEFAULTED: Final = tuple(
    number
    for number in signal.valid_signals()
    if number not in (signal.SIGKILL, signal.SIGSTOP) and number < 32  # noqa: PLR2004 - real-time signals keep theirs
)
_SEARCH_GOES_ON: Final = frozenset({errno.ENOENT, errno.ENOTDIR, errno.EACCES})
_FAILURE: Final = struct.Struct("!i")


@dataclass(frozen=True, slots=True)
class ProgramFailed(Exception):
    """The program could not be started.

    Attributes:
        stage: `exec` or `terminal`.
        errno: the error number.
    """

    stage: str
    errno: int


@dataclass(frozen=True, slots=True)
class Stdio:
    """Descriptors of the three standard streams."""

    stdin: int
    stdout: int
    stderr: int


@dataclass(frozen=True, slots=True)
class Program:
    """What is to be executed.

    Attributes:
        argv: program and arguments.
        arg0: what it sees as its own name, when not argv[0].
        environment: its whole environment.
        search_path: where it is searched when the environment has no PATH.
    """

    argv: Sequence[str]
    arg0: str | None
    environment: Mapping[str, str]
    search_path: str | None = None

    @property
    def arguments(self) -> list[str]:
        """The argument vector as the program sees it."""
        return [self.arg0 if self.arg0 is not None else self.argv[0], *self.argv[1:]]

    def candidates(self) -> Iterator[str]:
        """The files a shell would try, in order."""
        if "/" in self.argv[0]:
            yield self.argv[0]
            return
        path = self.environment.get("PATH", self.search_path or DEFAULT_PATH)
        for directory in path.split(":"):
            yield f"{directory or '.'}/{self.argv[0]}"


def _search_failed(errors: Sequence[int]) -> ProgramFailed:
    # as execvp(3) does: a file that may not be run outranks one that is not there
    denied = errno.EACCES in errors
    return ProgramFailed(stage="exec", errno=errno.EACCES if denied else errno.ENOENT)


def start_with_pipes(program: Program, stdio: Stdio) -> int:
    """Start the program in a session of its own; returns its pid.

    Raises:
        ProgramFailed: no candidate could be executed.
    """
    actions = [
        (os.POSIX_SPAWN_DUP2, stdio.stdin, 0),
        (os.POSIX_SPAWN_DUP2, stdio.stdout, 1),
        (os.POSIX_SPAWN_DUP2, stdio.stderr, 2),
    ]
    errors: list[int] = []
    for path in program.candidates():
        try:
            return os.posix_spawn(
                path,
                program.arguments,
                program.environment,
                file_actions=actions,
                setsid=True,
                setsigmask=(),
                setsigdef=_DEFAULTED,
            )
        except OSError as error:
            if error.errno not in _SEARCH_GOES_ON:
                raise ProgramFailed(stage="exec", errno=error.errno or errno.EIO) from error
            errors.append(error.errno)
    raise _search_failed(errors)


def start_on_terminal(program: Program, stdio: Stdio, terminal: int) -> int:
    """Start the program in the foreground of `terminal`; returns its pid.

    The launcher itself leads the session. Were the program the leader, its process group would be
    orphaned and the kernel would discard the stop that ^Z asks for.

    Raises:
        ProgramFailed: no candidate could be executed.
    """
    try:
        os.setsid()
        fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
    except OSError as error:
        raise ProgramFailed(stage="terminal", errno=error.errno or errno.EIO) from error
    failed_read, failed_write = os.pipe2(os.O_CLOEXEC)
    pid = os.fork()
    if pid == 0:
        _become(program, stdio, terminal, failed_write)
    os.close(failed_write)
    report = os.read(failed_read, _FAILURE.size)
    os.close(failed_read)
    if report:
        os.waitpid(pid, 0)
        raise ProgramFailed(stage="exec", errno=_FAILURE.unpack(report)[0])
    return pid


def _become(program: Program, stdio: Stdio, terminal: int, failed: int) -> NoReturn:
    number = errno.EIO
    try:
        os.setpgid(0, 0)
        # SIGTTOU is still ignored here, so a background process may take the foreground
        os.tcsetpgrp(terminal, os.getpid())
        os.dup2(stdio.stdin, 0)
        os.dup2(stdio.stdout, 1)
        os.dup2(stdio.stderr, 2)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        for default in _DEFAULTED:
            signal.signal(default, signal.SIG_DFL)
        number = _execute(program)
    except OSError as error:
        number = error.errno or errno.EIO
    finally:
        os.write(failed, _FAILURE.pack(number))
        os._exit(127)


def _execute(program: Program) -> int:
    errors: list[int] = []
    for path in program.candidates():
        try:
            os.execve(path, program.arguments, program.environment)
        except OSError as error:
            if error.errno not in _SEARCH_GOES_ON:
                return error.errno or errno.EIO
            errors.append(error.errno)
    return _search_failed(errors).errno
