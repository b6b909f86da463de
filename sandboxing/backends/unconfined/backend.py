"""The unconfined backend: starts commands the same way as the others and holds nothing.

Its enforcement refuses every demand, so that it can never stand in for a sandbox that was asked for.
Used for commands whose caller asked for none.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Final

from sandboxing.binding.bound import BoundPolicy
from sandboxing.contract.backend import Planned
from sandboxing.contract.capabilities import Capabilities
from sandboxing.contract.enforcement import Caveat, Enforcement, Hold, RuleEnforcement
from sandboxing.contract.launch import LaunchSpec

NAME: Final = "unconfined"
SANDBOX_TYPE: Final = "none"
SPAWNER: Final = "sandboxing.backends.unconfined.spawner"

_NO_SANDBOX: Final = Caveat("unconfined", "there is no sandbox, so nothing is held")


@dataclass(frozen=True, slots=True)
class EmptyPlan:
    """Nothing is done."""

    def lines(self) -> tuple[str, ...]:
        """One line that says so."""
        return ("nothing: the command runs as its caller does",)


def launch_spec() -> LaunchSpec:
    """How a command without a sandbox is started."""
    return LaunchSpec(
        backend=NAME, digest=hashlib.sha256(b"").hexdigest(), steps=b"", sandbox_type=SANDBOX_TYPE
    )


@dataclass(frozen=True, slots=True)
class UnconfinedBackend:
    """Holds nothing and says so."""

    @property
    def name(self) -> str:
        """The backend's stable name."""
        return NAME

    def probe(self) -> Capabilities:
        """Nothing is offered."""
        return Capabilities(backend=NAME, host="any", features=())

    def plan(self, bound: BoundPolicy, capabilities: Capabilities) -> Planned:
        """A plan that does nothing and refuses every rule."""
        del capabilities
        rows = tuple(
            RuleEnforcement(
                rule=rule.rule,
                access=rule.access,
                bound_to=rule.path,
                hold=Hold.REFUSED,
                caveats=(_NO_SANDBOX,),
            )
            for rule in bound.rules
        )
        return Planned(
            plan=EmptyPlan(),
            enforcement=Enforcement(backend=NAME, rules=rows, caveats=(_NO_SANDBOX,)),
            launch=launch_spec(),
        )
