"""Passing this process's signals on to the command, and stopping together with it.

Handlers only note the signal; the session's loop acts on it, between two pieces of work. Whatever was
installed before is installed again at the end. Used by foreground runs only.
"""

import sys

assert sys.platform == "linux"

import os
import selectors
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from types import FrameType
from typing import Any, Final, TypeAlias

from sandboxing.run.session import Session

_ENDING: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
_HELD: Final = (*_ENDING, signal.SIGUSR1, signal.SIGUSR2, signal.SIGTSTP)
_STOPPED_BY_THE_TERMINAL: Final = (signal.SIGTTIN, signal.SIGTTOU)
_MOST_REQUESTS: Final = 3
_READ_BYTES: Final = 4096

Reactions: TypeAlias = Mapping[int, Callable[[], None]]
_Previous: TypeAlias = Callable[[int, FrameType | None], Any] | int


@contextmanager
def held_back() -> Iterator[None]:
    """Deliver no signal meanwhile; one that came is delivered afterwards.

    A child that is forked meanwhile does not act on signals that are meant for us.
    """
    previous = signal.pthread_sigmask(signal.SIG_BLOCK, _HELD)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, previous)


def forwarding(session: Session) -> Reactions:
    """What to do with the signals that are meant for the command.

    The first request to end goes to the command, which may clean up. A second SIGTERM, or a third request of
    any kind, ends the whole pod; and when only output is left to deliver, the first one ends that.
    """
    requests: list[int] = []

    def request(number: int) -> None:
        requests.append(number)
        if len(requests) > 1:
            session.hasten()
        if session.ended:
            session.abandon()
        elif requests.count(signal.SIGTERM) > 1 or len(requests) >= _MOST_REQUESTS:
            session.kill()
        else:
            session.signal(number)

    return {
        **{number: partial(request, number) for number in _ENDING},
        signal.SIGUSR1: lambda: session.signal(signal.SIGUSR1),
        signal.SIGUSR2: lambda: session.signal(signal.SIGUSR2),
    }


def stop_together(session: Session, stop: Callable[[], None]) -> None:
    """Stop the pod, then this process; both go on when somebody continues this process.

    Args:
        session: whose pod is stopped.
        stop: sends this process SIGTSTP, which stops it there and then. It returns at once where nobody could
            continue us: the kernel drops the signal for a process group without a shell above it.
    """
    session.freeze()
    if signal.getsignal(signal.SIGTSTP) is not signal.SIG_IGN:
        previous = signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        stop()
        signal.signal(signal.SIGTSTP, previous)
    session.go_on()


def stopping_alone(session: Session) -> Callable[[], None]:
    """Stops this process and the pod; the others of our process group are told by the terminal itself."""
    return lambda: stop_together(session, lambda: os.kill(os.getpid(), signal.SIGTSTP))


@contextmanager
def caught(
    selector: selectors.BaseSelector, reactions: Reactions, stop: Callable[[], None]
) -> Iterator[None]:
    """React to signals in the loop of `selector`, until the end.

    Args:
        selector: whose loop acts on them.
        reactions: what to do for each; a signal that is ignored, as under nohup, stays ignored.
        stop: what to do when the terminal stops us because we are in its background. It happens at once:
            the read or write that was refused is tried again as soon as a handler returns.
    """
    read_end, write_end = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)

    def dispatch() -> None:
        for number in os.read(read_end, _READ_BYTES):
            if number in reactions:
                reactions[number]()

    previous: dict[int, _Previous] = {signal.SIGPIPE: _install(signal.SIGPIPE, signal.SIG_IGN)}
    for number in reactions:
        previous[number] = _install(number, _noted)
    for number in _STOPPED_BY_THE_TERMINAL:
        previous[number] = _install(number, lambda _number, _frame: stop())
    selector.register(read_end, selectors.EVENT_READ, dispatch)
    outer = signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
    try:
        yield
    finally:
        signal.set_wakeup_fd(outer)
        for number, handler in previous.items():
            signal.signal(number, handler)
        os.close(read_end)
        os.close(write_end)


def _install(number: int, handler: _Previous) -> _Previous:
    previous = signal.getsignal(number)
    if previous is not signal.SIG_IGN:
        signal.signal(number, handler)
    return signal.SIG_DFL if previous is None else previous


def _noted(_number: int, _frame: FrameType | None) -> None:
    """A handler must exist for the wakeup descriptor to be written."""
