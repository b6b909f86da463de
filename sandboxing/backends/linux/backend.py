"""The Linux backend: probe, plan, and where its pods come from; no logic of its own.

Only `run`'s registry makes one.
"""

import sys

assert sys.platform == "linux"

import os
from collections.abc import Iterable
from dataclasses import dataclass

from sandboxing.backends.linux import landlock, planner, probe
from sandboxing.backends.linux.enforced import BACKEND
from sandboxing.backends.linux.pod import pod_maker
from sandboxing.backends.linux.seccomp.compiler import compile_filter
from sandboxing.backends.linux.seccomp.rules import FILTER, FILTER_WITHOUT_INTERNET, Refusal
from sandboxing.backends.linux.syscalls.privileges import become_subreaper
from sandboxing.binding.bound import BoundPolicy
from sandboxing.contract.backend import Planned
from sandboxing.contract.capabilities import Capabilities
from sandboxing.errors import SandboxUnavailable, SetupFailed
from sandboxing.launch.client import InProcessSpawner, SpawnerProcess


def _compiled(name: str, refusals: Iterable[Refusal]) -> planner.CompiledFilter:
    return planner.CompiledFilter(name=name, machine=os.uname().machine, program=compile_filter(refusals))


@dataclass(frozen=True, slots=True)
class LinuxBackend:
    """Namespaces, Landlock and seccomp.

    Attributes:
        filters: the compiled system-call filters.
        abi: the Landlock ABI.
    """

    filters: planner.Filters
    abi: int

    @classmethod
    def create(cls) -> "LinuxBackend":
        """The backend for this host.

        Raises:
            SandboxUnavailable: libseccomp is not installed.
        """
        return cls(
            filters=planner.Filters(
                ordinary=_compiled("surface", FILTER),
                without_internet=_compiled("surface, no internet", FILTER_WITHOUT_INTERNET),
            ),
            abi=landlock.kernel_abi(),
        )

    @property
    def name(self) -> str:
        """The backend's stable name."""
        return BACKEND

    def probe(self) -> Capabilities:
        """What this host offers."""
        return probe.probe(abi=self.abi)

    def plan(self, bound: BoundPolicy, capabilities: Capabilities) -> Planned:
        """Plan `bound` for this host; see `plan_linux`."""
        return planner.plan_linux(bound, capabilities, self.filters, abi=self.abi)

    def explain_failure(self, failure: SetupFailed) -> SandboxUnavailable | SetupFailed:
        """The error to show for a setup step that the kernel refused."""
        return probe.cure(failure)

    def spawner_process(self, *, service: str = "") -> SpawnerProcess:
        """A spawner for a caller that has threads or lives long; `service` as in SpawnerProcess.start."""
        return SpawnerProcess.start("sandboxing.backends.linux.spawner", service=service)

    def in_process_spawner(self) -> InProcessSpawner:
        """A spawner in this process, which must have no threads."""
        become_subreaper()
        return InProcessSpawner(maker=pod_maker)
