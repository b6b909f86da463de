"""ConfiningHost: what `run` needs from a system that can confine commands, whichever it is.

Protocols and the values they exchange; the implementations are one module a system, and only the registry
knows them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final, Protocol

from sandboxing.binding.bound import BoundPolicy
from sandboxing.contract.backend import Planned
from sandboxing.contract.capabilities import Capabilities
from sandboxing.contract.launch import Command, LaunchSpec
from sandboxing.contract.outcome import Exit
from sandboxing.errors import SandboxUnavailable, SetupFailed
from sandboxing.policyfile.settings import Limits

_MIB: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Bounds:
    """The limits that are held from outside the sandbox.

    Attributes:
        timeout_s: seconds of wall time, or None.
        output_bytes: bytes of output of all streams together, or None.
    """

    timeout_s: float | None = None
    output_bytes: int | None = None

    @classmethod
    def of(cls, limits: Limits, *, timeout_s: float | None) -> Bounds:
        """A policy's limits together with a caller's timeout; the shorter time counts."""
        times = (seconds for seconds in (timeout_s, limits.wall_s) if seconds is not None)
        return cls(
            timeout_s=min(times, default=None),
            output_bytes=None if limits.output_mb is None else limits.output_mb * _MIB,
        )


class Keyboard(Enum):
    """What a command gets of the caller's keyboard when its output does not go to a terminal.

    A command whose output does has a terminal of its own, keyboard included.
    """

    NONE = "none"
    """Nothing: the keyboard is left to whoever reads the output, such as a pager."""
    RELAYED = "relayed"
    """The lines that are typed, through a pipe."""


@dataclass(frozen=True, slots=True)
class Finished:
    """A command that ran with the caller's own streams.

    Attributes:
        exit: how it ended.
        error_text: the last of what it wrote to standard error, decoded leniently.
    """

    exit: Exit
    error_text: str


@dataclass(frozen=True, slots=True)
class Captured:
    """A command whose output was kept.

    Attributes:
        exit: how it ended.
        stdout: its standard output, up to the limit.
        stderr: its standard error, up to the limit.
        truncated: whether a limit cut either.
    """

    exit: Exit
    stdout: bytes
    stderr: bytes
    truncated: bool


class Planner(Protocol):
    """The half of a host that plans."""

    def probe(self) -> Capabilities:
        """What this host offers."""

    def plan(self, bound: BoundPolicy, capabilities: Capabilities) -> Planned:
        """Turn a bound policy into a plan.

        Raises:
            SandboxUnavailable: a demand cannot be held here.
        """


class ConfiningHost(Planner, Protocol):
    """A host that plans and runs."""

    def explain_failure(self, failure: SetupFailed) -> SandboxUnavailable | SetupFailed:
        """The error to show for a setup step that this host refused."""

    def run_in_foreground(
        self, spec: LaunchSpec, command: Command, *, bounds: Bounds, keyboard: Keyboard = Keyboard.NONE
    ) -> Finished:
        """Run with this process's own streams; only for a process without threads.

        Raises:
            SetupFailed: the sandbox could not be built.
            LaunchFailed: the program could not be started.
        """

    def run_captured(
        self, spec: LaunchSpec, command: Command, *, stdin: bytes, keep: int, bounds: Bounds
    ) -> Captured:
        """Run with input given and output kept, at most `keep` bytes a stream.

        Raises:
            SetupFailed: the sandbox could not be built.
            LaunchFailed: the program could not be started.
        """
