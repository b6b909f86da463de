"""A machine that plans with the real Linux planner and runs nothing, on every system.

The file system is in memory and the host's features are made up, so what is planned never changes by itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from sandboxing.backends.linux.planner import CompiledFilter, Filters, plan_linux
from sandboxing.binding.bound import BoundPolicy
from sandboxing.binding.facts import HostFacts
from sandboxing.contract.backend import Planned
from sandboxing.contract.capabilities import Capabilities, Feature, Need
from sandboxing.contract.launch import Command, LaunchSpec
from sandboxing.contract.outcome import Exit
from sandboxing.errors import LaunchFailed, SandboxUnavailable, SetupFailed
from sandboxing.paths.native import PathDialect
from sandboxing.run.host import Bounds, Captured, Finished, Keyboard
from sandboxing.run.machine import Machine
from tests.fakes.filesystem import Directory, File, InMemoryView, Node, Socket, Symlink

HOME = "/home/dev"
PROJECT = "/home/dev/project"
ABI = 7

FACTS = HostFacts(
    dialect=PathDialect.POSIX,
    cwd=PROJECT,
    home=HOME,
    slash_tmp="/tmp",
    platform_read_roots=("/bin", "/usr", "/etc", "/lib"),
)

FILES: Mapping[str, Node] = {
    "/bin": Symlink("usr/bin"),
    "/lib": Symlink("usr/lib"),
    "/usr/bin/env": File(),
    "/usr/lib": Directory(),
    "/etc/passwd": File(),
    "/etc/shadow": File(),
    "/tmp": Directory(),
    "/dev/null": Socket(),
    "/proc/sys": Directory(),
    "/run/docker.sock": Socket(),
    "/run/user": Directory(),
    "/var/run": Symlink("/run"),
    f"{HOME}/.ssh/id_ed25519": File(),
    f"{HOME}/.aws/credentials": File(),
    f"{HOME}/.netrc": File(),
    f"{PROJECT}/src/a.py": File(),
    f"{PROJECT}/.git/config": File(),
    f"{PROJECT}/link": Symlink("/etc/passwd"),
}

FILTERS = Filters(
    ordinary=CompiledFilter(name="test", machine="x86_64", program=b"\x06\x00\x00\x00\x00\x00\xff\x7f"),
    without_internet=CompiledFilter(
        name="test-offline", machine="x86_64", program=b"\x06\x00\x00\x00\x00\x00\xff\x7f"
    ),
)
"""One instruction each, which allows everything, as classic BPF."""

CAPABILITIES = Capabilities(
    backend="linux-namespaces",
    host="Linux 6.18 x86_64",
    features=(
        Feature("kernel", Need.REQUIRED, available=True, detail="6.18"),
        Feature("user-namespaces", Need.REQUIRED, available=True, detail="allowed"),
        Feature("seccomp", Need.REQUIRED, available=True, detail="libseccomp.so.2"),
        Feature("landlock", Need.HARDENING, available=True, detail=f"ABI {ABI}"),
    ),
)


@dataclass(slots=True)
class FakeHost:
    """Plans for `capabilities`; a run ends with `exit`, or with `failure`.

    Attributes:
        ran: the commands that were given to it.
    """

    capabilities: Capabilities = CAPABILITIES
    exit: Exit = field(default_factory=lambda: Exit(code=0))
    stderr: bytes = b""
    failure: SetupFailed | LaunchFailed | OSError | None = None
    cure: str | None = None
    ran: list[Command] = field(default_factory=list)

    def probe(self) -> Capabilities:
        return self.capabilities

    def plan(self, bound: BoundPolicy, capabilities: Capabilities) -> Planned:
        return plan_linux(bound, capabilities, FILTERS, abi=ABI)

    def explain_failure(self, failure: SetupFailed) -> SandboxUnavailable | SetupFailed:
        return failure if self.cure is None else SandboxUnavailable(failure.message, hint=self.cure)

    def run_in_foreground(
        self, spec: LaunchSpec, command: Command, *, bounds: Bounds, keyboard: Keyboard = Keyboard.NONE
    ) -> Finished:
        del spec, bounds, keyboard
        return Finished(exit=self._end(command), error_text=self.stderr.decode())

    def run_captured(
        self, spec: LaunchSpec, command: Command, *, stdin: bytes, keep: int, bounds: Bounds
    ) -> Captured:
        del spec, stdin, keep, bounds
        return Captured(exit=self._end(command), stdout=b"", stderr=self.stderr, truncated=False)

    def _end(self, command: Command) -> Exit:
        self.ran.append(command)
        if self.failure is not None:
            raise self.failure
        return self.exit


def linux_machine(
    host: FakeHost | None = None,
    *,
    files: Mapping[str, Node] | None = None,
    environment: Mapping[str, str] | None = None,
) -> Machine:
    """A developer's machine, with `files` on top of `FILES`."""
    made = host or FakeHost()
    return Machine(
        facts=FACTS,
        view=InMemoryView({**FILES, **(files or {})}),
        environment=environment or {"PATH": "/usr/bin", "HOME": HOME},
        confining_host=lambda: made,
    )


def bare_machine() -> Machine:
    """The same machine without anything that could confine a command."""

    def refuse() -> FakeHost:
        raise SandboxUnavailable("cannot confine `a command`: there is no backend here", hint="use another")

    return replace(linux_machine(), confining_host=refuse)
