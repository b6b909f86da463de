"""The ports: what the server needs from a transport and from the host that runs things.

Protocols and the plain values they exchange; no behaviour. `websocket` and `stdio` are the transports,
`sandbox_host` is the host; tests bring their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from execserver.adapters.file_operations import FileOperation, FileResult
from execserver.errors import FailureKind, StartFailure
from execserver.protocol.streams import StreamName
from sandboxing.contract.launch import TerminalSize
from sandboxing.contract.outcome import Exit
from sandboxing.profile.context import NotRequested, Requested, SandboxContext, SandboxRequest

__all__ = [
    "ExitStatus",
    "FailureKind",
    "HostEnvironment",
    "NotRequested",
    "ProcessHost",
    "Requested",
    "RunningProcess",
    "SandboxRequest",
    "StartFailure",
    "StartRequest",
    "StdinMode",
    "StreamName",
    "TerminalSize",
    "Transport",
]

ExitStatus = Exit
"""How a process ended, as the contract of the sandbox has it."""

READ_CHUNK_BYTES = 8192
"""Most bytes one read of a process stream returns (reference: 8192)."""


class StdinMode(Enum):
    """What a process gets as its standard input."""

    NULL = "null"
    """Nothing: the input is at its end from the start."""
    PIPE = "pipe"
    """A pipe that stays open until the process is over."""
    TERMINAL = "terminal"
    """The terminal it runs on."""


@dataclass(frozen=True, slots=True)
class StartRequest:
    """A process to start.

    Attributes:
        argv: program and arguments, not empty; a program without a slash is searched in the PATH of `env`,
            or in the server's when `env` has none.
        cwd: absolute native directory.
        env: the whole environment.
        arg0: what the program sees as its own name, when not argv[0].
        terminal: size of its terminal, or None for plain pipes.
        stdin: what it reads from; TERMINAL exactly when there is a terminal.
        sandbox: the sandbox it must run in, or the statement that none was asked for.
    """

    argv: tuple[str, ...]
    cwd: str
    env: Mapping[str, str]
    arg0: str | None
    terminal: TerminalSize | None
    stdin: StdinMode
    sandbox: SandboxRequest


@dataclass(frozen=True, slots=True)
class HostEnvironment:
    """What the host says about itself.

    Attributes:
        variables: the server's own environment.
        cwd: the server's working directory, native.
        home: the home directory, native, or None.
        shell_name: the login shell's short name, such as `bash`.
        shell_path: its native path.
        platform_os: the wire's name of the system: `linux`, `macos` or `windows`.
        temp_dir: the directory for temporary files, native.
    """

    variables: Mapping[str, str]
    cwd: str
    home: str | None
    shell_name: str
    shell_path: str
    platform_os: str
    temp_dir: str


class RunningProcess(Protocol):
    """One started process with its descriptors; used by one session, from one event loop."""

    @property
    def sandbox_type(self) -> str:
        """The wire's name of the sandbox that took effect, `none` for none."""

    @property
    def streams(self) -> tuple[StreamName, ...]:
        """Its output streams: stdout and stderr, or the one of its terminal."""

    @property
    def accepts_stdin(self) -> bool:
        """Whether anything can be written to it."""

    async def read(self, stream: StreamName) -> bytes:
        """The next output, at most READ_CHUNK_BYTES; empty at the end, which on a terminal is EIO.

        Called by one task per stream, which stops calling after the end.
        """

    async def write_stdin(self, data: bytes) -> None:
        """Write all of it, waiting while the process does not read.

        Raises:
            BrokenPipeError: nobody will ever read it.
        """

    async def wait_exit(self) -> ExitStatus:
        """How it ended; waits until it has. Output may still follow."""

    def interrupt(self) -> None:
        """Send SIGINT, or what the system has for it, to the whole process group. Never fails."""

    def kill(self) -> None:
        """End the whole tree at once. Never fails; does nothing when it is over."""

    async def aclose(self) -> None:
        """Kill what is left and release the descriptors. Called once, after the last read."""


class ProcessHost(Protocol):
    """The machine: starts processes and performs sandboxed file operations."""

    async def start(self, request: StartRequest) -> RunningProcess:
        """Start a process.

        Raises:
            StartFailure: it could not be started; nothing is left behind.
        """

    async def perform_file_operation(self, operation: FileOperation, sandbox: SandboxContext) -> FileResult:
        """Perform a file operation with no more rights than the sandbox gives.

        Raises:
            OSError: what the operation met, FileRefused included.
            StartFailure: the sandbox could not be had.
        """

    def environment(self) -> HostEnvironment:
        """What the host says about itself; the same for as long as the server runs."""

    async def aclose(self) -> None:
        """End everything that was started here."""


class Transport(Protocol):
    """One connection to a peer, message by message; used by one connection object."""

    @property
    def parse_context(self) -> str:
        """The start of the answer to a malformed message, naming kind and peer."""

    async def receive(self) -> str | bytes | None:
        """The next message as it came; None when the peer is gone or has broken a limit.

        Raises:
            ConnectionLost: the same, where an exception is the natural form.
        """

    async def send(self, message: bytes) -> None:
        """Send one message, waiting while the peer is slow.

        Raises:
            ConnectionLost: the peer is gone.
        """

    async def abort(self) -> None:
        """End the connection without any farewell. Safe to call again."""
