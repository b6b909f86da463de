"""The Linux spawner's entry: a subreaper that forks pods for whoever started it.

Started as a fresh isolated interpreter with an empty environment; its command line names the descriptor of
its channel.
"""

import sys

assert sys.platform == "linux"

import functools
import socket

from sandboxing.backends.linux.pod import become_pod
from sandboxing.backends.linux.syscalls.privileges import become_subreaper
from sandboxing.launch import spawner


def main(descriptor: int, service: str) -> None:
    """Serve requests on `descriptor` until it ends.

    Args:
        descriptor: the channel.
        service: `module:function` that answers calls inside a pod, or empty.
    """
    become_subreaper()
    body = functools.partial(become_pod, service=spawner.load_service(service))
    with socket.socket(fileno=descriptor) as channel:
        channel.set_inheritable(False)
        spawner.serve(channel, body)
