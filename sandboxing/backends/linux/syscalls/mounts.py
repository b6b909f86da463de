"""Mount and namespace calls, as thin as they can be.

Paths are opened beneath a root descriptor without following links, so that nobody can swap a component
between planning and mounting. Called only by the step interpreter.
"""

import sys

assert sys.platform == "linux"

import ctypes
import os
import struct
from enum import Enum
from typing import Final

from sandboxing.backends.linux.syscalls.libc import SYSCALL_NUMBERS, check, load

# include/uapi/linux/sched.h
CLONE_NEWNS: Final = 0x00020000
CLONE_NEWCGROUP: Final = 0x02000000
CLONE_NEWUTS: Final = 0x04000000
CLONE_NEWIPC: Final = 0x08000000
CLONE_NEWUSER: Final = 0x10000000
CLONE_NEWPID: Final = 0x20000000
CLONE_NEWNET: Final = 0x40000000

# include/uapi/linux/mount.h
MS_NOSUID: Final = 2
MS_NODEV: Final = 4
MS_NOEXEC: Final = 8
_MS_REC: Final = 16384
_MS_PRIVATE: Final = 1 << 18
_MNT_DETACH: Final = 2
MOUNT_ATTR_RDONLY: Final = 0x1
MOUNT_ATTR_NOSUID: Final = 0x2
MOUNT_ATTR_NODEV: Final = 0x4
_OPEN_TREE_CLONE: Final = 1
_MOVE_MOUNT_F_EMPTY_PATH: Final = 0x4
_MOVE_MOUNT_T_EMPTY_PATH: Final = 0x40

# include/uapi/linux/fcntl.h and openat2.h
_AT_FDCWD: Final = -100
_AT_EMPTY_PATH: Final = 0x1000
_AT_RECURSIVE: Final = 0x8000
_RESOLVE_NO_MAGICLINKS: Final = 0x02
_RESOLVE_NO_SYMLINKS: Final = 0x04
_RESOLVE_IN_ROOT: Final = 0x10


def unshare(flags: int) -> None:
    """Leave the namespaces named by CLONE_NEW* flags."""
    check(load().unshare(ctypes.c_int(flags)), "unshare")


def make_everything_private() -> None:
    """Cut the mount tree off from the host's, both ways: nothing mounted later propagates in."""
    check(load().mount(None, b"/", None, ctypes.c_ulong(_MS_REC | _MS_PRIVATE), None), "mount private")


def mount_filesystem(kind: str, target: str, *, flags: int, options: str) -> None:
    """Mount a new file system of `kind` at `target`."""
    check(
        load().mount(
            kind.encode(), os.fsencode(target), kind.encode(), ctypes.c_ulong(flags), options.encode()
        ),
        f"mount {kind}",
    )


def open_beneath(path: str, *, root: int | None) -> int:
    """Open `path` as O_PATH without following any link.

    Args:
        path: absolute path.
        root: descriptor that `/` stands for, or None for the process's own root.

    Raises:
        OSError: ELOOP when a component is a link, ENOENT when one is missing.
    """
    how = struct.pack(
        "=QQQ",
        os.O_PATH | os.O_CLOEXEC,
        0,
        _RESOLVE_NO_SYMLINKS | _RESOLVE_NO_MAGICLINKS | (0 if root is None else _RESOLVE_IN_ROOT),
    )
    buffer = ctypes.create_string_buffer(how, len(how))
    return check(
        load().syscall(
            SYSCALL_NUMBERS["openat2"],
            ctypes.c_int(_AT_FDCWD if root is None else root),
            os.fsencode(path),
            buffer,
            ctypes.c_size_t(len(how)),
        ),
        f"open {path}",
    )


def clone_tree(descriptor: int) -> int:
    """A detached recursive copy of the mounts below an open path."""
    flags = _OPEN_TREE_CLONE | os.O_CLOEXEC | _AT_EMPTY_PATH | _AT_RECURSIVE
    return check(
        load().syscall(SYSCALL_NUMBERS["open_tree"], ctypes.c_int(descriptor), b"", ctypes.c_uint(flags)),
        "open_tree",
    )


class Reach(Enum):
    """Which mounts a change of attributes reaches."""

    THIS_MOUNT = 0
    THIS_AND_BELOW = _AT_RECURSIVE


def add_attributes(descriptor: int, attributes: int, reach: Reach) -> None:
    """Add MOUNT_ATTR_* flags to the mount that `descriptor` is open on."""
    arguments = struct.pack("=QQQQ", attributes, 0, 0, 0)
    buffer = ctypes.create_string_buffer(arguments, len(arguments))
    check(
        load().syscall(
            SYSCALL_NUMBERS["mount_setattr"],
            ctypes.c_int(descriptor),
            b"",
            ctypes.c_uint(_AT_EMPTY_PATH | reach.value),
            buffer,
            ctypes.c_size_t(len(arguments)),
        ),
        "mount_setattr",
    )


def attach(tree: int, target: int) -> None:
    """Attach a detached tree on the path that `target` is open on."""
    check(
        load().syscall(
            SYSCALL_NUMBERS["move_mount"],
            ctypes.c_int(tree),
            b"",
            ctypes.c_int(target),
            b"",
            ctypes.c_uint(_MOVE_MOUNT_F_EMPTY_PATH | _MOVE_MOUNT_T_EMPTY_PATH),
        ),
        "move_mount",
    )


def enter_root(path: str) -> None:
    """Make `path` the root directory and let go of the old one.

    The old root is stacked on the new one and detached at once, so no directory for it is needed.
    """
    os.chdir(path)
    library = load()
    number = _PIVOT_ROOT[os.uname().machine]
    check(library.syscall(number, b".", b"."), "pivot_root")
    check(library.umount2(b".", ctypes.c_int(_MNT_DETACH)), "umount old root")
    os.chdir("/")


# arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h
_PIVOT_ROOT: Final = {"x86_64": 155, "aarch64": 41, "riscv64": 41, "loongarch64": 41}
