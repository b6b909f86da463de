"""WarmPods: a small, bounded supply of pods made before they are needed.

A pod is made for one plan, one set of host files and one table of host mounts; it is handed out only while
all three are what they were. Long-lived callers put it in front of their spawner.
"""

import sys

assert sys.platform == "linux"

import os
import select
from collections import OrderedDict
from dataclasses import dataclass
from typing import Final, TypeAlias

from sandboxing.contract.launch import LaunchSpec
from sandboxing.launch.client import PodSource
from sandboxing.launch.pod import PodChannel

KEPT: Final = 4
"""Pods kept waiting, each about 3 MiB of private memory; the plan unused for longest loses its pod."""

_Identity: TypeAlias = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class _Waiting:
    channel: PodChannel
    identity: _Identity


class MountTable:
    """Whether this process's mount table has changed since it was last asked, proc_pid_mountinfo(5)."""

    def __init__(self) -> None:
        """Take the table as it is now."""
        self._descriptor = os.open("/proc/self/mountinfo", os.O_RDONLY | os.O_CLOEXEC)
        self._poller = select.poll()
        self._poller.register(self._descriptor, select.POLLPRI)
        self.has_changed()

    def has_changed(self) -> bool:
        """Whether something was mounted or unmounted meanwhile; asking forgets it."""
        return bool(self._poller.poll(0))

    def close(self) -> None:
        """Stop watching."""
        os.close(self._descriptor)


class WarmPods:
    """A PodSource that keeps one pod waiting for each of the plans used last."""

    def __init__(self, source: PodSource, *, kept: int = KEPT) -> None:
        """Keep nothing yet.

        Args:
            source: where pods come from; closed together with this one.
            kept: most pods that wait.
        """
        self._source = source
        self._kept = kept
        self._waiting: OrderedDict[str, _Waiting] = OrderedDict()
        self._mounts = MountTable()

    def open_pod(self, spec: LaunchSpec) -> PodChannel:
        """A pod for `spec`, a waiting one where its files are still the same; another is begun in its place.

        Raises:
            OSError: no pod can be asked for, because the source is gone.
        """
        if self._mounts.has_changed() or not self._source.is_alive():
            self._drop_all()
        identity = _identify(spec)
        channel = self._take(spec, identity) or self._source.open_pod(spec)
        self._waiting[spec.digest] = _Waiting(channel=self._source.open_pod(spec), identity=identity)
        while len(self._waiting) > self._kept:
            _, dropped = self._waiting.popitem(last=False)
            dropped.channel.close()
        return channel

    def is_alive(self) -> bool:
        """Whether the source stands."""
        return self._source.is_alive()

    def close(self) -> None:
        """End the source, and with it every pod it made."""
        self._drop_all()
        self._mounts.close()
        self._source.close()

    def _drop_all(self) -> None:
        for waiting in self._waiting.values():
            waiting.channel.close()
        self._waiting.clear()

    def _take(self, spec: LaunchSpec, identity: _Identity) -> PodChannel | None:
        waiting = self._waiting.pop(spec.digest, None)
        if waiting is None:
            return None
        if waiting.identity != identity or _has_ended(waiting.channel):
            waiting.channel.close()
            return None
        return waiting.channel


def _identify(spec: LaunchSpec) -> _Identity:
    """Which files stand at the paths that a pod would hold on to; (0, 0) where none does."""
    return tuple(_inode(path) for path in spec.host_paths)


def _inode(path: str) -> tuple[int, int]:
    try:
        found = os.lstat(path)
    except OSError:
        return (0, 0)
    return (found.st_dev, found.st_ino)


def _has_ended(channel: PodChannel) -> bool:
    poller = select.poll()
    poller.register(channel.socket, 0)
    return bool(poller.poll(0))
