"""PodChannel: the caller's end of a pod, without any event loop.

It encodes requests and decodes events; blocking use is in `run`, asynchronous use in `async_pod`. It never
starts a process itself.
"""

import sys

assert sys.platform == "linux"

import errno as errno_numbers
import os
import socket
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, TypeAlias

from sandboxing.contract.launch import Command
from sandboxing.contract.outcome import Exit
from sandboxing.errors import LaunchFailed, LaunchFailure, SetupFailed
from sandboxing.launch import control
from sandboxing.launch.control import MessageBuffer


@dataclass(frozen=True, slots=True)
class Ready:
    """The pod is restricted and waits for its command; `pidfd` is its pid 1, where the host has pidfds."""

    pidfd: int | None


@dataclass(frozen=True, slots=True)
class Started:
    """The command runs; `terminal` is the master end of its pty, if it has one."""

    terminal: int | None


@dataclass(frozen=True, slots=True)
class Stopped:
    """A stop signal stopped the command."""

    signal: int


@dataclass(frozen=True, slots=True)
class Exited:
    """The command ended, and with it its pod."""

    exit: Exit


@dataclass(frozen=True, slots=True)
class Answered:
    """The pod did a piece of work itself; None when it could not read the request."""

    answer: bytes | None


PodEvent: TypeAlias = Ready | Started | Stopped | Exited | Answered


def decode_event(message: dict[str, Any]) -> PodEvent:
    """One event from its message.

    Raises:
        SetupFailed: the pod could not be built.
        LaunchFailed: the program could not be started.
    """
    descriptors: list[int] = message["fds"]
    first = descriptors[0] if descriptors else None
    match message["event"]:
        case "ready":
            return Ready(pidfd=first)
        case "started":
            return Started(terminal=first)
        case "stopped":
            return Stopped(signal=int(message["signal"]))
        case "exited":
            return Exited(exit=decode_status(int(message["status"])))
        case "answer":
            answer = message["answer"]
            return Answered(answer=None if answer is None else answer.encode())
        case "failed":
            raise setup_failure(message["step"], message["errno"], message.get("detail", ""))
        case _:
            raise launch_failure(message["stage"], message["errno"])


def decode_status(status: int) -> Exit:
    """A wait status as an Exit."""
    if os.WIFSIGNALED(status):
        return Exit(code=None, signal=os.WTERMSIG(status))
    return Exit(code=os.WEXITSTATUS(status))


def setup_failure(step: str, number: int, detail: str) -> SetupFailed:
    """The error for a step that failed while the sandbox was being built."""
    causes = ([os.strerror(number).lower()] if number else []) + ([f"({detail})"] if detail else [])
    return SetupFailed(
        f"cannot apply `{step}`: {' '.join(causes) or 'no reason given'}",
        step=step,
        errno=number,
    )


def launch_failure(stage: str, number: int) -> LaunchFailed:
    """The error for a program that could not be started."""
    if stage == "cwd":
        failure = LaunchFailure.BAD_CWD
    elif stage == "exec" and number in (errno_numbers.ENOENT, errno_numbers.ENOTDIR):
        failure = LaunchFailure.NOT_FOUND
    elif stage == "exec" and number in (errno_numbers.EACCES, errno_numbers.ENOEXEC, errno_numbers.EPERM):
        failure = LaunchFailure.NOT_EXECUTABLE
    else:
        failure = LaunchFailure.OTHER
    return LaunchFailed(
        f"cannot start `{stage}`: {os.strerror(number).lower()}", failure=failure, errno=number
    )


class Stream(Enum):
    """A standard stream that needs no descriptor of the caller's."""

    TERMINAL = "terminal"
    """The command's own terminal; only for a command that has one."""
    NULL = "null"
    """The sandbox's own null device: the host's would let the command change its mode and times."""


def start_request(command: Command, stdio: Sequence[int | Stream]) -> tuple[dict[str, Any], tuple[int, ...]]:
    """The message that starts a command, and the descriptors that go with it.

    Args:
        command: what to start.
        stdio: descriptors of stdin, stdout and stderr, or what they are instead.
    """
    descriptors = tuple(one for one in stdio if not isinstance(one, Stream))
    indices = iter(range(len(descriptors)))
    terminal = command.terminal
    return {
        "op": "start",
        "argv": list(command.argv),
        "arg0": command.arg0,
        "env": dict(command.env),
        "cwd": command.cwd,
        "search_path": command.search_path,
        "terminal": None if terminal is None else [terminal.rows, terminal.columns],
        "stdio": [one.value if isinstance(one, Stream) else next(indices) for one in stdio],
    }, descriptors


@dataclass(slots=True)
class PodChannel:
    """A blocking handle on one pod.

    Attributes:
        socket: the caller's end of the control channel.
        buffer: what has been received and not been decoded.
    """

    socket: socket.socket
    buffer: MessageBuffer = field(default_factory=MessageBuffer)

    def next_event(self) -> PodEvent | None:
        """The next event, None at the end of the channel.

        Raises:
            SetupFailed: the pod could not be built.
            LaunchFailed: the program could not be started.
        """
        try:
            message = control.receive(self.socket, self.buffer)
        except ConnectionError:
            return None
        return None if message is None else decode_event(message)

    def start(self, command: Command, stdio: Sequence[int | Stream]) -> None:
        """Ask for the command to be started; `Started` or LaunchFailed follows."""
        message, descriptors = start_request(command, stdio)
        control.send(self.socket, message, descriptors)

    def signal(self, number: int) -> None:
        """Send a signal to the command's process group; nothing happens when it has ended."""
        self._ask({"op": "signal", "signal": number})

    def kill(self) -> None:
        """End every process of the pod; the command's end is reported as usual."""
        self._ask({"op": "kill"})

    def freeze(self) -> None:
        """Stop every process of the pod."""
        self._ask({"op": "freeze"})

    def thaw(self) -> None:
        """Let every process of the pod go on."""
        self._ask({"op": "thaw"})

    def _ask(self, message: dict[str, Any]) -> None:
        try:
            control.send(self.socket, message)
        except OSError:
            return  # the pod is over, or we have let go of it: there is nobody to ask

    def close(self) -> None:
        """Let go of the pod, which ends with everything in it."""
        self.socket.close()
