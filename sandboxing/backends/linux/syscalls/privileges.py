"""Calls by which a process gives something up for good, and two that concern its children.

Nothing here can be undone by the process that made the call. Called by the step interpreter and the spawner.
"""

import sys

assert sys.platform == "linux"

import ctypes
import struct
from typing import Final

from sandboxing.backends.linux.syscalls.libc import check, load

# include/uapi/linux/prctl.h
_PR_SET_DUMPABLE: Final = 4
_PR_CAPBSET_DROP: Final = 24
_PR_SET_SECUREBITS: Final = 28
_PR_SET_CHILD_SUBREAPER: Final = 36
_PR_SET_NO_NEW_PRIVS: Final = 38
_PR_CAP_AMBIENT: Final = 47
_PR_CAP_AMBIENT_CLEAR_ALL: Final = 4
# include/uapi/linux/securebits.h: noroot, no_setuid_fixup, no_cap_ambient_raise, each locked
_SECUREBITS_LOCKED_OFF: Final = 0x01 | 0x02 | 0x04 | 0x08 | 0x40 | 0x80
# include/uapi/linux/capability.h
_CAPABILITY_VERSION_3: Final = 0x20080522
_EINVAL: Final = 22

# include/uapi/linux/seccomp.h
_SECCOMP_SET_MODE_FILTER: Final = 1
_SECCOMP_NUMBERS: Final = {"x86_64": 317, "aarch64": 277, "riscv64": 277, "loongarch64": 277}


def _prctl(option: int, *arguments: int, operation: str) -> int:
    padded = (*arguments, 0, 0, 0, 0)[:4]
    result: int = load().prctl(ctypes.c_int(option), *(ctypes.c_ulong(value) for value in padded))
    return check(result, operation)


def become_subreaper() -> None:
    """Adopt orphaned descendants, so that pods made by a short-lived parent become our children."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1, operation="prctl subreaper")


def become_undumpable() -> None:
    """Hide memory, environment and descriptors from other processes of the same user."""
    _prctl(_PR_SET_DUMPABLE, 0, operation="prctl dumpable")


def set_no_new_privileges() -> None:
    """Make set-user-id programs and file capabilities powerless from here on."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1, operation="prctl no_new_privs")


def drop_all_capabilities() -> None:
    """Empty every capability set, the bounding set included, and keep uid 0 from regaining any."""
    for capability in range(64):
        try:
            _prctl(_PR_CAPBSET_DROP, capability, operation="prctl capbset")
        except OSError as error:
            if error.errno != _EINVAL:
                raise
            break
    _prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL, operation="prctl ambient")
    _prctl(_PR_SET_SECUREBITS, _SECUREBITS_LOCKED_OFF, operation="prctl securebits")
    header = struct.pack("=Ii", _CAPABILITY_VERSION_3, 0)
    data = bytes(24)
    check(
        load().capset(
            ctypes.create_string_buffer(header, len(header)), ctypes.create_string_buffer(data, len(data))
        ),
        "capset",
    )


def forget_arguments() -> None:
    """Overwrite the argument and environment areas that /proc/PID/cmdline and environ show.

    A forked pod would otherwise show, to the command in it, how its parent was started. The addresses are
    fields 48 to 51 of /proc/PID/stat, proc_pid_stat(5).
    """
    with open("/proc/self/stat", "rb") as file:
        fields = file.read().rpartition(b")")[2].split()
    # the name and the pid are cut off, so field N of the manual page is at N - 3
    for start_field in (48, 50):
        start, end = int(fields[start_field - 3]), int(fields[start_field - 2])
        if start and end > start:
            ctypes.memset(start, 0, end - start)


def load_seccomp_filter(program: bytes, machine: str) -> None:
    """Install a compiled classic BPF program for this task and all it starts.

    Args:
        program: the filter, 8 bytes an instruction, in native byte order.
        machine: `os.uname().machine`.
    """
    buffer = ctypes.create_string_buffer(program, len(program))
    # struct sock_fprog: a count of instructions and where they are, with native alignment between
    argument = struct.pack("@HP", len(program) // 8, ctypes.addressof(buffer))
    check(
        load().syscall(
            _SECCOMP_NUMBERS[machine],
            ctypes.c_uint(_SECCOMP_SET_MODE_FILTER),
            ctypes.c_uint(0),
            ctypes.create_string_buffer(argument, len(argument)),
        ),
        "seccomp",
    )
