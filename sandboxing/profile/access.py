"""Access modes of a rule and accesses of an operation.

The modes are the wire's; the order among them is the tie-break of the resolver. Nothing here knows paths.
"""

from __future__ import annotations

from enum import StrEnum


class AccessMode(StrEnum):
    """What a rule gives: read, write (which includes read), or nothing."""

    READ = "read"
    WRITE = "write"
    DENY = "deny"

    @property
    def can_read(self) -> bool:
        """Whether the mode lets content be read."""
        return self is not AccessMode.DENY

    @property
    def can_write(self) -> bool:
        """Whether the mode lets content be changed."""
        return self is AccessMode.WRITE

    @property
    def strength(self) -> int:
        """Rank among rules of equal depth: deny beats write beats read."""
        return (AccessMode.READ, AccessMode.WRITE, AccessMode.DENY).index(self)


class Access(StrEnum):
    """What an operation asks for."""

    READ = "read"
    WRITE = "write"
    EXECUTE = "exec"
