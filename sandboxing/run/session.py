"""One command in one pod, driven to its end by a single-threaded loop.

It keeps the deadline, tells traffic when to begin and when to stop, and reports the end. It decides nothing
about policy and prints nothing; the command line and the blocking API bring the traffic.
"""

import sys

assert sys.platform == "linux"

import os
import select
import selectors
import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Final, Protocol

from sandboxing.contract.launch import Command
from sandboxing.contract.outcome import OUTPUT_LIMIT, WALL_LIMIT, Exit
from sandboxing.errors import SetupFailed
from sandboxing.launch.pod import Exited, PodChannel, PodEvent, Ready, Started, Stopped, Stream
from sandboxing.run.host import Bounds

READ_BYTES: Final = 65536
"""The size of a pipe's buffer, pipe(7)."""

GRACE_S: Final = 1.0
"""How long a killed pod may take to end, and output may still come from outside after the command's end."""


class Traffic(Protocol):
    """Bytes on their way from one place to another, moved by the session's loop without ever blocking it."""

    @property
    def done(self) -> bool:
        """Whether everything has arrived and nothing more will come."""

    def begin(self) -> None:
        """Wait for bytes from now on."""

    def conclude(self) -> None:
        """Take what is there and no more; what has been taken is still delivered."""

    def close(self) -> None:
        """Let go of every descriptor, delivered or not."""


@dataclass(frozen=True, slots=True)
class Wiring:
    """The standard streams of one command.

    Attributes:
        stdio: the command's stdin, stdout and stderr.
        outputs: what carries output of it; the end of the session waits for them.
        inputs: what feeds it; the end of the session does not.
        lend: descriptors in `stdio` that we must close once the command has them.
    """

    stdio: Sequence[int | Stream]
    outputs: Sequence[Traffic] = ()
    inputs: Sequence[Traffic] = ()
    lend: Sequence[int] = ()


class Observer:
    """Hooks of a session; the default does nothing."""

    def started(self, terminal: int | None) -> None:
        """The command runs; `terminal` is the master of its pty and belongs to the observer."""

    def stopped(self, number: int) -> None:
        """A stop signal stopped the command."""


@dataclass(slots=True)
class Session:
    """Runs one command and returns how it ended.

    Attributes:
        pod: the pod, which may still be being built; the session closes it.
        bounds: the limits that are held from here.
        observer: told of the command's life.
        selector: what the loop waits on; whoever registers gives a callable as data.
    """

    pod: PodChannel
    bounds: Bounds = field(default_factory=Bounds)
    observer: Observer = field(default_factory=Observer)
    selector: selectors.BaseSelector = field(default_factory=selectors.DefaultSelector)
    _outputs: list[Traffic] = field(default_factory=list)
    _inputs: list[Traffic] = field(default_factory=list)
    _lent: list[int] = field(default_factory=list)
    _early_signals: list[int] = field(default_factory=list)
    _started: bool = False
    _pidfd: int | None = None
    _end: Exit | None = None
    _limit: str | None = None
    _output_bytes: int = 0
    _deadline: float | None = None
    _conclude_at: float | None = None
    _abandon_at: float | None = None
    _hastened: bool = False
    _abandoned: bool = False

    @property
    def ended(self) -> bool:
        """Whether the command is over, though its output may still be on its way."""
        return self._end is not None

    @property
    def abandoned(self) -> bool:
        """Whether the end came before all output had been taken."""
        return self._abandoned

    def run(self, command: Command, wiring: Wiring) -> Exit:
        """Start the command as soon as the pod stands, move bytes until all is over.

        Raises:
            SetupFailed: the pod could not be built, or died without a word.
            LaunchFailed: the program could not be started.
        """
        timeout_s = self.bounds.timeout_s
        self._deadline = None if timeout_s is None else time.monotonic() + timeout_s
        self._lent.extend(wiring.lend)
        self.selector.register(self.pod.socket, selectors.EVENT_READ, lambda: self._on_pod(command, wiring))
        try:
            while not self._is_over():
                for key, _ in self.selector.select(self._patience()):
                    # what came before it in the same batch may have unregistered it
                    if self.selector.get_map().get(key.fd) is key:
                        key.data()
                self._check_times()
        finally:
            self._let_go(wiring)
        return self._end or Exit(code=None, signal=signal.SIGKILL, limit=self._limit)

    def signal(self, number: int) -> None:
        """Send a signal to the command's process group, as soon as there is one."""
        if self._started:
            self.pod.signal(number)
        else:
            self._early_signals.append(number)

    def kill(self) -> None:
        """End the command and everything in its pod; what does not end within the grace is not waited for."""
        if not self._started and self._end is None:
            self._end = Exit(code=None, signal=signal.SIGKILL, limit=self._limit)
        if self._abandon_at is None:
            self._abandon_at = time.monotonic() + GRACE_S
        self.pod.kill()

    def hasten(self) -> None:
        """Wait no longer than the grace for output to be taken, once the command has ended."""
        self._hastened = True

    def abandon(self) -> None:
        """Deliver no more output of a command that has ended."""
        self._abandoned = self.ended

    def freeze(self) -> None:
        """Stop everything in the pod, because this process is about to be stopped."""
        self.pod.freeze()

    def go_on(self) -> None:
        """This process goes on after a stop, and so does the pod unless its time is over."""
        self._check_times()
        if self._abandon_at is None:
            self.pod.thaw()

    def count(self, size: int) -> None:
        """So many bytes of output passed."""
        self._output_bytes += size
        allowed = self.bounds.output_bytes
        if allowed is not None and self._output_bytes > allowed and not self.ended:
            self._end_by(OUTPUT_LIMIT)

    def carry(self, output: Traffic) -> None:
        """Begin to carry output of the command."""
        self._outputs.append(output)
        output.begin()

    def feed(self, traffic: Traffic) -> None:
        """Begin to feed the command."""
        self._inputs.append(traffic)
        traffic.begin()

    def _is_over(self) -> bool:
        return self._abandoned or (self.ended and all(output.done for output in self._outputs))

    def _patience(self) -> float | None:
        times = [at for at in (self._deadline, self._conclude_at, self._abandon_at) if at is not None]
        return max(0.0, min(times) - time.monotonic()) if times else None

    def _check_times(self) -> None:
        now = time.monotonic()
        if self._conclude_at is not None and now >= self._conclude_at:
            self._conclude_at = None
            for output in self._outputs:
                output.conclude()
        if self._abandon_at is not None and now >= self._abandon_at:
            self._abandoned = True
        if self._deadline is not None and now >= self._deadline:
            self._deadline = None
            if self.ended:
                # it ended in time, only nobody takes its output
                self._abandoned = True
            else:
                self._end_by(WALL_LIMIT)

    def _end_by(self, limit: str) -> None:
        self._limit = self._limit or limit
        self.kill()

    def _on_pod(self, command: Command, wiring: Wiring) -> None:
        while True:
            try:
                event = self.pod.next_event()
            except SetupFailed:
                if not self._started:
                    raise
                event = None  # the command had begun, so this is how its pod ended
            self._handle(event, command, wiring)
            if self.ended or not self.pod.buffer.data:
                return

    def _handle(self, event: PodEvent | None, command: Command, wiring: Wiring) -> None:
        match event:
            case Ready(pidfd=pidfd):
                self._pidfd = pidfd
                self._ask_to_start(command, wiring)
            case Started(terminal=terminal):
                self._begin(terminal, wiring)
            case Exited(exit=end):
                self._finish(replace(end, limit=self._limit))
            case Stopped(signal=number):
                self.observer.stopped(number)
            case None if not self._started:
                raise SetupFailed("cannot build `the sandbox`: it ended without a report", step="build")
            case None:
                # the pod was killed, from outside or because it was the only way
                self._finish(Exit(code=None, signal=signal.SIGKILL, limit=self._limit))
            case _:
                pass

    def _ask_to_start(self, command: Command, wiring: Wiring) -> None:
        try:
            self.pod.start(command, wiring.stdio)
        except OSError as error:
            raise SetupFailed("cannot start `the command`: the sandbox ended first", step="start") from error
        self._take_back()

    def _begin(self, terminal: int | None, wiring: Wiring) -> None:
        self._started = True
        self.observer.started(terminal)
        for output in wiring.outputs:
            self.carry(output)
        for traffic in wiring.inputs:
            self.feed(traffic)
        for number in self._early_signals:
            self.pod.signal(number)

    def _finish(self, end: Exit) -> None:
        self._end = end
        self._conclude_at = time.monotonic() + GRACE_S
        if self._hastened and self._abandon_at is None:
            self._abandon_at = self._conclude_at
        self.selector.unregister(self.pod.socket)

    def _take_back(self) -> None:
        for descriptor in self._lent:
            os.close(descriptor)
        self._lent.clear()

    def _let_go(self, wiring: Wiring) -> None:
        self._take_back()
        unbegun = () if self._started else (*wiring.outputs, *wiring.inputs)
        for traffic in (*self._outputs, *self._inputs, *unbegun):
            traffic.close()
        self.pod.close()
        self.selector.close()
        if self._pidfd is None:
            return
        if self._conclude_at is None and self._abandon_at is not None:
            # outside a pid namespace only the launcher can end the command
            poller = select.poll()
            poller.register(self._pidfd, select.POLLIN)
            poller.poll(GRACE_S * 1000)
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
        os.close(self._pidfd)
