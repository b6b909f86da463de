"""What a plan lets a command do at a path, computed from the steps alone.

The planner compares it with the oracle's answer at every rule boundary. It knows no rules, only mounts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sandboxing.backends.linux.steps import (
    Bind,
    EmptyRoot,
    FreshProc,
    HostRoot,
    LinuxPlan,
    Mask,
    PrivateDevices,
    ReadOnlySystem,
    Seal,
    Step,
    Tmpfs,
    Writability,
)
from sandboxing.backends.linux.tree import upwards
from sandboxing.profile.access import AccessMode

_OWN: Final[Mapping[type[Step], str]] = {
    PrivateDevices: "/dev",
    FreshProc: "/proc",
    ReadOnlySystem: "/sys",
}
"""Where a step puts something of the sandbox's own."""


class PlanView:
    """Answers for one plan, indexed by mount point."""

    def __init__(self, plan: LinuxPlan) -> None:
        """Read the mounts of `plan`; a later mount at one path replaces an earlier one.

        Parents precede children in a plan, so the deepest mount above a path is also the last one.
        """
        self._modes: dict[str, AccessMode | None] = {}
        for step in plan.steps:
            if type(step) in _OWN:
                self._modes[_OWN[type(step)]] = None
            match step:
                case HostRoot(writability=writability):
                    self._modes["/"] = _mode(writability)
                case EmptyRoot():
                    self._modes["/"] = AccessMode.DENY
                case Bind(path=path, writability=writability):
                    self._modes[path] = _mode(writability)
                case Mask(path=path):
                    self._modes[path] = AccessMode.DENY
                case Tmpfs(path=path):
                    self._modes[path] = AccessMode.WRITE
                case Seal(path=path) if self._modes.get(path) is AccessMode.WRITE:
                    self._modes[path] = AccessMode.DENY
                case _:
                    pass

    def mode(self, path: str) -> AccessMode | None:
        """What the plan gives at `path`; None where the sandbox shows something of its own."""
        for ancestor in (path, *upwards(path)):
            if ancestor in self._modes:
                return self._modes[ancestor]
        return AccessMode.WRITE


def _mode(writability: Writability) -> AccessMode:
    return AccessMode.WRITE if writability is Writability.WRITABLE else AccessMode.READ
