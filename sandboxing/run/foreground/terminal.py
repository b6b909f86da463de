"""The user's terminal on one side, the command's pty on the other.

Keys go in raw, so ^C and ^Z are the pty's affair; a stop of the command stops this process for the shell's
job control, and a resize is passed on. The terminal's settings are put back whatever happens.
"""

import sys

assert sys.platform == "linux"

import fcntl
import os
import selectors
import signal
import struct
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from sandboxing.contract.launch import TerminalSize
from sandboxing.run.foreground.wiring import STDOUT, Tail, write_all
from sandboxing.run.session import READ_BYTES, Observer, Output, Session

_SIZE: Final = struct.Struct("HHHH")
_PENDING_LIMIT: Final = 65536
"""Keys typed ahead of a command that does not read; beyond this the keyboard waits."""


def size_of(descriptor: int) -> TerminalSize:
    """The terminal's size; 24 by 80 when it will not say."""
    try:
        rows, columns, _, _ = _SIZE.unpack(fcntl.ioctl(descriptor, termios.TIOCGWINSZ, bytes(_SIZE.size)))
    except OSError:
        rows, columns = 0, 0
    return TerminalSize(rows=rows or 24, columns=columns or 80)


class TerminalRelay(Observer):
    """Joins the user's terminal to the command's pty while a session runs."""

    def __init__(self, session: Session, keyboard: int, tail: Tail) -> None:
        """Prepare; nothing is changed until the command has started.

        Args:
            session: the session that drives the loop.
            keyboard: descriptor of the user's terminal.
            tail: where output is remembered.
        """
        self._session = session
        self._keyboard = keyboard
        self._tail = tail
        self._master = -1
        self._saved: list[Any] | None = None
        self._pending = bytearray()

    def started(self, terminal: int | None) -> None:
        """Join the two terminals."""
        if terminal is None:
            return
        self._master = terminal
        self._session.watch(Output(descriptor=os.dup(terminal), sink=self._show))
        os.set_blocking(terminal, False)
        self._session.selector.register(self._keyboard, selectors.EVENT_READ, self._on_key)
        signal.signal(signal.SIGWINCH, lambda _number, _frame: self._resize())
        signal.signal(signal.SIGCONT, lambda _number, _frame: self._resume())
        self._make_raw()

    def stopped(self, number: int) -> None:
        """Stop as the command did, so that the user's shell gets its turn; go on when told to."""
        del number
        self.restore()
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.killpg(os.getpgrp(), signal.SIGTSTP)

    def restore(self) -> None:
        """Put the user's terminal back as it was."""
        if self._saved is not None:
            termios.tcsetattr(self._keyboard, termios.TCSADRAIN, self._saved)
            self._saved = None

    def close(self) -> None:
        """Put the terminal back and let go of the pty."""
        self.restore()
        if self._master >= 0:
            os.close(self._master)
            self._master = -1

    def _in_foreground(self) -> bool:
        try:
            return os.tcgetpgrp(self._keyboard) == os.getpgrp()
        except OSError:
            return False

    def _make_raw(self) -> None:
        # in the background, touching the terminal would stop us
        if self._saved is None and self._in_foreground():
            self._saved = termios.tcgetattr(self._keyboard)
            tty.setraw(self._keyboard, termios.TCSADRAIN)

    def _resume(self) -> None:
        self._make_raw()
        self._resize()
        self._session.signal(signal.SIGCONT)

    def _resize(self) -> None:
        if self._master >= 0:
            size = size_of(self._keyboard)
            fcntl.ioctl(self._master, termios.TIOCSWINSZ, _SIZE.pack(size.rows, size.columns, 0, 0))

    def _show(self, data: bytes) -> None:
        self._tail.add(data)
        write_all(STDOUT, data)

    def _on_key(self) -> None:
        if not self._in_foreground():
            return
        try:
            data = os.read(self._keyboard, READ_BYTES)
        except OSError:
            data = b""
        if not data:
            self._session.selector.unregister(self._keyboard)
            return
        self._pending.extend(data)
        self._flush()

    def _flush(self) -> None:
        selector = self._session.selector
        try:
            while self._pending:
                del self._pending[: os.write(self._master, self._pending)]
        except BlockingIOError:
            if len(self._pending) >= _PENDING_LIMIT:
                selector.unregister(self._keyboard)
        except OSError:
            self._pending.clear()
        waiting = self._master in selector.get_map()
        if self._pending and not waiting:
            selector.register(self._master, selectors.EVENT_WRITE, self._on_writable)
        elif not self._pending and waiting:
            selector.unregister(self._master)

    def _on_writable(self) -> None:
        self._flush()
        if self._keyboard not in self._session.selector.get_map():
            self._session.selector.register(self._keyboard, selectors.EVENT_READ, self._on_key)


@contextmanager
def attached(session: Session, keyboard: int, tail: Tail) -> Iterator[TerminalRelay]:
    """A relay for `session`, taken apart at the end whatever happens."""
    relay = TerminalRelay(session, keyboard, tail)
    session.observer = relay
    try:
        yield relay
    finally:
        relay.close()
