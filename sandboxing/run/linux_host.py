"""The Linux host: the Linux backend together with the ways to run what it planned.

Only the registry makes one. It decides nothing; backend and session do the work.
"""

import sys

assert sys.platform == "linux"

import os
import selectors
from collections.abc import Callable
from dataclasses import dataclass

from sandboxing.backends.linux.backend import LinuxBackend
from sandboxing.binding.bound import BoundPolicy
from sandboxing.contract.backend import Planned
from sandboxing.contract.capabilities import Capabilities
from sandboxing.contract.launch import Command, LaunchSpec
from sandboxing.errors import SandboxUnavailable, SetupFailed
from sandboxing.run.foreground.drive import drive
from sandboxing.run.host import Bounds, Captured, Finished
from sandboxing.run.session import Observer, Output, Session, Wiring


@dataclass(frozen=True, slots=True)
class LinuxHost:
    """Plans and runs on Linux.

    Attributes:
        backend: the Linux backend.
    """

    backend: LinuxBackend

    def probe(self) -> Capabilities:
        """What this host offers."""
        return self.backend.probe()

    def plan(self, bound: BoundPolicy, capabilities: Capabilities) -> Planned:
        """Turn a bound policy into a plan."""
        return self.backend.plan(bound, capabilities)

    def explain_failure(self, failure: SetupFailed) -> SandboxUnavailable | SetupFailed:
        """The error to show for a setup step that the kernel refused."""
        return self.backend.explain_failure(failure)

    def run_in_foreground(self, spec: LaunchSpec, command: Command, *, bounds: Bounds) -> Finished:
        """Run with this process's own streams; this process is its own spawner."""
        source = self.backend.in_process_spawner()
        try:
            return drive(source, spec, command, bounds=bounds)
        finally:
            source.close()

    def run_captured(
        self, spec: LaunchSpec, command: Command, *, stdin: bytes, keep: int, bounds: Bounds
    ) -> Captured:
        """Run with input given and output kept; works in a process with threads."""
        source = self.backend.spawner_process()
        outputs = (_Kept(limit=keep), _Kept(limit=keep))
        try:
            session = Session(source=source, bounds=bounds)
            feeder, wiring = _wire(session, stdin, outputs)
            session.observer = feeder
            end = session.run(spec, command, wiring)
        finally:
            source.close()
        return Captured(
            exit=end,
            stdout=bytes(outputs[0].data),
            stderr=bytes(outputs[1].data),
            truncated=any(output.cut for output in outputs),
        )


class _Kept:
    """Output that is kept up to a limit; what is over it is read and dropped, so that nobody blocks."""

    def __init__(self, *, limit: int) -> None:
        self.limit = limit
        self.data = bytearray()
        self.cut = False

    def add(self, data: bytes) -> None:
        """Keep as much as fits."""
        room = self.limit - len(self.data)
        self.data.extend(data[:room])
        self.cut = self.cut or len(data) > room


class _Feeder(Observer):
    """Writes the input as the command reads it."""

    def __init__(self, session: Session, descriptor: int, data: bytes) -> None:
        self._session = session
        self._descriptor = descriptor
        self._rest = memoryview(data)

    def started(self, terminal: int | None) -> None:
        """Begin to feed."""
        del terminal
        os.set_blocking(self._descriptor, False)
        feed: Callable[[], None] = self._feed
        self._session.selector.register(self._descriptor, selectors.EVENT_WRITE, feed)

    def _feed(self) -> None:
        try:
            self._rest = self._rest[os.write(self._descriptor, self._rest) :]
        except BlockingIOError:
            return
        except OSError:
            self._rest = self._rest[:0]
        if not self._rest:
            self._session.selector.unregister(self._descriptor)
            os.close(self._descriptor)


def _wire(session: Session, stdin: bytes, outputs: tuple[_Kept, _Kept]) -> tuple[_Feeder, Wiring]:
    input_read, input_write = os.pipe2(os.O_CLOEXEC)
    lend = [input_read]
    watched: list[Output] = []
    for output in outputs:
        read_end, write_end = os.pipe2(os.O_CLOEXEC)
        lend.append(write_end)
        watched.append(Output(descriptor=read_end, sink=output.add))
    return _Feeder(session, input_write, stdin), Wiring(stdio=tuple(lend), outputs=watched, lend=tuple(lend))
