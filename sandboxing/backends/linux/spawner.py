"""The Linux spawner's entry: a subreaper that forks pods for whoever started it.

Started as a fresh isolated interpreter with an empty environment; its command line names the descriptor of
its channel.
"""

import sys

assert sys.platform == "linux"

import functools
import socket

from sandboxing.backends.linux import landlock
from sandboxing.backends.linux.pod import pod_maker
from sandboxing.backends.linux.syscalls.privileges import become_subreaper
from sandboxing.launch import spawner


def main(descriptor: int, service: str) -> None:
    """Serve requests on `descriptor` until it ends.

    Args:
        descriptor: the channel.
        service: `module:function` that answers calls inside a pod, or empty.
    """
    become_subreaper()
    maker = functools.partial(pod_maker, service=spawner.load_service(service))
    # the binding looks for the C library at its first use, by running a program; that must not be in a pod
    landlock.kernel_abi()
    with socket.socket(fileno=descriptor) as channel:
        channel.set_inheritable(False)
        spawner.serve(channel, maker)
