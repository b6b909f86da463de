"""What this Linux host offers, and what a refused setup step means in terms of a cure.

It reads facts and asks the kernel for versions; it builds nothing. Trying a whole sandbox is `doctor`'s
business, which runs a real pod and hands the failure to `cure`.
"""

import sys

assert sys.platform == "linux"

import errno
import os
from typing import Final

from sandboxing.backends.linux.seccomp.compiler import LIBRARY
from sandboxing.backends.linux.syscalls.libc import can_load
from sandboxing.contract.capabilities import Capabilities, Feature, Need
from sandboxing.errors import SandboxUnavailable, SetupFailed

_OLDEST_KERNEL: Final = (5, 12)
"""mount_setattr(2) arrived here, and with it recursive read-only binds."""

_USERNS_SYSCTLS: Final = (
    ("/proc/sys/user/max_user_namespaces", "0", "sysctl user.max_user_namespaces=15000"),
    ("/proc/sys/kernel/unprivileged_userns_clone", "0", "sysctl kernel.unprivileged_userns_clone=1"),
    (
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
        "1",
        (
            "sysctl kernel.apparmor_restrict_unprivileged_userns=0, or give this Python an AppArmor profile "
            "that may use user namespaces"
        ),
    ),
)
_CONTAINER_CURE: Final = (
    "inside a container, start it with a seccomp profile that allows unshare and mount "
    "(docker: --security-opt seccomp=unconfined)"
)
_PROC_CURE: Final = (
    "inside a container whose /proc is partly covered, uncover it (docker: --security-opt "
    "systempaths=unconfined, kubernetes: procMount Unmasked)"
)


def probe(*, abi: int) -> Capabilities:
    """The host's features.

    Args:
        abi: the Landlock ABI that kernel and binding share, 0 for none.
    """
    name = os.uname()
    return Capabilities(
        backend="linux-namespaces",
        host=f"Linux {name.release} {name.machine}",
        features=(
            _kernel(name.release),
            _user_namespaces(),
            _seccomp(),
            Feature(
                name="landlock",
                need=Need.HARDENING,
                available=abi > 0,
                detail=f"ABI {abi}" if abi else "not in this kernel, or switched off at boot",
                cure=None if abi else "add landlock to the kernel's lsm= list (Linux 5.13 or newer)",
            ),
            Feature(
                name="root-caller",
                need=Need.HARDENING,
                available=os.geteuid() == 0,
                detail=f"uid {os.geteuid()}",
            ),
        ),
    )


def _kernel(release: str) -> Feature:
    version = tuple(int(part) for part in release.split("-", maxsplit=1)[0].split(".")[:2] if part.isdigit())
    return Feature(
        name="kernel",
        need=Need.REQUIRED,
        available=version >= _OLDEST_KERNEL,
        detail=release,
        cure="Linux 5.12 or newer is needed for recursive read-only binds",
    )


def _user_namespaces() -> Feature:
    blocked = _blocking_sysctl()
    return Feature(
        name="user-namespaces",
        need=Need.REQUIRED,
        available=blocked is None,
        detail="allowed" if blocked is None else f"{blocked[0]} is {blocked[1]}",
        cure=None if blocked is None else blocked[2],
    )


def _blocking_sysctl() -> tuple[str, str, str] | None:
    for path, bad, cure in _USERNS_SYSCTLS:
        if os.geteuid() == 0 and "unprivileged" in path:
            continue
        try:
            with open(path, encoding="ascii") as file:
                if file.read().strip() == bad:
                    return path, bad, cure
        except FileNotFoundError:
            continue
    return None


def _seccomp() -> Feature:
    available = can_load(LIBRARY)
    return Feature(
        name="seccomp",
        need=Need.REQUIRED,
        available=available,
        detail=LIBRARY if available else "the library libseccomp is not installed",
        cure="install libseccomp (libseccomp2 on Debian and Ubuntu)",
    )


def cure(failure: SetupFailed) -> SandboxUnavailable | SetupFailed:
    """The error to show for a failed setup step: unavailable with a cure where the host is the cause."""
    step = failure.step.partition(" ")[0]
    refused = failure.errno in (errno.EPERM, errno.EACCES, errno.ENOSPC, errno.EINVAL, errno.ENOSYS)
    if not refused:
        return failure
    if step in ("unshare", "setgroups", "uid_map", "gid_map"):
        blocked = _blocking_sysctl()
        hint = blocked[2] if blocked is not None else _CONTAINER_CURE
        return SandboxUnavailable(f"cannot create `user namespace`: {failure.message}", hint=hint)
    if step == "FreshProc":
        return SandboxUnavailable(f"cannot mount `/proc`: {failure.message}", hint=_PROC_CURE)
    if step in ("private-mounts", "workshop"):
        return SandboxUnavailable(f"cannot build `mount namespace`: {failure.message}", hint=_CONTAINER_CURE)
    return failure
