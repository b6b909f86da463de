"""Deciding what a command gets as its standard streams, from what this process has.

A terminal becomes the sandbox's own pty, a pipe or socket without a name is handed over as it is, and every
other file passes through us: with its descriptor a command could change the file's mode or read it again.
So does standard error, in which denials are looked for. Used by `run` only.
"""

import sys

assert sys.platform == "linux"

import os
import select
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from sandboxing.launch.pod import Stream
from sandboxing.run.foreground.endpoints import (
    Kind,
    Target,
    kind_of,
    source_of,
    source_of_our_own,
    target_of,
)
from sandboxing.run.foreground.transfer import FileFeed, Transfer
from sandboxing.run.host import Keyboard
from sandboxing.run.session import Session, Traffic, Wiring

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
        stdin: what standard input is.
        stdout: what standard output is.
        stderr: what standard error is.
        one_output: whether the latter two are one file.
        keyboard: descriptor of the terminal whose keys go to the command's own, None when it has none.
    """

    stdin: Kind
    stdout: Kind
    stderr: Kind
    one_output: bool
    keyboard: int | None


@contextmanager
def look() -> Iterator[Streams]:
    """What this process was given.

    The command gets a terminal when standard output is one that this process may read keys from.
    """
    stdin, stdout, stderr = (kind_of(descriptor) for descriptor in (STDIN, STDOUT, STDERR))
    keyboard: int | None = None
    if stdout is Kind.TERMINAL:
        keyboard = STDIN if stdin is Kind.TERMINAL else _open_keyboard()
    try:
        yield Streams(
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            one_output=stderr is not Kind.CLOSED and _same_file(STDOUT, STDERR),
            keyboard=keyboard,
        )
    finally:
        if keyboard is not None and keyboard != STDIN:
            os.close(keyboard)


class Relayed(Enum):
    """Which output passes through us although it could be handed over."""

    ERRORS = "errors"
    ALL = "all"


@dataclass(slots=True)
class Wirer:
    """Gives each stream of a command its descriptor.

    Attributes:
        session: what the transfers belong to.
        tail: where error output is remembered.
        relayed: which output has to pass through us.
        keyboard: whether lines are read from a terminal for a command that has none.
    """

    session: Session
    tail: Tail
    relayed: Relayed
    keyboard: Keyboard
    _lend: list[int] = field(default_factory=list)
    _outputs: list[Traffic] = field(default_factory=list)
    _inputs: list[Traffic] = field(default_factory=list)

    def wire(self, streams: Streams) -> Wiring:
        """The wiring for what this process was given."""
        stderr = self._stderr(streams)
        stdio = (self._stdin(streams), self._stdout(streams, stderr), stderr)
        return Wiring(stdio=stdio, outputs=self._outputs, inputs=self._inputs, lend=self._lend)

    def _stdin(self, streams: Streams) -> int | Stream:
        match streams.stdin:
            case Kind.PIPE | Kind.SOCKET:
                return STDIN
            case Kind.TERMINAL if streams.keyboard is not None:
                return Stream.TERMINAL
            case Kind.TERMINAL if self.keyboard is Keyboard.NONE:
                return Stream.NULL
            case Kind.NULL | Kind.CLOSED:
                return Stream.NULL
            case _:
                return self._fed()

    def _stdout(self, streams: Streams, stderr: int | Stream) -> int | Stream:
        if streams.keyboard is not None:
            return Stream.TERMINAL
        is_nothing = streams.stdout in {Kind.NULL, Kind.CLOSED}
        if streams.one_output and not is_nothing:
            return stderr  # one pipe for both keeps their order
        if streams.stdout is Kind.CLOSED or (is_nothing and self.relayed is Relayed.ERRORS):
            return Stream.NULL
        if streams.stdout in {Kind.PIPE, Kind.SOCKET} and self.relayed is Relayed.ERRORS:
            return STDOUT
        return self._relayed_to(STDOUT, remembered=False)

    def _stderr(self, streams: Streams) -> int | Stream:
        if streams.stderr is Kind.CLOSED:
            return Stream.NULL
        if streams.stderr is Kind.TERMINAL and streams.keyboard is not None:
            return Stream.TERMINAL
        return self._relayed_to(STDERR, remembered=True)

    def _relayed_to(self, descriptor: int, *, remembered: bool) -> int:
        read_end, write_end = os.pipe2(os.O_CLOEXEC)

        def passing(data: bytes) -> None:
            self.session.count(len(data))
            if remembered:
                self.tail.add(data)

        source, target = source_of_our_own(read_end), target_of(descriptor)
        self._lend.append(write_end)
        self._outputs.append(Transfer(self.session, source, target, passing=passing))
        return write_end

    def _fed(self) -> int:
        read_end, write_end = os.pipe2(os.O_CLOEXEC)
        source, target = source_of(STDIN), Target.of_our_own(write_end)
        feed: Transfer
        if source.pollable:
            feed = Transfer(self.session, source, target, passing=lambda _: None)
        else:
            kept = os.dup(read_end)
            feed = FileFeed(self.session, source, target, command_end=kept)
        self._lend.append(read_end)
        self._inputs.append(feed)
        return read_end


def give_up_full_outputs() -> None:
    """Point an output that takes nothing at the null device: nothing said later may wait for it either."""
    poller = select.poll()
    poller.register(STDOUT, select.POLLOUT)
    poller.register(STDERR, select.POLLOUT)
    ready = {descriptor for descriptor, _ in poller.poll(0)}
    for descriptor in {STDOUT, STDERR} - ready:
        null = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
        os.dup2(null, descriptor)
        os.close(null)


def _open_keyboard() -> int | None:
    try:
        return os.open("/dev/tty", os.O_RDWR | os.O_CLOEXEC | os.O_NOCTTY)
    except OSError:
        return None


def _same_file(left: int, right: int) -> bool:
    try:
        return os.path.samestat(os.fstat(left), os.fstat(right))
    except OSError:
        return False
