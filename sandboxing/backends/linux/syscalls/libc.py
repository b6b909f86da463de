"""The C library handle and the one place where a failed call becomes an OSError.

It declares no system call of its own; the sibling modules do. Used only inside this package.
"""

import sys

assert sys.platform == "linux"

import ctypes
import functools
import os
from typing import Any

SYSCALL_NUMBERS = {
    # include/uapi/asm-generic/unistd.h; these are the same on every architecture since Linux 5.1
    "open_tree": 428,
    "move_mount": 429,
    "openat2": 437,
    "mount_setattr": 442,
}


@functools.cache
def load() -> Any:  # noqa: ANN401 - a ctypes library has no better type
    """The process's own C library, with errno kept per call."""
    library = ctypes.CDLL(None, use_errno=True)
    library.syscall.restype = ctypes.c_long
    return library


def can_load(library: str) -> bool:
    """Whether the loader finds a shared library of that name; it is not searched with other programs."""
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def check(result: int, operation: str) -> int:
    """Return `result`, or raise what errno says.

    Raises:
        OSError: the call failed; its `filename` is `operation`.
    """
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), operation)
    return result
