"""Passing this process's signals on to the command when there is no terminal between them.

The first SIGTERM or SIGINT goes to the command, which may clean up; a stop stops the command first and
this process after it. Used by `run` only.
"""

import sys

assert sys.platform == "linux"

import os
import signal
from typing import Final

from sandboxing.run.session import Session

_FORWARDED: Final = (
    signal.SIGINT,
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGQUIT,
    signal.SIGUSR1,
    signal.SIGUSR2,
)


def forward(session: Session, *, with_terminal: bool) -> None:
    """Install handlers that pass signals on for the rest of this process's life."""
    for number in _FORWARDED:
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup and background jobs ignore some
            signal.signal(number, lambda received, _frame: session.signal(received))
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    if not with_terminal:
        signal.signal(signal.SIGTSTP, lambda _number, _frame: _stop(session))


def _stop(session: Session) -> None:
    # the command leads a session of its own, where a terminal stop is discarded; SIGSTOP is not
    session.signal(signal.SIGSTOP)
    os.kill(os.getpid(), signal.SIGSTOP)
    session.signal(signal.SIGCONT)
