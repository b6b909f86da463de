"""Backend: the one interface behind which every operating system stands.

`run` calls probe, plan and wrap in this order; `explain` calls probe and plan. A backend holds no
policy, and planning works on every operating system.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from sandboxing.binding.bound import BoundPolicy
from sandboxing.contract.capabilities import Capabilities
from sandboxing.contract.enforcement import Enforcement
from sandboxing.contract.launch import LaunchSpec


class Plan(Protocol):
    """A backend's own plan: frozen, printable, deterministic."""

    def lines(self) -> Sequence[str]:
        """The plan for people, one step a line, in the order the steps are applied."""


@dataclass(frozen=True, slots=True)
class Planned:
    """A plan and what it enforces."""

    plan: Plan
    enforcement: Enforcement
    launch: LaunchSpec


class Backend(Protocol):
    """One way to hold a policy."""

    @property
    def name(self) -> str:
        """Stable name, such as `linux-namespaces`."""

    def probe(self) -> Capabilities:
        """Ask this host what it offers; tries things, changes nothing that stays."""

    def plan(self, bound: BoundPolicy, capabilities: Capabilities) -> Planned:
        """Turn a bound policy into steps.

        Raises:
            SandboxUnavailable: a required rule cannot be held with these capabilities.
            PlanError: the plan's own answer differs from the policy's.
        """
