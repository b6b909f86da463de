"""The one door from the server to `sandboxing.run`: starts processes and performs sandboxed file work.

A sandbox that was asked for is had or the start fails; nothing here ever falls back to running bare. It
owns two spawners, one that confines and one that does not, each started at its first use.
"""

import sys

assert sys.platform == "linux"

import asyncio
import errno
import json
import os
import signal
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from execserver.adapters.file_operations import (
    FileOperation,
    FileResult,
    operation_to_json,
    result_from_json,
)
from execserver.adapters.ports import (
    READ_CHUNK_BYTES,
    HostEnvironment,
    NotRequested,
    Requested,
    StartRequest,
    StdinMode,
    StreamName,
)
from execserver.errors import FailureKind, StartFailure
from sandboxing.backends.linux.backend import LinuxBackend
from sandboxing.backends.unconfined import backend as unconfined
from sandboxing.contract.launch import Command, LaunchSpec
from sandboxing.contract.outcome import Exit
from sandboxing.errors import (
    BindError,
    LaunchFailed,
    PathError,
    PlanError,
    SandboxctlError,
    SandboxUnavailable,
    SetupFailed,
)
from sandboxing.launch.async_pod import AsyncPod, read_some, write_all
from sandboxing.launch.client import PodSource, Respawning, SpawnerProcess
from sandboxing.launch.pod import Stream
from sandboxing.launch.warm import WarmPods
from sandboxing.profile.context import SandboxContext, WindowsSandboxLevel
from sandboxing.run import hostfacts, registry
from sandboxing.run.flow import Prepared, prepare_context
from sandboxing.run.remembering import RememberingPlanner

_PIPE_BYTES: Final = 65536
"""What a pipe holds, pipe(7)."""

FILE_SERVICE: Final = "execserver.adapters.files_worker:answer"
_SPAWN_KINDS: Final = {
    errno.ENOENT: FailureKind.SPAWN_NOT_FOUND,
    errno.EACCES: FailureKind.SPAWN_PERMISSION_DENIED,
    errno.EPERM: FailureKind.SPAWN_PERMISSION_DENIED,
}
"""What the reference calls a failed start, by error number; everything else is `spawnFailed`."""


@dataclass(slots=True)
class PodProcess:
    """A command in a pod, with our ends of its streams.

    Attributes:
        pod: the pod.
        sandbox_type: the wire's name of what confines it.
        descriptors: our end of each output stream.
        stdin: our end of its input, or None.
    """

    pod: AsyncPod
    sandbox_type: str
    descriptors: dict[StreamName, int]
    stdin: int | None
    _ended: Exit | None = None
    _rest: dict[StreamName, bytes] = field(default_factory=dict)

    @property
    def streams(self) -> tuple[StreamName, ...]:
        """Its output streams."""
        return tuple(self.descriptors)

    @property
    def accepts_stdin(self) -> bool:
        """Whether anything can be written to it."""
        return self.stdin is not None

    async def read(self, stream: StreamName) -> bytes:
        """The next output of a stream; empty at its end.

        A busy pipe is emptied by few large reads, and handed on in pieces of the protocol's size.
        """
        rest = self._rest.get(stream, b"")
        if not rest:
            rest = await read_some(self.descriptors[stream], _PIPE_BYTES)
        self._rest[stream] = rest[READ_CHUNK_BYTES:]
        return rest[:READ_CHUNK_BYTES]

    async def write_stdin(self, data: bytes) -> None:
        """Write all of it.

        Raises:
            BrokenPipeError: nobody will ever read it.
        """
        if self.stdin is None:
            raise BrokenPipeError
        await write_all(self.stdin, data)

    async def wait_exit(self) -> Exit:
        """How it ended; waits until it has."""
        if self._ended is None:
            self._ended = await self.pod.wait()
        return self._ended

    def interrupt(self) -> None:
        """Send SIGINT to its process group."""
        self.pod.signal(signal.SIGINT)

    def kill(self) -> None:
        """End the whole tree."""
        self.pod.kill()

    async def aclose(self) -> None:
        """Kill what is left and release the descriptors."""
        self.pod.close()
        owned = set(self.descriptors.values()) | ({self.stdin} if self.stdin is not None else set())
        self.stdin = None
        for descriptor in owned:
            os.close(descriptor)


@dataclass(slots=True)
class SandboxHost:
    """This machine, as the server sees it.

    Attributes:
        variables: the server's own environment.
    """

    variables: dict[str, str]
    _confining: "_Confining | None" = None
    _unconfined: PodSource | None = None
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def start(self, request: StartRequest) -> PodProcess:
        """Start a process.

        Raises:
            StartFailure: it could not be started; nothing is left behind.
        """
        try:
            spec, source = await self._place(request)
            return await _start(source, spec, request, search_path=self.variables.get("PATH"))
        except LaunchFailed as error:
            raise _spawn_failure(error.errno) from error
        except OSError as error:
            raise _spawn_failure(error.errno or errno.EIO) from error
        except SetupFailed as error:
            raise await self._unavailable(error) from error

    async def perform_file_operation(self, operation: FileOperation, sandbox: SandboxContext) -> FileResult:
        """Perform a file operation inside the sandbox itself, so that the kernel holds the policy.

        Raises:
            OSError: what the operation met.
            StartFailure: the sandbox could not be had.
        """
        confining = await self._confine()
        prepared = confining.prepare(sandbox, command_cwd=None)
        try:
            pod = await AsyncPod.open(confining.source, prepared.planned.launch)
            try:
                answer = await pod.call(json.dumps(operation_to_json(operation)).encode())
            finally:
                pod.close()
        except OSError as error:
            raise _spawn_failure(error.errno or errno.EIO) from error
        except SetupFailed as error:
            raise await self._unavailable(error) from error
        if answer is None:
            raise StartFailure("the file operation was not understood", kind=FailureKind.SANDBOX_PREPARATION)
        return result_from_json(json.loads(answer))

    def environment(self) -> HostEnvironment:
        """What the host says about itself."""
        shell = registry.login_shell(self.variables)
        facts = hostfacts.gather(self.variables)
        return HostEnvironment(
            variables=self.variables,
            cwd=facts.cwd,
            home=facts.home,
            shell_name=os.path.basename(shell),
            shell_path=shell,
            platform_os=registry.host_label(),
            temp_dir=facts.tmpdir or facts.slash_tmp or "/",
        )

    async def aclose(self) -> None:
        """End the spawners, and with them every process."""
        sources = (self._unconfined, None if self._confining is None else self._confining.source)
        for source in sources:
            if source is not None:
                await asyncio.to_thread(source.close)

    async def _place(self, request: StartRequest) -> tuple[LaunchSpec, PodSource]:
        match request.sandbox:
            case NotRequested():
                return unconfined.launch_spec(), await self._bare()
            case Requested(context=context):
                confining = await self._confine()
                prepared = confining.prepare(context, command_cwd=request.cwd)
                return prepared.planned.launch, confining.source

    async def _bare(self) -> PodSource:
        async with self._lock:
            if self._unconfined is None:
                self._unconfined = WarmPods(Respawning(partial(SpawnerProcess.start, unconfined.SPAWNER)))
        return self._unconfined

    async def _confine(self) -> "_Confining":
        async with self._lock:
            if self._confining is None:
                self._confining = _Confining.create(self.variables)
        return self._confining

    async def _unavailable(self, error: SetupFailed) -> StartFailure:
        confining = self._confining
        explained = error if confining is None else confining.backend.explain_failure(error)
        kind = (
            FailureKind.SANDBOX_UNAVAILABLE
            if isinstance(explained, SandboxUnavailable)
            else FailureKind.SANDBOX_PREPARATION
        )
        return StartFailure(_sandbox_text(explained), kind=kind)


@dataclass(frozen=True, slots=True)
class _Confining:
    """The backend that confines, and where its pods come from."""

    backend: LinuxBackend
    planner: RememberingPlanner
    source: PodSource
    variables: dict[str, str]

    @classmethod
    def create(cls, variables: dict[str, str]) -> "_Confining":
        """Find the backend and start its spawner.

        Raises:
            StartFailure: this host cannot confine anything.
        """
        try:
            backend = LinuxBackend.create()
        except SandboxUnavailable as error:
            raise StartFailure(_sandbox_text(error), kind=FailureKind.SANDBOX_UNAVAILABLE) from error
        return cls(
            backend=backend,
            planner=RememberingPlanner(backend),
            source=WarmPods(Respawning(partial(backend.spawner_process, service=FILE_SERVICE))),
            variables=variables,
        )

    def prepare(self, context: SandboxContext, *, command_cwd: str | None) -> Prepared:
        """Bind and plan an intent.

        Raises:
            StartFailure: it cannot be enforced here.
        """
        if context.windows_sandbox_level is WindowsSandboxLevel.MXC:
            raise StartFailure(
                "native MXC is unavailable on this executor", kind=FailureKind.SANDBOX_UNAVAILABLE
            )
        try:
            return prepare_context(
                context,
                backend=self.planner,
                facts=hostfacts.gather(self.variables),
                view=hostfacts.HostFileSystem(),
                command_cwd=command_cwd,
            )
        except SandboxUnavailable as error:
            raise StartFailure(_sandbox_text(error), kind=FailureKind.SANDBOX_UNAVAILABLE) from error
        except (BindError, PathError, PlanError) as error:
            raise StartFailure(_sandbox_text(error), kind=FailureKind.SANDBOX_PREPARATION) from error


async def _start(
    source: PodSource, spec: LaunchSpec, request: StartRequest, *, search_path: str | None
) -> PodProcess:
    pod = await AsyncPod.open(source, spec)
    ours: dict[StreamName, int] = {}
    theirs: list[int] = []
    stdin: int | None = None
    command = Command(
        argv=request.argv,
        cwd=request.cwd,
        env=request.env,
        search_path=search_path,
        arg0=request.arg0,
        terminal=request.terminal,
    )
    try:
        if request.terminal is not None:
            master = await pod.start(command, (Stream.TERMINAL,) * 3)
            if master is None:
                raise SetupFailed("cannot start `the command`: it has no terminal", step="start")
            os.set_blocking(master, False)
            return PodProcess(
                pod=pod, sandbox_type=spec.sandbox_type, descriptors={StreamName.PTY: master}, stdin=master
            )
        given, stdin = _input(request.stdin)
        lent = [] if isinstance(given, Stream) else [given]
        theirs.extend(lent)
        for stream in (StreamName.STDOUT, StreamName.STDERR):
            ours[stream], write_end = os.pipe2(os.O_CLOEXEC)
            os.set_blocking(ours[stream], False)
            theirs.append(write_end)
        await pod.start(command, (given, *theirs[len(lent) :]))
    except BaseException:
        pod.close()
        for descriptor in (*ours.values(), *(() if stdin is None else (stdin,))):
            os.close(descriptor)
        raise
    finally:
        for descriptor in theirs:
            os.close(descriptor)
    return PodProcess(pod=pod, sandbox_type=spec.sandbox_type, descriptors=ours, stdin=stdin)


def _input(mode: StdinMode) -> tuple[int | Stream, int | None]:
    if mode is not StdinMode.PIPE:
        return Stream.NULL, None
    read_end, write_end = os.pipe2(os.O_CLOEXEC)
    os.set_blocking(write_end, False)
    return read_end, write_end


def _spawn_failure(number: int) -> StartFailure:
    return StartFailure(
        f"{os.strerror(number)} (os error {number})",
        kind=_SPAWN_KINDS.get(number, FailureKind.SPAWN_FAILED),
    )


def _sandbox_text(error: SandboxctlError) -> str:
    hint = f" ({error.hint})" if error.hint else ""
    return f"{error.message}{hint}"
