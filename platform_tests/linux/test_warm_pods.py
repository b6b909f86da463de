"""A pod that waited is only handed out while plan, files and mounts are what they were."""

import sys

assert sys.platform == "linux"

import os
import socket
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from sandboxing.contract.launch import LaunchSpec
from sandboxing.launch.pod import PodChannel
from sandboxing.launch.warm import WarmPods


@dataclass
class _Source:
    """Hands out channels whose far ends it keeps, so that a test can end them."""

    far: list[socket.socket] = field(default_factory=list)
    near: list[PodChannel] = field(default_factory=list)
    closed: bool = False
    alive: bool = True

    def open_pod(self, spec: LaunchSpec) -> PodChannel:
        del spec
        ours, theirs = socket.socketpair()
        self.far.append(theirs)
        self.near.append(PodChannel(socket=ours))
        return self.near[-1]

    def is_alive(self) -> bool:
        return self.alive

    def close(self) -> None:
        self.closed = True
        for ends in zip(self.far, self.near, strict=True):
            ends[0].close()
            ends[1].close()


def _spec(name: str, *paths: Path) -> LaunchSpec:
    return LaunchSpec(
        backend="fake",
        digest=name,
        steps=b"",
        sandbox_type="none",
        host_paths=tuple(str(path) for path in paths),
    )


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    path = tmp_path / "workspace"
    path.mkdir()
    return path


def test_the_second_start_of_a_plan_gets_the_pod_that_waited(workspace: Path) -> None:
    source = _Source()
    pods = WarmPods(source)
    pods.open_pod(_spec("a", workspace))
    assert pods.open_pod(_spec("a", workspace)) is source.near[1]
    pods.close()
    assert source.closed


def test_a_replaced_directory_makes_a_waiting_pod_useless(workspace: Path) -> None:
    source = _Source()
    pods = WarmPods(source)
    pods.open_pod(_spec("a", workspace))
    workspace.rename(workspace.with_name("kept, so that its inode is not used again"))
    workspace.mkdir()
    fresh = pods.open_pod(_spec("a", workspace))
    assert fresh is not source.near[1]
    assert source.near[1].socket.fileno() == -1
    pods.close()


def test_a_pod_that_died_waiting_is_not_handed_out(workspace: Path) -> None:
    source = _Source()
    pods = WarmPods(source)
    pods.open_pod(_spec("a", workspace))
    source.far[1].close()
    assert pods.open_pod(_spec("a", workspace)) is not source.near[1]
    pods.close()


def test_the_pods_of_a_dead_source_are_not_handed_out(workspace: Path) -> None:
    source = _Source()
    pods = WarmPods(source)
    pods.open_pod(_spec("a", workspace))
    source.alive = False
    assert pods.open_pod(_spec("a", workspace)) is not source.near[1]
    pods.close()


def test_no_more_pods_wait_than_were_allowed(workspace: Path) -> None:
    source = _Source()
    pods = WarmPods(source, kept=2)
    taken = [pods.open_pod(_spec(name, workspace)) for name in "abcd"]
    waiting = [pod for pod in source.near if pod not in taken and pod.socket.fileno() != -1]
    assert len(waiting) == 2
    pods.close()


@pytest.mark.privileged
def test_a_new_mount_of_the_host_makes_waiting_pods_useless(workspace: Path) -> None:
    source = _Source()
    pods = WarmPods(source)
    pods.open_pod(_spec("a"))
    assert os.system(f"mount -t tmpfs none '{workspace}'") == 0  # noqa: S605 - a path of this test's own
    try:
        assert pods.open_pod(_spec("a")) is not source.near[1]
    finally:
        os.system(f"umount '{workspace}'")  # noqa: S605 - the same
    pods.close()
