"""What the system-call filter refuses, as data: each row says what breaks without it or because of it.

The filter allows what it does not name. Files and networks are held by mounts and namespaces; this list is
about kernel surface that a confined command has no business with. Pure; `compile` turns it into BPF.
"""

from __future__ import annotations

import errno
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Comparison(StrEnum):
    """How an argument is compared."""

    EQUAL = "=="
    MASKED_EQUAL = "&=="
    GREATER = ">"


@dataclass(frozen=True, slots=True)
class Argument:
    """A condition on one system-call argument.

    Attributes:
        index: argument number from 0.
        comparison: how it is compared.
        value: what is compared with; only its low 32 bits matter here.
        mask: bits that count, for MASKED_EQUAL.
    """

    index: int
    comparison: Comparison
    value: int
    mask: int = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class Refusal:
    """System calls that answer an errno.

    Attributes:
        calls: names as libseccomp knows them; a name the architecture lacks is skipped.
        errno: what the caller sees.
        arguments: conditions that must all hold; none refuses the call outright.
        why: why it is refused, and why with this errno.
    """

    calls: tuple[str, ...]
    errno: int
    why: str
    arguments: tuple[Argument, ...] = ()


# include/uapi/linux/sched.h; each of these asks for a namespace
_NAMESPACE_FLAGS: Final = (
    0x80,
    0x00020000,
    0x02000000,
    0x04000000,
    0x08000000,
    0x10000000,
    0x20000000,
    0x40000000,
)
_CLONE_NEWTIME: Final = 0x80

# include/linux/socket.h
_AF_UNIX: Final = 1
_AF_INET: Final = 2
_AF_INET6: Final = 10
_REFUSED_BETWEEN: Final = (3, 4, 5, 6, 7, 8, 9)

# include/linux/net.h
_SOCK_TYPE_MASK: Final = 0xF
_SOCK_DGRAM: Final = 2
_SOCK_RAW: Final = 3
_SOCK_PACKET: Final = 10

# include/uapi/asm-generic/ioctls.h and tty.h
_TIOCSTI: Final = 0x5412
_TIOCLINUX: Final = 0x541C

KERNEL_SURFACE: Final[tuple[Refusal, ...]] = (
    Refusal(
        ("io_uring_setup", "io_uring_enter", "io_uring_register"),
        errno.ENOSYS,
        "its operations bypass this filter; libraries fall back to epoll on ENOSYS",
    ),
    Refusal(
        ("userfaultfd",), errno.ENOSYS, "makes kernel races reliable to exploit; nothing ordinary needs it"
    ),
    Refusal(("bpf",), errno.EPERM, "loads programs into the kernel; ordinary users get EPERM anyway"),
    Refusal(("perf_event_open",), errno.EACCES, "large surface; tools report EACCES as a paranoid setting"),
    Refusal(
        ("add_key", "request_key", "keyctl"),
        errno.ENOSYS,
        "keyrings are not namespaced by uid; libraries treat ENOSYS as a kernel without them",
    ),
    Refusal(
        (
            "mount",
            "umount",
            "umount2",
            "pivot_root",
            "open_tree",
            "move_mount",
            "fsopen",
            "fsconfig",
            "fsmount",
            "fspick",
            "mount_setattr",
            "open_tree_attr",
            "setns",
        ),
        errno.EPERM,
        "needs a capability that no confined process has; refused before the kernel looks",
    ),
    Refusal(
        (
            "init_module",
            "finit_module",
            "delete_module",
            "kexec_load",
            "kexec_file_load",
            "reboot",
            "swapon",
            "swapoff",
            "acct",
            "quotactl",
            "quotactl_fd",
            "iopl",
            "ioperm",
            "settimeofday",
            "clock_settime",
            "clock_settime64",
            "clock_adjtime",
            "clock_adjtime64",
            "adjtimex",
            "stime",
            "sethostname",
            "setdomainname",
            "vhangup",
            "lookup_dcookie",
            "nfsservctl",
            "uselib",
            "open_by_handle_at",
        ),
        errno.EPERM,
        "administration of the machine",
    ),
    Refusal(
        ("clone3",),
        errno.ENOSYS,
        "its flags lie in memory where no filter can read them; libc falls back to clone",
    ),
    *(
        Refusal(
            (call,),
            errno.EPERM,
            "a nested user namespace brings back the whole mount and network surface",
            (Argument(index=0, comparison=Comparison.MASKED_EQUAL, value=flag, mask=flag),),
        )
        for call in ("clone", "unshare")
        for flag in _NAMESPACE_FLAGS
        # the low byte of clone's flags is the exit signal, so CLONE_NEWTIME exists for unshare only
        if not (call == "clone" and flag == _CLONE_NEWTIME)
    ),
    Refusal(
        ("ioctl",),
        errno.EPERM,
        "pushes characters into a terminal's input, which the shell outside would run",
        (Argument(index=1, comparison=Comparison.EQUAL, value=_TIOCSTI),),
    ),
    Refusal(
        ("ioctl",),
        errno.EPERM,
        "pastes into a virtual console's input",
        (Argument(index=1, comparison=Comparison.EQUAL, value=_TIOCLINUX),),
    ),
)

_S_ISUID: Final = 0o4000
_S_ISGID: Final = 0o2000
_O_CREAT: Final = 0o100
_O_TMPFILE: Final = 0o20000000
"""The bit that O_TMPFILE has besides O_DIRECTORY, on the architectures in use."""

_MODE_ARGUMENT: Final = {
    "chmod": 1,
    "fchmod": 1,
    "fchmodat": 2,
    "fchmodat2": 2,
    "creat": 1,
    "mknod": 1,
    "mknodat": 2,
}
_FLAGS_AND_MODE: Final = {"open": (1, 2), "openat": (2, 3)}
_NEW_IDENTITY: Final = (
    "a file that gives its caller's identity to whoever runs it would outlive the sandbox; the bits are "
    "refused wherever a mode is given"
)

SET_ID_BITS: Final[tuple[Refusal, ...]] = (
    *(
        Refusal(
            (call,),
            errno.EPERM,
            _NEW_IDENTITY,
            (Argument(index=index, comparison=Comparison.MASKED_EQUAL, value=bit, mask=bit),),
        )
        for call, index in _MODE_ARGUMENT.items()
        for bit in (_S_ISUID, _S_ISGID)
    ),
    *(
        Refusal(
            (call,),
            errno.EPERM,
            _NEW_IDENTITY,
            (
                Argument(index=flags, comparison=Comparison.MASKED_EQUAL, value=creating, mask=creating),
                Argument(index=mode, comparison=Comparison.MASKED_EQUAL, value=bit, mask=bit),
            ),
        )
        for call, (flags, mode) in _FLAGS_AND_MODE.items()
        for creating in (_O_CREAT, _O_TMPFILE)
        for bit in (_S_ISUID, _S_ISGID)
    ),
    Refusal(
        ("openat2",),
        errno.ENOSYS,
        "its mode lies in memory where no filter can read it; its callers fall back to openat",
    ),
)

LAUNCHER: Final[tuple[Refusal, ...]] = (
    Refusal(
        ("prlimit64",),
        errno.EPERM,
        "pid 1 reports the command's end, and a limit could keep it from doing so",
        (Argument(index=0, comparison=Comparison.EQUAL, value=1),),
    ),
)

SOCKETS: Final[tuple[Refusal, ...]] = (
    *(
        Refusal(
            ("socket", "socketpair"),
            errno.EAFNOSUPPORT,
            "an address family that no ordinary program needs",
            (Argument(index=0, comparison=Comparison.EQUAL, value=family),),
        )
        for family in (0, *_REFUSED_BETWEEN)
    ),
    Refusal(
        ("socket", "socketpair"),
        errno.EAFNOSUPPORT,
        "netlink, packet, AF_ALG, vsock and every later family",
        (Argument(index=0, comparison=Comparison.GREATER, value=_AF_INET6),),
    ),
    Refusal(
        ("socket", "socketpair"),
        errno.EPERM,
        "a datagram socket, paired or not, can send to any host socket whose path is visible",
        (
            Argument(index=0, comparison=Comparison.EQUAL, value=_AF_UNIX),
            Argument(index=1, comparison=Comparison.MASKED_EQUAL, value=_SOCK_DGRAM, mask=_SOCK_TYPE_MASK),
        ),
    ),
    *(
        Refusal(
            ("socket", "socketpair"),
            errno.EPERM,
            "raw packets; for AF_UNIX the kernel takes SOCK_RAW for a datagram socket",
            (
                Argument(index=0, comparison=Comparison.EQUAL, value=family),
                Argument(index=1, comparison=Comparison.MASKED_EQUAL, value=kind, mask=_SOCK_TYPE_MASK),
            ),
        )
        for family in (_AF_UNIX, _AF_INET, _AF_INET6)
        for kind in (_SOCK_RAW, _SOCK_PACKET)
    ),
)

NO_INTERNET: Final[tuple[Refusal, ...]] = tuple(
    Refusal(
        ("socket",),
        errno.EPERM,
        "the reference answers so when the network is restricted, on loopback too",
        (Argument(index=0, comparison=Comparison.EQUAL, value=family),),
    )
    for family in (_AF_INET, _AF_INET6)
)

FILTER: Final[tuple[Refusal, ...]] = (*KERNEL_SURFACE, *SET_ID_BITS, *LAUNCHER, *SOCKETS)
"""What every confined command gets."""

FILTER_WITHOUT_INTERNET: Final[tuple[Refusal, ...]] = (*FILTER, *NO_INTERNET)
"""The same without Internet sockets of any kind."""
