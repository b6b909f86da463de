"""The user's terminal on one side, the command's pty on the other.

Keys go in raw, so ^C and ^Z are the pty's affair; a stop of the command stops this process for the shell's
job control, and a resize is passed on. The terminal's settings are put back whatever happens.
"""

import sys

assert sys.platform == "linux"

import fcntl
import os
import select
import selectors
import signal
import struct
import termios
import tty
from collections.abc import Callable
from typing import Any, Final

from sandboxing.contract.launch import TerminalSize
from sandboxing.run.foreground import signals
from sandboxing.run.foreground.endpoints import Source, Target, source_of, source_of_our_own, target_of
from sandboxing.run.foreground.transfer import Broken, Transfer
from sandboxing.run.foreground.wiring import STDOUT, Tail
from sandboxing.run.session import Observer, Session

_SIZE: Final = struct.Struct("HHHH")
_STOPPED_BY_A_TERMINAL: Final = frozenset({signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU})
_NEW_KEYS: Final = select.EPOLLIN | select.EPOLLET


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
        self._screen: Transfer | None = None
        self._keys: Transfer | None = None
        self._saved: list[Any] | None = None

    def started(self, terminal: int | None) -> None:
        """Join the two terminals."""
        if terminal is None:
            return
        self._master = terminal
        source, target = source_of_our_own(os.dup(terminal)), target_of(STDOUT)
        self._screen = Transfer(self._session, source, target, passing=self._shown, broken=Broken.DISCARD)
        self._session.carry(self._screen)
        self._make_raw()
        source, target = source_of(self._keyboard), Target.of_our_own(os.dup(terminal))
        self._keys = _Keys(self._session, source, target, are_ours=self._take_foreground, gone=self._hang_up)
        self._session.feed(self._keys)

    def stopped(self, number: int) -> None:
        """Stop as the command did, so that the user's shell gets its turn; go on when told to.

        A command that stopped itself by SIGSTOP asked for no turn of the shell, so that one is not followed.
        """
        if number in _STOPPED_BY_A_TERMINAL:
            self._stop(lambda: os.killpg(os.getpgrp(), signal.SIGTSTP))

    def stop_alone(self) -> None:
        """Stop this process and the command; others of our process group are told by whoever told us."""
        self._stop(lambda: os.kill(os.getpid(), signal.SIGTSTP))

    def reactions(self) -> signals.Reactions:
        """What to do with the signals of a terminal."""
        return {
            signal.SIGTSTP: self.stop_alone,
            signal.SIGWINCH: self._resize,
            signal.SIGCONT: self._go_on,
        }

    def close(self) -> None:
        """Put the terminal back, drop what was typed for the command, and let go of the pty."""
        if self._saved is not None and self._in_foreground():
            # among it are a terminal's answers to what the command asked it
            termios.tcflush(self._keyboard, termios.TCIFLUSH)
        self._restore()
        if self._master >= 0:
            os.close(self._master)
            self._master = -1

    def _hang_up(self) -> None:
        """The user's terminal is gone, and so is the command's: its programs are told as they expect it."""
        for transfer in (self._screen, self._keys):
            if transfer is not None:
                transfer.close()
        os.close(self._master)
        self._master = -1

    def _stop(self, stop: Callable[[], None]) -> None:
        self._restore()
        signals.stop_together(self._session, stop)
        self._go_on()

    def _restore(self) -> None:
        if self._saved is not None and self._in_foreground():
            # TCSADRAIN would wait for a terminal that shows nothing just now
            termios.tcsetattr(self._keyboard, termios.TCSANOW, self._saved)
        self._saved = None

    def _in_foreground(self) -> bool:
        try:
            return os.tcgetpgrp(self._keyboard) == os.getpgrp()
        except OSError:
            return False

    def _take_foreground(self) -> bool:
        """Whether we are in the foreground; a shell may have put us there without a word."""
        self._make_raw()
        return self._in_foreground()

    def _make_raw(self) -> None:
        # in the background, touching the terminal would stop us
        if self._saved is None and self._in_foreground():
            self._saved = termios.tcgetattr(self._keyboard)
            tty.setraw(self._keyboard, termios.TCSANOW)

    def _go_on(self) -> None:
        self._make_raw()
        self._resize()

    def _resize(self) -> None:
        if self._master >= 0:
            size = size_of(self._keyboard)
            fcntl.ioctl(self._master, termios.TIOCSWINSZ, _SIZE.pack(size.rows, size.columns, 0, 0))

    def _shown(self, data: bytes) -> None:
        self._session.count(len(data))
        self._tail.add(data)


class _Keys(Transfer):
    """The keyboard, read only while we are in its foreground.

    In the background the keys are somebody else's, and they may lie there for long: only new ones wake us.
    """

    def __init__(
        self,
        session: Session,
        source: Source,
        target: Target,
        *,
        are_ours: Callable[[], bool],
        gone: Callable[[], None],
    ) -> None:
        super().__init__(session, source, target, passing=lambda _: None)
        self._keyboard = source.descriptor
        self._are_ours = are_ours
        self._gone = gone
        self._news: select.epoll | None = None

    def listen(self, selector: selectors.BaseSelector, ready: Callable[[], None]) -> None:
        """Wait for new keys."""
        self._news = select.epoll()
        self._news.register(self._keyboard, _NEW_KEYS)
        selector.register(self._news, selectors.EVENT_READ, ready)

    def listen_no_more(self, selector: selectors.BaseSelector) -> None:
        """Wait no more."""
        if self._news is not None:
            selector.unregister(self._news)
            self._news.close()
            self._news = None

    def may_read(self) -> bool:
        """Whether the keys are ours."""
        if self._news is None:
            return False
        if any(events & select.EPOLLHUP for _, events in self._news.poll(0)):
            self._gone()
            return False
        if not self._are_ours():
            return False
        self._news.modify(self._keyboard, _NEW_KEYS)  # tell again of what will be left
        return True
