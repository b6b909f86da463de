"""Closing what must not be inherited, and pointing the standard streams at nothing.

Called right after a fork, in the child only; it must never run in a process that others rely on.
"""

import sys

assert sys.platform == "linux"

import os
from collections.abc import Iterable
from typing import Final

_FALLBACK_LIMIT: Final = 65536


def close_all_except(kept: Iterable[int]) -> None:
    """Close every descriptor above 2 that is not in `kept`."""
    lower = 3
    for descriptor in sorted(set(kept)):
        if descriptor >= lower:
            os.closerange(lower, descriptor)
            lower = descriptor + 1
    os.closerange(lower, max(_highest_open(), lower) + 1)


def _highest_open() -> int:
    try:
        return max(int(name) for name in os.listdir("/dev/fd"))
    except (OSError, ValueError):
        return _FALLBACK_LIMIT


def point_standard_streams_at_nothing() -> None:
    """Make descriptors 0, 1 and 2 the null device."""
    null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor, inheritable=True)
    if null > 2:  # noqa: PLR2004 - the standard streams
        os.close(null)
