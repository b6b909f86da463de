"""A program that becomes another one where the kernel refuses user namespaces, as on hardened hosts.

It changes only itself and what it starts: the setting is one of a user namespace of its own, the filter one
of its own process. Run as `python refusing.py setting|filter ARGV...`.
"""

import sys

assert sys.platform == "linux"

import ctypes
import errno
import os

_CLONE_NEWUSER = 0x10000000  # include/uapi/linux/sched.h


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def refuse_by_setting() -> None:
    """Enter a user namespace below which no other may be made, as with `user.max_user_namespaces=0`."""
    uid, gid = os.geteuid(), os.getegid()
    if ctypes.CDLL(None, use_errno=True).unshare(_CLONE_NEWUSER) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{uid} {uid} 1")
    _write("/proc/self/gid_map", f"{gid} {gid} 1")
    # the setting belongs to the namespace of whoever writes it
    _write("/proc/sys/user/max_user_namespaces", "0")


def refuse_by_filter() -> None:
    """Answer EPERM to every attempt to make a namespace, as the default filter of a container does."""
    import pyseccomp

    refused = pyseccomp.SyscallFilter(pyseccomp.ALLOW)
    refused.add_rule(pyseccomp.ERRNO(errno.EPERM), "unshare")
    refused.add_rule(pyseccomp.ERRNO(errno.ENOSYS), "clone3")
    refused.load()


def main() -> None:
    """Refuse, then become the program."""
    {"setting": refuse_by_setting, "filter": refuse_by_filter}[sys.argv[1]]()
    os.execv(sys.argv[2], sys.argv[2:])


if __name__ == "__main__":
    main()
