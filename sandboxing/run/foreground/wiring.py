"""Deciding what a command gets as its standard streams, from what this process has.

A stream that is a terminal becomes the sandbox's own pty; any other is handed over as it is, except standard
error, which passes through us so that a denial can be explained. Used by `run` only.
"""

import sys

assert sys.platform == "linux"

import os
from collections import deque
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from sandboxing.run.session import Output, Sink, Wiring

TAIL_BYTES: Final = 256 * 1024
"""How much error output is kept to look for denials in."""

STDIN: Final = 0
STDOUT: Final = 1
STDERR: Final = 2


@dataclass(slots=True)
class Tail:
    """The last bytes that passed through, at most TAIL_BYTES of them."""

    chunks: deque[bytes] = field(default_factory=deque)
    size: int = 0

    def add(self, data: bytes) -> None:
        """Remember more, forget the oldest."""
        self.chunks.append(data)
        self.size += len(data)
        while self.size > TAIL_BYTES and len(self.chunks) > 1:
            self.size -= len(self.chunks.popleft())

    def text(self) -> str:
        """What is remembered, decoded leniently."""
        return b"".join(self.chunks).decode(errors="replace")


@dataclass(frozen=True, slots=True)
class Streams:
    """The streams of this process, looked at once.

    Attributes:
        terminal: whether the command gets a pty.
        keyboard: descriptor to read keys from, or None.
    """

    terminal: bool
    keyboard: int | None


def look() -> Streams:
    """What this process was given.

    A pty is used when standard output is a terminal that this process may read keys from.
    """
    if not _is_terminal(STDOUT):
        return Streams(terminal=False, keyboard=None)
    if _is_terminal(STDIN):
        return Streams(terminal=True, keyboard=STDIN)
    try:
        return Streams(terminal=True, keyboard=os.open("/dev/tty", os.O_RDWR | os.O_CLOEXEC | os.O_NOCTTY))
    except OSError:
        return Streams(terminal=False, keyboard=None)


class Relayed(Enum):
    """Which output passes through us."""

    ERRORS = "errors"
    ALL = "all"


def wire(streams: Streams, tail: Tail, relayed: Relayed) -> Wiring:
    """Give each stream of the command its descriptor."""
    lend: list[int] = []
    outputs: list[Output] = []

    def relay(target: int) -> int:
        read_end, write_end = os.pipe2(os.O_CLOEXEC)
        lend.append(write_end)
        outputs.append(Output(descriptor=read_end, sink=_relay_to(target, tail)))
        return write_end

    stdin: int | None = _given(STDIN, lend)
    stdout: int | None = _given(STDOUT, lend)
    if streams.terminal:
        stdin = None if _is_terminal(STDIN) else stdin
        stdout = None
        stderr = None if _is_terminal(STDERR) else relay(STDERR)
    else:
        stderr = relay(STDERR)
        if _same_file(STDOUT, STDERR):
            # one pipe for both keeps their order
            stdout = stderr
        elif relayed is Relayed.ALL:
            stdout = relay(STDOUT)
    return Wiring(stdio=(stdin, stdout, stderr), outputs=outputs, lend=lend)


def _relay_to(target: int, tail: Tail) -> Sink:
    def sink(data: bytes) -> None:
        tail.add(data)
        write_all(target, data)

    return sink


def write_all(target: int, data: bytes) -> None:
    """Write everything; a reader that has gone away is no error of the command's."""
    view = memoryview(data)
    try:
        while view:
            view = view[os.write(target, view) :]
    except OSError:
        return


def _given(descriptor: int, lend: list[int]) -> int:
    try:
        os.fstat(descriptor)
    except OSError:
        null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        lend.append(null)
        return null
    return descriptor


def _is_terminal(descriptor: int) -> bool:
    try:
        return os.isatty(descriptor)
    except OSError:
        return False


def _same_file(left: int, right: int) -> bool:
    try:
        return os.path.samestat(os.fstat(left), os.fstat(right))
    except OSError:
        return False
