"""One command in one pod, driven to its end by a single-threaded loop.

It moves bytes, keeps the deadline and reports the end. It decides nothing about policy and prints nothing;
the command line and the blocking API bring the sinks.
"""

import sys

assert sys.platform == "linux"

import os
import selectors
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from sandboxing.contract.launch import Command, LaunchSpec
from sandboxing.contract.outcome import OUTPUT_LIMIT, WALL_LIMIT, Exit
from sandboxing.errors import SetupFailed
from sandboxing.launch.client import PodSource
from sandboxing.launch.pod import Exited, PodChannel, PodEvent, Ready, Started, Stopped
from sandboxing.run.host import Bounds

READ_BYTES: Final = 65536
"""The size of a pipe's buffer, pipe(7)."""

Sink = Callable[[bytes], None]


@dataclass(frozen=True, slots=True)
class Output:
    """One readable descriptor of ours, and where its bytes go."""

    descriptor: int
    sink: Sink


@dataclass(frozen=True, slots=True)
class Wiring:
    """The standard streams of one command.

    Attributes:
        stdio: descriptors for the command's stdin, stdout and stderr; None means its terminal.
        outputs: our ends of the pipes among them.
        lend: descriptors in `stdio` that we must close once the command has them.
    """

    stdio: Sequence[int | None]
    outputs: Sequence[Output] = ()
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
        source: where the pod comes from.
        observer: told of the command's life.
        bounds: the limits that are held from here.
        selector: what the loop waits on; the observer may register callables of its own as data.
    """

    source: PodSource
    observer: Observer = field(default_factory=Observer)
    bounds: Bounds = field(default_factory=Bounds)
    selector: selectors.BaseSelector = field(default_factory=selectors.DefaultSelector)
    pod: PodChannel | None = None
    _pidfd: int | None = None
    _end: Exit | None = None
    _limit: str | None = None
    _output_bytes: int = 0
    _open: set[int] = field(default_factory=set)

    def run(self, spec: LaunchSpec, command: Command, wiring: Wiring) -> Exit:
        """Build the pod, start the command, move bytes until all is over.

        Raises:
            SetupFailed: the pod could not be built, or died without a word.
            LaunchFailed: the program could not be started.
        """
        timeout_s = self.bounds.timeout_s
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        pod = self.source.open_pod(spec)
        self.pod = pod
        try:
            self._begin(pod, command, wiring)
            for output in wiring.outputs:
                self.watch(output)
            self.selector.register(pod.socket, selectors.EVENT_READ, self._on_pod)
            self._loop(deadline)
        finally:
            self.kill()
            pod.close()
            if self._pidfd is not None:
                os.close(self._pidfd)
        if self._end is None:
            raise SetupFailed("cannot watch `the sandbox`: it ended without a report", step="watch")
        return self._end

    def signal(self, number: int) -> None:
        """Send a signal to the command's process group."""
        if self.pod is not None:
            self.pod.signal(number)

    def kill(self) -> None:
        """End the pod and everything in it; nothing happens when it has ended."""
        if self._pidfd is None:
            return
        try:
            signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
        except ProcessLookupError:
            return

    def _begin(self, pod: PodChannel, command: Command, wiring: Wiring) -> None:
        try:
            ready = pod.next_event()
            if not isinstance(ready, Ready):
                raise SetupFailed("cannot build `the sandbox`: it ended without a report", step="build")
            self._pidfd = ready.pidfd
            pod.start(command, wiring.stdio)
        finally:
            for descriptor in wiring.lend:
                os.close(descriptor)
        started = pod.next_event()
        if not isinstance(started, Started):
            raise SetupFailed("cannot start `the command`: the sandbox ended first", step="start")
        self.observer.started(started.terminal)

    def _reader(self, output: Output) -> Callable[[], None]:
        def read() -> None:
            try:
                data = os.read(output.descriptor, READ_BYTES)
            except OSError:
                data = b""  # EIO: the last user of the terminal is gone
            if data:
                self._count(len(data))
                output.sink(data)
            else:
                self.forget(output.descriptor)

        return read

    def _count(self, size: int) -> None:
        self._output_bytes += size
        allowed = self.bounds.output_bytes
        if allowed is not None and self._output_bytes > allowed:
            self._end_by(OUTPUT_LIMIT)

    def _end_by(self, limit: str) -> None:
        self._limit = self._limit or limit
        self.kill()

    def watch(self, output: Output) -> None:
        """Move bytes from one more descriptor, such as a terminal's master."""
        self._open.add(output.descriptor)
        self.selector.register(output.descriptor, selectors.EVENT_READ, self._reader(output))

    def forget(self, descriptor: int) -> None:
        """Stop watching a descriptor and close it."""
        self._open.discard(descriptor)
        self.selector.unregister(descriptor)
        os.close(descriptor)

    def _on_pod(self) -> None:
        if self.pod is None:
            return
        event: PodEvent | None = self.pod.next_event()
        match event:
            case Exited(exit=end):
                self._end = end
                self.selector.unregister(self.pod.socket)
            case Stopped(signal=number):
                self.observer.stopped(number)
            case None:
                # the pod was killed, by us at the deadline or from outside
                self._end = Exit(code=None, signal=signal.SIGKILL, limit=self._limit)
                self.selector.unregister(self.pod.socket)
            case _:
                pass

    def _loop(self, deadline: float | None) -> None:
        while self._end is None or self._open:
            timeout = None if deadline is None else max(0.0, deadline - time.monotonic())
            if timeout == 0.0:
                if self._limit == WALL_LIMIT:
                    return  # the pod is dead; whoever still holds its pipes is not waited for
                self._end_by(WALL_LIMIT)
                deadline = time.monotonic() + 1.0
                continue
            for key, _ in self.selector.select(timeout):
                key.data()
