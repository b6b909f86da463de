"""Protected names that did not exist before a run and do afterwards.

A mount cannot hold a name that is missing, so the gap is at least reported. It looks and never removes.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from sandboxing.binding.bound import BoundPolicy, PathKind, RuleOrigin
from sandboxing.profile.access import AccessMode


@dataclass(frozen=True, slots=True)
class MissingNames:
    """The protected names that were missing when the run began."""

    paths: tuple[str, ...]

    @classmethod
    def before(cls, bound: BoundPolicy) -> MissingNames:
        """Look before the command starts."""
        roots = {
            rule.path
            for rule in bound.rules
            if rule.access is AccessMode.WRITE
            and rule.kind is PathKind.DIRECTORY
            and rule.origin is not RuleOrigin.PRIVATE_TMP
        }
        paths = (os.path.join(root, name) for root in sorted(roots) for name in bound.protected_names)
        return cls(paths=tuple(path for path in paths if not os.path.lexists(path)))

    def created(self) -> tuple[str, ...]:
        """The ones that exist now."""
        return tuple(path for path in self.paths if os.path.lexists(path))

    def findings(self) -> tuple[str, ...]:
        """One sentence for each that exists now."""
        return tuple(
            f"the protected name {path} was created during the run, which this version cannot prevent"
            for path in self.created()
        )
