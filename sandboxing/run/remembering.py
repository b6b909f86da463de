"""A planner that remembers: for callers that plan the same policies again and again.

Equal bound policies have equal plans, so what binding found out decides alone whether a plan may be used
again. What the host offers is asked once; a host that changes its mind fails a setup step, and says which.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from sandboxing.binding.bound import BoundPolicy
from sandboxing.contract.backend import Planned
from sandboxing.contract.capabilities import Capabilities
from sandboxing.run.host import Planner

REMEMBERED_PLANS: Final = 128
"""Plans kept, the least recently used goes first; a plan takes some kilobytes."""


class RememberingPlanner:
    """Wraps a planner; not for use by several threads at once."""

    def __init__(self, planner: Planner) -> None:
        """Remember nothing yet."""
        self._planner = planner
        self._capabilities: Capabilities | None = None
        self._plans: OrderedDict[BoundPolicy, Planned] = OrderedDict()

    def probe(self) -> Capabilities:
        """What this host offered when it was first asked."""
        if self._capabilities is None:
            self._capabilities = self._planner.probe()
        return self._capabilities

    def plan(self, bound: BoundPolicy, capabilities: Capabilities) -> Planned:
        """The plan for `bound`, made now or earlier.

        Raises:
            SandboxUnavailable: a demand cannot be held here.
        """
        planned = self._plans.get(bound)
        if planned is None:
            planned = self._planner.plan(bound, capabilities)
            self._plans[bound] = planned
            if len(self._plans) > REMEMBERED_PLANS:
                self._plans.popitem(last=False)
        self._plans.move_to_end(bound)
        return planned
