"""Where pods come from: a spawner process, or this very process when it has no threads.

Both give a PodChannel and nothing else. A spawner that dies takes its pods along, because they watch it.
"""

import sys

assert sys.platform == "linux"

import os
import select
import socket
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from sandboxing.contract.launch import LaunchSpec
from sandboxing.launch import control, spawner
from sandboxing.launch.launcher import Watch
from sandboxing.launch.pod import PodChannel

_BOOT: Final = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "import importlib; importlib.import_module(sys.argv[2]).main(int(sys.argv[3]), sys.argv[4])"
)


class PodSource(Protocol):
    """Something that makes pods."""

    def open_pod(self, spec: LaunchSpec) -> PodChannel:
        """Begin to build a pod; `Ready` or an error is the channel's first event.

        Raises:
            OSError: no pod can be asked for, because the source is gone.
        """

    def is_alive(self) -> bool:
        """Whether the source still stands; the pods of one that does not are about to end."""

    def close(self) -> None:
        """End the source, and with it every pod it made."""


@dataclass(frozen=True, slots=True)
class SpawnerProcess:
    """A spawner in a process of its own, for callers that have threads or live long.

    Attributes:
        process: the spawner.
        channel: where requests go.
    """

    process: subprocess.Popen[bytes]
    channel: socket.socket

    @classmethod
    def start(cls, module: str, *, service: str = "") -> "SpawnerProcess":
        """Start a spawner.

        Its environment is empty, so that no pod can be asked for what its ancestors were told.

        Args:
            module: the module whose `main(descriptor, service)` is its entry.
            service: `module:function` of the work that pods do themselves; empty for none.

        Raises:
            OSError: no process could be started.
        """
        ours, theirs = socket.socketpair()
        root = str(Path(__file__).resolve().parents[2])
        with theirs:
            process = subprocess.Popen(
                [sys.executable, "-I", "-c", _BOOT, root, module, str(theirs.fileno()), service],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env={},
                cwd="/",
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        return cls(process=process, channel=ours)

    def open_pod(self, spec: LaunchSpec) -> PodChannel:
        """Ask the spawner for a pod."""
        ours, theirs = socket.socketpair()
        with theirs:
            control.send(self.channel, {"op": "pod", "steps": spec.steps.decode()}, (theirs.fileno(),))
        return PodChannel(socket=ours)

    def is_alive(self) -> bool:
        """Whether the spawner still holds its end of the channel."""
        poller = select.poll()
        poller.register(self.channel, 0)
        return not poller.poll(0)

    def close(self) -> None:
        """End the spawner and wait for it."""
        self.channel.close()
        self.process.wait()


class Respawning:
    """A PodSource that starts another spawner when the one it has is gone."""

    def __init__(self, start: Callable[[], PodSource]) -> None:
        """Start the first one.

        Raises:
            OSError: no process could be started.
        """
        self._start = start
        self._source = start()

    def open_pod(self, spec: LaunchSpec) -> PodChannel:
        """Ask the spawner for a pod, a new one if need be.

        Raises:
            OSError: the new spawner is gone as well.
        """
        try:
            return self._source.open_pod(spec)
        except (BrokenPipeError, ConnectionResetError):
            self._source.close()
            self._source = self._start()
            return self._source.open_pod(spec)

    def is_alive(self) -> bool:
        """Whether the present spawner stands."""
        return self._source.is_alive()

    def close(self) -> None:
        """End the spawner."""
        self._source.close()


@dataclass(frozen=True, slots=True)
class InProcessSpawner:
    """Fork pods from this process; only for one that has no threads and never will.

    Attributes:
        maker: reads the steps of a pod.
    """

    maker: spawner.PodMaker

    def open_pod(self, spec: LaunchSpec) -> PodChannel:
        """Fork a pod."""
        ours, theirs = socket.socketpair()
        own = os.pidfd_open(os.getpid())
        with theirs:
            spawner.fork_pod(theirs, Watch(spawner=own), self.maker(spec.steps))
        os.close(own)
        return PodChannel(socket=ours)

    def is_alive(self) -> bool:
        """This process stands."""
        return True

    def close(self) -> None:
        """Collect what was forked and has ended."""
        while True:
            try:
                pid, _ = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
