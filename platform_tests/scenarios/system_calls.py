"""Scenarios: what the system-call filter refuses, with which errno, and what it leaves alone."""

import sys

assert sys.platform == "linux"

import os
from typing import Final

from platform_tests.support.scenario import WORKS, Scenario, Verdict, all_of

CALLS: Final = Scenario(
    name="kernel-surface",
    victim="kernel",
    arguments={"group": "calls"},
    verdicts={
        "io_uring_setup": Verdict("ENOSYS"),
        "bpf": Verdict("EPERM", "EINVAL"),
        "userfaultfd": Verdict("ENOSYS", "EINVAL", outside_ordinary="EPERM"),
        "perf_event_open": Verdict("EACCES", "EFAULT"),
        "keyctl": Verdict("ENOSYS"),
        "add_key": Verdict("ENOSYS", "EFAULT"),
        # a bad address is looked at before the privilege is
        "mount": Verdict("EPERM", "EFAULT"),
        "open_tree": Verdict("EPERM", "EFAULT"),
        "fsopen": Verdict("EPERM", "EFAULT", outside_ordinary="EPERM"),
        "umount2": Verdict("EPERM", "EINVAL"),
        "setns": Verdict("EPERM", "EBADF"),
        "clone3": Verdict("ENOSYS", "EINVAL"),
        "unshare-user": Verdict("EPERM"),
        "unshare-files": WORKS,
        "clone-user": Verdict("EPERM"),
        "clone-plain": WORKS,
        # debuggers work on the command's own children
        "ptrace-child": WORKS,
        "tiocsti": Verdict("EPERM"),
        "tiocsti-high-bits": Verdict("EPERM"),
    },
)

SOCKETS: Final = Scenario(
    name="socket-families",
    victim="kernel",
    arguments={"group": "sockets"},
    verdicts={
        **all_of("netlink netlink-raw netlink-high-bits", Verdict("EAFNOSUPPORT")),
        "vsock": Verdict("EAFNOSUPPORT"),
        # many kernels are built without it, which answers the same
        "alg": Verdict("EAFNOSUPPORT", "EAFNOSUPPORT"),
        "packet": Verdict("EAFNOSUPPORT", outside_ordinary="EPERM"),
        "raw": Verdict("EPERM", "EPROTONOSUPPORT"),
        # one of a pair can send to any path as well as a socket of its own
        **all_of(
            "unix-datagram unix-datagram-flags unix-datagram-high-bits unix-datagram-high-type "
            "unix-datagram-pair unix-datagram-pair-high-bits",
            Verdict("EPERM"),
        ),
        **all_of("unix-stream unix-seqpacket unix-stream-pair", WORKS),
        **all_of("inet-stream inet-datagram inet6-stream", WORKS),
        # the kernel would look at the low half alone; nobody sets the high one but to slip through
        "inet-high-bits": Verdict("EAFNOSUPPORT"),
    },
)

WIRE_SOCKETS: Final = Scenario(
    name="socket-families-of-a-wire-profile",
    victim="kernel",
    arguments={"group": "sockets"},
    policy={
        "type": "managed",
        "network": "restricted",
        "file_system": {
            "type": "restricted",
            "entries": [
                {"path": {"type": "special", "value": {"kind": "root"}}, "access": "read"},
                {"path": {"type": "special", "value": {"kind": "project_roots"}}, "access": "write"},
            ],
        },
    },
    verdicts={
        **SOCKETS.verdicts,
        **all_of("inet-stream inet-datagram inet6-stream inet-high-bits", Verdict("EPERM")),
    },
)

FOREIGN: Final = Scenario(
    name="system-calls-of-other-tables",
    victim="kernel",
    arguments={"group": "foreign"},
    verdicts={
        "x32": Verdict("SIGSYS", "ENOSYS"),
        "int80": Verdict("SIGSYS", "True"),
    },
)

SET_ID: Final = Scenario(
    name="set-user-id-bits",
    victim="kernel",
    arguments={"group": "set-id", "folder": "{ground}/ws"},
    files={"ws/file": ""},
    verdicts={
        **all_of("chmod-setuid chmod-setgid fchmod-setuid fchmodat-setuid", Verdict("EPERM")),
        **all_of("open-setuid openat-setgid creat-setuid unnamed-setuid mknod-setuid", Verdict("EPERM")),
        "chmod-high-bits": Verdict("EPERM"),
        # its mode lies in memory, where a filter cannot look
        "openat2": Verdict("ENOSYS", "EINVAL"),
        **all_of("chmod-ordinary chmod-sticky open-ordinary", WORKS),
    },
)

SCENARIOS: Final = (
    CALLS,
    SOCKETS,
    WIRE_SOCKETS,
    SET_ID,
    *((FOREIGN,) if os.uname().machine == "x86_64" else ()),
)
