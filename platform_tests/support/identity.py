"""Who runs a platform test: the tester itself, and for root also an ordinary user that has no account.

It only names users; it starts nothing and changes no user of the host. Used by every platform test on Linux.
"""

import sys

assert sys.platform == "linux"

import os
from dataclasses import dataclass
from typing import Final

ORDINARY_UID: Final = 64999
"""An otherwise unused uid. Not 65534: that is the overflow uid, as which root's files appear inside."""


@dataclass(frozen=True, slots=True)
class Identity:
    """A user to run programs as.

    Attributes:
        uid: its user id; its group id is the same unless it is the tester's own.
        gid: its group id.
        switched: whether a program has to change to it.
    """

    uid: int
    gid: int
    switched: bool

    @property
    def is_root(self) -> bool:
        """Whether the host's own permissions stop it nowhere."""
        return self.uid == 0

    @property
    def name(self) -> str:
        """How a test's id calls it."""
        return "root" if self.is_root else f"uid{self.uid}"

    @property
    def user(self) -> int | None:
        """For `subprocess`: whom to become, None for nobody else."""
        return self.uid if self.switched else None

    @property
    def group(self) -> int | None:
        """For `subprocess`: which group to become."""
        return self.gid if self.switched else None

    @property
    def extra_groups(self) -> list[int] | None:
        """For `subprocess`: no further groups for somebody else."""
        return [] if self.switched else None


def own_identity() -> Identity:
    """Whoever runs the tests."""
    return Identity(uid=os.geteuid(), gid=os.getegid(), switched=False)


def ordinary() -> Identity:
    """A user without privileges: the tester, unless that is root."""
    own = own_identity()
    return Identity(uid=ORDINARY_UID, gid=ORDINARY_UID, switched=True) if own.is_root else own


def identities() -> tuple[Identity, ...]:
    """Everybody this tester can be."""
    own = own_identity()
    return (own, ordinary()) if own.is_root else (own,)
