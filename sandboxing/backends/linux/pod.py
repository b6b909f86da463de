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


def become_pod(
    steps: bytes, channel: socket.socket, watch: launcher.Watch, *, service: launcher.Service | None = None
) -> None:
    """Become a pod and serve one command; returns in the process that only crossed over.

    Raises:
        StepFailure: a namespace was refused before the pod existed.
    """
    plan = decode_plan(steps)
    if plan.namespaces:
        enter_namespaces(plan)
    if Namespace.PID in plan.namespaces and os.fork() != 0:
        return
    launcher.run(channel, watch, lambda: apply_steps(plan), service)
    os._exit(0)
