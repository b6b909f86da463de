"""Victim: the directories that a sandbox has for itself, and what of the host's is left in them."""

import sys

assert sys.platform == "linux"

import os
import socket
import stat
import tempfile
from collections.abc import Callable, Mapping

from platform_tests.scenarios.victims.kernel import in_child
from platform_tests.scenarios.victims.reporting import Operation, done, report


def _open(path: str, flags: int = os.O_RDONLY) -> Operation:
    def make() -> None:
        os.close(os.open(path, flags))

    return make


def _create_and_remove(path: str) -> None:
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    os.unlink(path)


def _node(path: str) -> None:
    os.mknod(path, 0o600 | stat.S_IFCHR, os.makedev(1, 3))
    os.unlink(path)


def _write(path: str) -> None:
    with open(path, "wb", buffering=0) as file:
        file.write(b"x")


def _temporary_file() -> None:
    with tempfile.NamedTemporaryFile() as file:
        file.write(b"x")


def _new_terminal() -> None:
    for end in os.openpty():
        os.close(end)


def _chown(path: str) -> None:
    with open(path, "x", encoding="utf-8"):
        os.chown(path, 12345, 12345)


def _tmp(where: Mapping[str, str]) -> Mapping[str, Operation]:
    return {
        "host-file": _open(where["host_file"]),
        "name": lambda: os.environ["TMPDIR"] if where["sandboxed"] == "yes" else None,
        "create": lambda: _create_and_remove("/tmp/sandboxctl-victim"),
        "temporary-file": _temporary_file,
        "directory-mode": lambda: oct(os.stat("/tmp").st_mode & 0o7777),
        "create-and-leave": lambda: _write(where["left_file"]),
    }


def _dev(where: Mapping[str, str]) -> Mapping[str, Operation]:
    times = os.stat("/dev/null")
    return {
        "null-read": _open("/dev/null"),
        "null-write": lambda: _write("/dev/null"),
        "zero": _open("/dev/zero"),
        "urandom": _open("/dev/urandom"),
        "null-mode": lambda: os.chmod("/dev/null", 0o666),
        "null-times": lambda: os.utime("/dev/null", (times.st_atime, times.st_mtime)),
        "input-mode": lambda: os.fchmod(0, 0o666),
        "full": lambda: _write("/dev/full"),
        "standard-streams": lambda: done(os.stat("/dev/stdout")),
        "shared-memory": lambda: _create_and_remove("/dev/shm/sandboxctl-victim"),
        "new-terminal": _new_terminal,
        "create": lambda: _create_and_remove("/dev/sandboxctl-victim"),
        "remove": lambda: os.rename("/dev/null", "/dev/null"),
        "new-node": lambda: _node(os.path.join(where["ground"], "ws", "node")),
        "kernel-log": _open("/dev/kmsg"),
    }


def _proc(where: Mapping[str, str]) -> Mapping[str, Operation]:
    neighbour = int(where["neighbour"])
    writable = os.O_WRONLY
    return {
        "see-neighbour": lambda: done(os.stat(f"/proc/{neighbour}")),
        "signal-neighbour": lambda: os.kill(neighbour, 0),
        "read-neighbours-environment": _open(f"/proc/{neighbour}/environ"),
        "see-oneself": lambda: done(os.stat("/proc/self/status")),
        "core-pattern": _open("/proc/sys/kernel/core_pattern", writable),
        "modprobe": _open("/proc/sys/kernel/modprobe", writable),
        "sysrq": _open("/proc/sysrq-trigger", writable),
        "memory-settings": _open("/proc/sys/vm/drop_caches", writable),
        "read-settings": _open("/proc/sys/kernel/osrelease"),
        "interrupts": _open("/proc/irq/default_smp_affinity", writable),
        "kernel-memory": _open("/proc/kcore"),
        "kernel-timers": _open("/proc/timer_list"),
        "pressure-trigger": _open("/proc/pressure/memory", os.O_RDWR),
    }


def _sys(_where: Mapping[str, str]) -> Mapping[str, Operation]:
    return {
        "read-setting": _open("/sys/class/net/lo/mtu"),
        "change-setting": _open("/sys/class/net/lo/mtu", os.O_WRONLY),
    }


def _privileges(where: Mapping[str, str]) -> Mapping[str, Operation]:
    def child(work: Callable[[], object]) -> Operation:
        return in_child(lambda: done(work()))

    return {
        "chroot": child(lambda: os.chroot("/")),
        "become-somebody-else": child(lambda: os.setresuid(12345, 12345, 12345)),
        "set-groups": child(lambda: os.setgroups([])),
        "give-file-away": lambda: _chown(os.path.join(where["ground"], "ws", "given")),
        "host-name": lambda: socket.sethostname(socket.gethostname()),
        "more-priority": child(lambda: os.setpriority(os.PRIO_PROCESS, 0, -5)),
        "real-time": child(lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))),
    }


def operations(where: Mapping[str, str]) -> Mapping[str, Operation]:
    """What `group` names: `tmp`, `dev`, `proc`, `sys` or `privileges`."""
    groups = {"tmp": _tmp, "dev": _dev, "proc": _proc, "sys": _sys, "privileges": _privileges}
    return groups[where["group"]](where)


if __name__ == "__main__":
    report(operations)
