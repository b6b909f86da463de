"""Turning a forked child into a Linux pod: namespaces, second fork, steps, launcher.

The second fork is what becomes pid 1; the first child only crosses into the pid namespace and leaves.
Called by the spawner and, for single runs, by the command line's own process.
"""

import sys

assert sys.platform == "linux"

import os
import socket

from sandboxing.backends.linux.apply import apply_steps, enter_namespaces
from sandboxing.backends.linux.steps import Namespace, decode_plan
from sandboxing.launch import launcher
from sandboxing.launch.spawner import PodBody


def pod_maker(steps: bytes, *, service: launcher.Service | None = None) -> PodBody:
    """Read a plan; what is returned makes a forked child a pod of that plan, which serves one command.

    Args:
        steps: the encoded plan.
        service: what answers calls in the pod.
    """
    plan = decode_plan(steps)

    def become_pod(channel: socket.socket, watch: launcher.Watch) -> None:
        if plan.namespaces:
            enter_namespaces(plan)
        if Namespace.PID in plan.namespaces and os.fork() != 0:
            return
        launcher.run(channel, watch, lambda: apply_steps(plan), service)
        os._exit(0)

    return become_pod
