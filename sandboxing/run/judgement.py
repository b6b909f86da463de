"""What the host itself would have said: links resolved, and ordinary permissions asked.

It answers for the caller as it is, without any sandbox, so that a denial is blamed on the policy only when
the policy made the difference.
"""

import os
from dataclasses import dataclass

from sandboxing.profile.access import Access


@dataclass(frozen=True, slots=True)
class OrdinaryPermissions:
    """The host's own answers."""

    def resolve(self, path: str) -> str:
        """The path with links resolved as far as it exists."""
        try:
            return os.path.realpath(path)
        except (OSError, ValueError):
            # links of /proc that may be seen and not be read, for one
            return os.path.normpath(path)

    def would_allow(self, path: str, access: Access) -> bool:
        """Whether this process could do it now; a missing file asks its directory."""
        try:
            return self._allows(path, access)
        except (OSError, ValueError):
            return False

    def _allows(self, path: str, access: Access) -> bool:
        if access is not Access.WRITE:
            return os.access(path, os.R_OK) or os.access(path, os.X_OK)
        if os.path.lexists(path):
            return os.access(path, os.W_OK)
        parent = os.path.dirname(path)
        return os.path.isdir(parent) and os.access(parent, os.W_OK | os.X_OK)
