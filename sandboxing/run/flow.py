"""The whole flow in one place: policy -> bound -> plan -> launch, ready to be run or explained.

It holds no state and starts nothing. The command line, the blocking API and the exec-server's host all
come through here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sandboxing.binding.bind import bind_context, bind_document
from sandboxing.binding.bound import BoundPolicy, Loopback
from sandboxing.binding.facts import FileSystemView, HostFacts
from sandboxing.contract.backend import Planned
from sandboxing.contract.capabilities import Capabilities
from sandboxing.errors import SandboxUnavailable
from sandboxing.policyfile.document import DocumentKind, PolicyDocument
from sandboxing.profile.context import SandboxContext
from sandboxing.run.environment import command_environment
from sandboxing.run.host import Planner
from sandboxing.run.own_files import keep_own_files, policy_places, program_places

NETWORK_DEMAND = "network"


@dataclass(frozen=True, slots=True)
class Prepared:
    """Everything that is known before a command starts.

    Attributes:
        bound: the policy on this machine.
        planned: the plan and what it enforces.
        capabilities: what the host offers.
    """

    bound: BoundPolicy
    planned: Planned
    capabilities: Capabilities

    def environment(self, caller: Mapping[str, str]) -> dict[str, str]:
        """The command's whole environment, made from the caller's."""
        return command_environment(self.bound, caller)


def prepare_document(
    document: PolicyDocument,
    *,
    backend: Planner,
    facts: HostFacts,
    view: FileSystemView,
    workspace_roots: Sequence[str],
    allow_degraded: frozenset[str] = frozenset(),
) -> Prepared:
    """Bind and plan a policy document.

    Raises:
        BindError: the policy has no meaning on this machine.
        SandboxUnavailable: a demand cannot be held here.
    """
    if document.network is not None and NETWORK_DEMAND not in document.degrade | allow_degraded:
        raise SandboxUnavailable(
            f"cannot hold `{document.network.rule}`: filtering the network by host is not available yet",
            hint=f"remove the `network` block, or run with --allow-degraded {NETWORK_DEMAND}, which leaves "
            "the profile's own network switch",
        )
    bound = bind_document(
        document, facts=facts, view=view, cwd=facts.cwd, workspace_roots=tuple(workspace_roots)
    )
    if document.kind is DocumentKind.WIRE_PROFILE:
        bound = replace(bound, loopback=Loopback.NONE)
    bound = keep_own_files(bound, (*program_places(), *policy_places(document)))
    return _plan(replace(bound, degrade=bound.degrade | allow_degraded), backend)


def prepare_context(
    context: SandboxContext,
    *,
    backend: Planner,
    facts: HostFacts,
    view: FileSystemView,
    command_cwd: str | None,
    loopback: Loopback = Loopback.NONE,
) -> Prepared:
    """Bind and plan the intent of an exec-server client.

    Args:
        context: the intent.
        backend: plans it.
        facts: the facts of this machine.
        view: its file system.
        command_cwd: where the command starts, or None for a file operation.
        loopback: what a restricted network leaves; the reference leaves nothing.

    Raises:
        BindError: the intent has no meaning on this machine.
        SandboxUnavailable: a demand cannot be held here.
    """
    bound = bind_context(context, facts=facts, view=view, command_cwd=command_cwd)
    bound = keep_own_files(bound, program_places())
    return _plan(replace(bound, loopback=loopback), backend)


def _plan(bound: BoundPolicy, backend: Planner) -> Prepared:
    capabilities = backend.probe()
    planned = backend.plan(bound, capabilities)
    for row in planned.enforcement.refused:
        if row.caveats and all(caveat.code in bound.degrade for caveat in row.caveats):
            continue
        raise SandboxUnavailable(
            f"cannot hold `{row.rule}`: {row.caveats[0].text if row.caveats else 'not possible here'}",
            hint=f"allow it with --allow-degraded {row.caveats[0].code}" if row.caveats else None,
        )
    return Prepared(bound=bound, planned=planned, capabilities=capabilities)
