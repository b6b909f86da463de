"""What of the host a sandbox could leave changed: processes, namespaces, mounts. Looked at before and after.

It reads /proc and changes nothing. Other programs may run at the same time, so whatever can be is told apart
by the ground it belongs to.
"""

import sys

assert sys.platform == "linux"

import os
import select
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Final

KINDS: Final = ("user", "mnt", "pid", "net", "ipc", "uts", "cgroup")
_TICKS_PER_S: Final = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Process:
    """One process, as /proc tells.

    Attributes:
        pid: its number.
        parent: its parent's.
        started_s: seconds since the host started.
        command: its command line, empty when it hides it.
    """

    pid: int
    parent: int
    started_s: float
    command: str


def processes() -> Iterator[Process]:
    """Every process that is there and does not vanish while it is looked at."""
    for name in os.listdir("/proc"):
        if not name.isdecimal():
            continue
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                fields = file.read().rpartition(")")[2].split()
            with open(f"/proc/{name}/cmdline", "rb") as raw:
                command = raw.read().replace(b"\0", b" ").decode(errors="replace")
        except (FileNotFoundError, ProcessLookupError):
            continue
        # proc_pid_stat(5), counted from the third field: the parent is the fourth, the start the 22nd
        yield Process(
            pid=int(name), parent=int(fields[1]), started_s=int(fields[19]) / _TICKS_PER_S, command=command
        )


def descendants(pid: int) -> list[Process]:
    """Everybody below a process."""
    everybody = list(processes())
    found: list[Process] = []
    wanted = {pid}
    while wanted:
        below = [one for one in everybody if one.parent in wanted]
        found += below
        wanted = {one.pid for one in below}
    return found


def namespaces(pids: Iterable[int]) -> set[str]:
    """The namespaces of these processes, as far as they may be looked at."""
    found: set[str] = set()
    for pid in pids:
        for kind in KINDS:
            try:
                found.add(os.readlink(f"/proc/{pid}/ns/{kind}"))
            except (FileNotFoundError, ProcessLookupError, PermissionError):
                continue
    return found


@dataclass(slots=True)
class Sightings:
    """Namespaces that were seen, and when last, on the clock that processes' starts are told by."""

    last_s: dict[str, float] = field(default_factory=dict)

    def see(self, pids: Iterable[int]) -> None:
        """Look at these processes."""
        now = time.clock_gettime(time.CLOCK_BOOTTIME)
        self.last_s.update(dict.fromkeys(namespaces(pids) - namespaces([os.getpid()]), now))

    def still_inhabited(self) -> dict[int, set[str]]:
        """Who is in one of them now and is older than the sighting.

        The number of a namespace that is gone may be given to a new one, for somebody who started later.
        """
        found = {}
        for one in processes():
            shared = {name for name in namespaces([one.pid]) if one.started_s < self.last_s.get(name, 0.0)}
            if shared:
                found[one.pid] = shared
        return found


def mounts() -> tuple[str, ...]:
    """The mounts of the tester's own namespace."""
    with open("/proc/self/mountinfo", encoding="utf-8") as file:
        return tuple(file.read().splitlines())


def who_mounts(path: str) -> list[int]:
    """Processes in whose mount namespace something of `path` is mounted."""
    found = []
    for one in processes():
        try:
            with open(f"/proc/{one.pid}/mountinfo", encoding="utf-8") as file:
                if path in file.read():
                    found.append(one.pid)
        except (FileNotFoundError, ProcessLookupError, PermissionError, OSError):
            continue
    return found


def wait_for_end(pids: Iterable[int], *, within_s: float) -> set[int]:
    """Those of these processes that have not ended when the time is over."""
    deadline = time.monotonic() + within_s
    poller = select.poll()
    waiting: dict[int, int] = {}
    with ExitStack() as stack:
        for pid in pids:
            try:
                descriptor = os.pidfd_open(pid)
            except ProcessLookupError:
                continue
            stack.callback(os.close, descriptor)
            poller.register(descriptor, select.POLLIN)
            waiting[descriptor] = pid
        while waiting and time.monotonic() < deadline:
            for descriptor, _ in poller.poll(max(0.0, deadline - time.monotonic()) * 1000):
                poller.unregister(descriptor)
                del waiting[descriptor]
    return set(waiting.values())
