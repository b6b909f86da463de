"""The Linux host: the Linux backend together with the ways to run what it planned.

Only the registry makes one. It decides nothing; backend and session do the work.
"""

import sys

assert sys.platform == "linux"

import os
import selectors
from dataclasses import dataclass

from sandboxing.backends.linux.backend import LinuxBackend
from sandboxing.binding.bound import BoundPolicy
from sandboxing.contract.backend import Planned
from sandboxing.contract.capabilities import Capabilities
from sandboxing.contract.launch import Command, LaunchSpec
from sandboxing.errors import SandboxUnavailable, SetupFailed
from sandboxing.run.foreground.drive import drive
from sandboxing.run.host import Bounds, Captured, Finished, Keyboard
from sandboxing.run.session import READ_BYTES, Session, Wiring


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

    def run_in_foreground(
        self, spec: LaunchSpec, command: Command, *, bounds: Bounds, keyboard: Keyboard = Keyboard.NONE
    ) -> Finished:
        """Run with this process's own streams; this process is its own spawner."""
        source = self.backend.in_process_spawner()
        try:
            return drive(source, spec, command, bounds=bounds, keyboard=keyboard)
        finally:
            source.close()

    def run_captured(
        self, spec: LaunchSpec, command: Command, *, stdin: bytes, keep: int, bounds: Bounds
    ) -> Captured:
        """Run with input given and output kept; works in a process with threads."""
        source = self.backend.spawner_process()
        try:
            session = Session(pod=source.open_pod(spec), bounds=bounds)
            wiring, outputs = _wire(session, stdin, keep)
            end = session.run(command, wiring)
        finally:
            source.close()
        return Captured(
            exit=end,
            stdout=bytes(outputs[0].data),
            stderr=bytes(outputs[1].data),
            truncated=any(output.cut for output in outputs),
        )


class _Pipe:
    """Our end of a pipe, watched by a session until it is closed."""

    def __init__(self, session: Session, descriptor: int) -> None:
        self._session = session
        self._descriptor = descriptor
        self._open = True

    @property
    def done(self) -> bool:
        """Whether nothing passes any more: all was read or written, or the other end is gone."""
        return not self._open

    def close(self) -> None:
        """Let nothing more pass."""
        if self._open:
            self._open = False
            if self._descriptor in self._session.selector.get_map():
                self._session.selector.unregister(self._descriptor)
            os.close(self._descriptor)


class _Kept(_Pipe):
    """Output that is kept up to a limit; what is over it is read and dropped, so that nobody blocks."""

    def __init__(self, session: Session, descriptor: int, *, limit: int) -> None:
        super().__init__(session, descriptor)
        self._limit = limit
        self.data = bytearray()
        self.cut = False

    def begin(self) -> None:
        """Read as it comes."""
        # the command has the other end, and might take away what made this one ready
        os.set_blocking(self._descriptor, False)
        self._session.selector.register(self._descriptor, selectors.EVENT_READ, self._take)

    def conclude(self) -> None:
        """Take what is there, up to the limit, and no more."""
        while self._open and len(self.data) < self._limit and self._take():
            pass
        self.close()

    def _take(self) -> bool:
        """Read once; returns whether something came."""
        try:
            data = os.read(self._descriptor, READ_BYTES)
        except BlockingIOError:
            return False
        if not data:
            self.close()
            return False
        self._session.count(len(data))
        room = self._limit - len(self.data)
        self.data.extend(data[:room])
        self.cut = self.cut or len(data) > room
        return True


class _Given(_Pipe):
    """Input that is written as the command reads it."""

    def __init__(self, session: Session, descriptor: int, data: bytes) -> None:
        super().__init__(session, descriptor)
        self._rest = memoryview(data)

    def begin(self) -> None:
        """Write as there is room."""
        os.set_blocking(self._descriptor, False)
        self._session.selector.register(self._descriptor, selectors.EVENT_WRITE, self._write)

    def conclude(self) -> None:
        """Write no more."""
        self.close()

    def _write(self) -> None:
        try:
            self._rest = self._rest[os.write(self._descriptor, self._rest) :]
        except BlockingIOError:
            return
        except OSError:
            self._rest = self._rest[:0]
        if not self._rest:
            self.close()


def _wire(session: Session, stdin: bytes, keep: int) -> tuple[Wiring, tuple[_Kept, _Kept]]:
    (input_read, input_write), *pipes = (os.pipe2(os.O_CLOEXEC) for _ in range(3))
    stdout, stderr = (_Kept(session, read_end, limit=keep) for read_end, _ in pipes)
    lend = (input_read, *(write_end for _, write_end in pipes))
    given = _Given(session, input_write, stdin)
    return Wiring(stdio=lend, outputs=(stdout, stderr), inputs=(given,), lend=lend), (stdout, stderr)
