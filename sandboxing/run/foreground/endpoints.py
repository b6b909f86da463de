"""Sources and targets of bytes that can be used without blocking, made from descriptors of any kind.

Descriptors 0 to 2 share their flags with the caller's shell, so they are never made non-blocking themselves.
Used by the transfers of a foreground run.
"""

import sys

assert sys.platform == "linux"

import os
import select
import socket
import stat
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

Write = Callable[[memoryview], int]


class Kind(Enum):
    """What a standard stream is, as far as it matters here."""

    TERMINAL = "terminal"
    NULL = "null device"
    PIPE = "pipe without a name"
    SOCKET = "socket"
    CLOSED = "closed"
    OTHER = "anything else"


def kind_of(descriptor: int) -> Kind:
    """What an inherited descriptor is."""
    try:
        found = os.fstat(descriptor)
        if os.isatty(descriptor):
            return Kind.TERMINAL
    except OSError:
        return Kind.CLOSED
    if stat.S_ISSOCK(found.st_mode):
        return Kind.SOCKET
    if stat.S_ISCHR(found.st_mode) and found.st_rdev == os.stat(os.devnull).st_rdev:
        return Kind.NULL
    if stat.S_ISFIFO(found.st_mode) and found.st_dev == _device_of_pipes():
        return Kind.PIPE
    return Kind.OTHER


def _device_of_pipes() -> int:
    read_end, write_end = os.pipe2(os.O_CLOEXEC)
    try:
        return os.fstat(read_end).st_dev
    finally:
        os.close(read_end)
        os.close(write_end)


@dataclass(frozen=True, slots=True)
class Source:
    """Where bytes come from.

    Attributes:
        descriptor: what is read.
        owned: whether it is ours to close.
        pollable: whether it can be waited for; a regular file is always ready instead.
    """

    descriptor: int
    owned: bool
    pollable: bool


@dataclass(frozen=True, slots=True)
class Target:
    """Where bytes go.

    Attributes:
        descriptor: what is waited for.
        write: writes some of what it is given; BlockingIOError when it can take nothing.
        owned: whether the descriptor is ours to close.
        pollable: whether it can be waited for; a regular file is always ready instead.
        ready_first: whether it must be waited for before each write, because that might block.
    """

    descriptor: int
    write: Write
    owned: bool
    pollable: bool
    ready_first: bool = False

    @classmethod
    def of_our_own(cls, descriptor: int, *, owned: bool = True) -> "Target":
        """Our end of a pipe or pty, which becomes non-blocking."""
        os.set_blocking(descriptor, False)
        return cls(descriptor=descriptor, write=_writing(descriptor), owned=owned, pollable=True)


def source_of_our_own(descriptor: int) -> Source:
    """Our end of a pipe or pty, which becomes non-blocking."""
    os.set_blocking(descriptor, False)
    return Source(descriptor=descriptor, owned=True, pollable=True)


def source_of(descriptor: int) -> Source:
    """An inherited descriptor to read from."""
    pollable = _is_pollable(descriptor)
    again = _opened_again(descriptor, os.O_RDONLY)
    if again is not None:
        return Source(descriptor=again, owned=True, pollable=pollable)
    return Source(descriptor=descriptor, owned=False, pollable=pollable)


def target_of(descriptor: int) -> Target:
    """An inherited descriptor to write to."""
    if not _is_pollable(descriptor):
        return Target(descriptor=descriptor, write=_writing(descriptor), owned=False, pollable=False)
    if stat.S_ISSOCK(os.fstat(descriptor).st_mode):
        # the socket object owns a duplicate and lives as long as the closure
        other = socket.socket(fileno=os.dup(descriptor))
        return Target(
            descriptor=descriptor,
            write=lambda data: other.send(data, socket.MSG_DONTWAIT),
            owned=False,
            pollable=True,
        )
    again = _opened_again(descriptor, os.O_WRONLY)
    if again is not None:
        return Target(descriptor=again, write=_writing(again), owned=True, pollable=True)

    def write_a_little(data: memoryview) -> int:
        # a pipe that is ready takes as much as this without blocking, pipe(7)
        return os.write(descriptor, data[: select.PIPE_BUF])

    return Target(descriptor=descriptor, write=write_a_little, owned=False, pollable=True, ready_first=True)


def _writing(descriptor: int) -> Write:
    return lambda data: os.write(descriptor, data)


def _is_pollable(descriptor: int) -> bool:
    with select.epoll() as poller:
        try:
            poller.register(descriptor, 0)
        except PermissionError:
            return False
    return True


def _opened_again(descriptor: int, access: int) -> int | None:
    """The same pipe or terminal with flags of its own; None for others, and where it may not be opened."""
    if not (stat.S_ISFIFO(os.fstat(descriptor).st_mode) or os.isatty(descriptor)):
        return None
    flags = access | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
    try:
        return os.open(f"/proc/self/fd/{descriptor}", flags)
    except OSError:
        return None
