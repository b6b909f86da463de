"""The unconfined spawner's entry: forks launchers that restrict nothing.

Started as a fresh isolated interpreter with an empty environment, so that commands are started from a
small process without threads.
"""

import sys

assert sys.platform == "linux"

import socket

from sandboxing.launch import launcher, spawner


def main(descriptor: int, service: str) -> None:
    """Serve requests on `descriptor` until it ends."""
    work = spawner.load_service(service)

    def body(channel: socket.socket, watch: launcher.Watch) -> None:
        launcher.run(channel, watch, _restrict_nothing, work)

    def maker(_steps: bytes) -> spawner.PodBody:
        return body

    with socket.socket(fileno=descriptor) as channel:
        channel.set_inheritable(False)
        spawner.serve(channel, maker)


def _restrict_nothing() -> None:
    """There is no sandbox to enter."""
