"""ConfiningHost: what `run` needs from a system that can confine commands, whichever it is.

Protocols and the values they exchange; the implementations are one module a system, and only the registry
knows them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from sandboxing.binding.bound import BoundPolicy
from sandboxing.contract.backend import Planned
from sandboxing.contract.capabilities import Capabilities
from sandboxing.contract.launch import Command, LaunchSpec
from sandboxing.contract.outcome import Exit
from sandboxing.errors import SandboxUnavailable, SetupFailed


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

    def run_in_foreground(self, spec: LaunchSpec, command: Command, *, timeout_s: float | None) -> Finished:
        """Run with this process's own streams; only for a process without threads.

        Raises:
            SetupFailed: the sandbox could not be built.
            LaunchFailed: the program could not be started.
        """

    def run_captured(
        self, spec: LaunchSpec, command: Command, *, stdin: bytes, limit: int, timeout_s: float | None
    ) -> Captured:
        """Run with input given and output kept, at most `limit` bytes a stream.

        Raises:
            SetupFailed: the sandbox could not be built.
            LaunchFailed: the program could not be started.
        """
