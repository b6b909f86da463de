"""PathConvention: which kind of system a path was written for.

It only names the kinds. It must never be derived from the machine this runs on.
Used by the URI type, the dialects and everything that turns portable paths into native ones.
"""

from __future__ import annotations

from enum import StrEnum


class PathConvention(StrEnum):
    """The system family whose spelling a path follows."""

    POSIX = "posix"
    WINDOWS = "windows"
    OPAQUE = "opaque"
    """Raw bytes or UTF-16 units that no URI can spell; carried, never opened."""
