"""A host whose processes are driven by the test: nothing is started, nothing is confined.

`ScriptedHost` gives out `ScriptedProcess` objects. A program whose name is in `programs` runs by itself; any
other waits for the test to emit output and to end it. File operations with a sandbox are recorded, and
performed for real or refused as the test says.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field

from execserver.adapters.file_operations import FileOperation, FileResult
from execserver.adapters.files import perform
from execserver.adapters.ports import (
    READ_CHUNK_BYTES,
    ExitStatus,
    HostEnvironment,
    Requested,
    StartFailure,
    StartRequest,
    StdinMode,
    StreamName,
)
from sandboxing.profile.context import SandboxContext

SIGINT = 2
SIGKILL = 9


class ScriptedProcess:
    """A process that does what the test says."""

    def __init__(self, request: StartRequest) -> None:
        self.request = request
        self.sandbox_type = "linuxSeccomp" if isinstance(request.sandbox, Requested) else "none"
        self.streams: tuple[StreamName, ...] = (
            (StreamName.STDOUT, StreamName.STDERR) if request.terminal is None else (StreamName.PTY,)
        )
        self.accepts_stdin = request.stdin is not StdinMode.NULL
        self.written: list[bytes] = []
        self.interrupts = 0
        self.is_killed = False
        self.is_closed = False
        self.closed = asyncio.Event()
        self.stdin_is_broken = False
        self.stdin_gate = asyncio.Event()
        self.stdin_gate.set()
        self._output: dict[StreamName, deque[bytes]] = {stream: deque() for stream in self.streams}
        self._ended: set[StreamName] = set()
        self._exit: ExitStatus | None = None
        self._changed = asyncio.Condition()
        self._tasks: set[asyncio.Task[None]] = set()

    async def read(self, stream: StreamName) -> bytes:
        async with self._changed:
            await self._changed.wait_for(lambda: self._output[stream] or stream in self._ended)
            return self._output[stream].popleft() if self._output[stream] else b""

    async def write_stdin(self, data: bytes) -> None:
        await self.stdin_gate.wait()
        if self.stdin_is_broken:
            raise BrokenPipeError
        self.written.append(data)
        await self._notify()

    async def wait_exit(self) -> ExitStatus:
        async with self._changed:
            await self._changed.wait_for(lambda: self._exit is not None)
        assert self._exit is not None
        return self._exit

    def interrupt(self) -> None:
        self.interrupts += 1

    def kill(self) -> None:
        self.is_killed = True
        if self._exit is None:
            self._spawn(self.finish(signal=SIGKILL))

    async def aclose(self) -> None:
        self.is_closed = True
        self.closed.set()

    async def emit(self, stream: StreamName, data: bytes) -> None:
        """Output that can be read from now on, cut into pieces as a pipe would."""
        for start in range(0, len(data), READ_CHUNK_BYTES):
            self._output[stream].append(data[start : start + READ_CHUNK_BYTES])
        await self._notify()

    async def exit(self, code: int | None = 0, *, signal: int | None = None) -> None:
        """The process is over; its streams may stay open."""
        if self._exit is None:
            self._exit = ExitStatus(code=None if signal is not None else code, signal=signal)
        await self._notify()

    async def end(self, *streams: StreamName) -> None:
        """These streams are at their end, all of them when none is named."""
        self._ended.update(streams or self.streams)
        await self._notify()

    async def finish(self, code: int = 0, *, signal: int | None = None) -> None:
        """Exit and end every stream."""
        await self.end()
        await self.exit(code, signal=signal)

    async def has_read_stdin(self, total: int) -> None:
        """Wait until so many bytes have been written to it."""
        async with self._changed:
            await self._changed.wait_for(lambda: sum(map(len, self.written)) >= total)

    def run(self, program: Program) -> None:
        """Let a program drive it."""
        self._spawn(program(self))

    def _spawn(self, work: Coroutine[object, object, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _notify(self) -> None:
        async with self._changed:
            self._changed.notify_all()


Program = Callable[[ScriptedProcess], Coroutine[object, object, None]]


async def echo(process: ScriptedProcess) -> None:
    """Writes its arguments and ends."""
    await process.emit(process.streams[0], " ".join(process.request.argv[1:]).encode() + b"\n")
    await process.finish()


async def true(process: ScriptedProcess) -> None:
    """Ends."""
    await process.finish()


async def env(process: ScriptedProcess) -> None:
    """Writes its environment, sorted, and ends."""
    lines = sorted(f"{name}={value}\n" for name, value in process.request.env.items())
    await process.emit(process.streams[0], "".join(lines).encode())
    await process.finish()


def default_programs() -> dict[str, Program]:
    return {"/bin/echo": echo, "/bin/true": true, "/usr/bin/env": env}


HOST_ENVIRONMENT = HostEnvironment(
    variables={"PATH": "/usr/bin:/bin", "HOME": "/home/dev", "MY_SECRET": "s", "LANG": "C"},
    cwd="/srv/lab",
    home="/home/dev",
    shell_name="bash",
    shell_path="/bin/bash",
    platform_os="linux",
    temp_dir="/tmp",
)


@dataclass
class ScriptedHost:
    """Gives out scripted processes in the order in which they are asked for.

    Attributes:
        programs: what runs by itself, by argv[0].
        facts: what the host says about itself.
        failure: raised by the next start instead of starting.
        gate: a start waits until it is set.
        processes: everything that was started, oldest first.
        sandboxed_operations: file operations that came with a sandbox.
        file_failure: raised by the next sandboxed file operation.
    """

    programs: Mapping[str, Program] = field(default_factory=default_programs)
    facts: HostEnvironment = HOST_ENVIRONMENT
    failure: StartFailure | None = None
    gate: asyncio.Event | None = None
    processes: list[ScriptedProcess] = field(default_factory=list)
    sandboxed_operations: list[FileOperation] = field(default_factory=list)
    file_failure: Exception | None = None
    is_closed: bool = False

    async def start(self, request: StartRequest) -> ScriptedProcess:
        if self.gate is not None:
            await self.gate.wait()
        if self.failure is not None:
            failure, self.failure = self.failure, None
            raise failure
        process = ScriptedProcess(request)
        self.processes.append(process)
        program = self.programs.get(request.argv[0])
        if program is not None:
            process.run(program)
        return process

    async def perform_file_operation(self, operation: FileOperation, sandbox: SandboxContext) -> FileResult:
        del sandbox
        self.sandboxed_operations.append(operation)
        if self.file_failure is not None:
            failure, self.file_failure = self.file_failure, None
            raise failure
        return await asyncio.to_thread(perform, operation)

    def environment(self) -> HostEnvironment:
        return self.facts

    async def aclose(self) -> None:
        self.is_closed = True
