"""Victim: talks to whoever listens on the host, to the world, and to itself."""

import sys

assert sys.platform == "linux"

import os
import socket
from collections.abc import Mapping

from platform_tests.scenarios.victims.reporting import Operation, report


def _connect(family: int, address: str | tuple[str, int]) -> None:
    with socket.socket(family, socket.SOCK_STREAM) as client:
        client.settimeout(5)
        client.connect(address)


def _route(address: str) -> None:
    # connecting a datagram socket looks the route up and sends nothing
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.connect((address, 9))


def _talk(family: int, address: str | tuple[str, int]) -> None:
    with socket.socket(family, socket.SOCK_STREAM) as server:
        server.bind(address)
        server.listen()
        with socket.socket(family, socket.SOCK_STREAM) as client:
            client.connect(server.getsockname())
            peer, _ = server.accept()
            with peer:
                client.sendall(b"hello")
                if peer.recv(5) != b"hello":
                    raise ConnectionError


def operations(where: Mapping[str, str]) -> Mapping[str, Operation]:
    """The host first, then the world, then itself."""
    workspace = os.path.join(where["ground"], "ws")
    return {
        "tcp-of-the-host": lambda: _connect(socket.AF_INET, ("127.0.0.1", int(where["port"]))),
        "abstract-socket-of-the-host": lambda: _connect(socket.AF_UNIX, "\0" + where["abstract"]),
        "visible-socket-of-the-host": lambda: _connect(socket.AF_UNIX, where["path"]),
        "socket-in-hosts-tmp": lambda: _connect(socket.AF_UNIX, where["hidden"]),
        "route-to-the-world": lambda: _route(where["world"]),
        "own-loopback": lambda: _talk(socket.AF_INET, ("127.0.0.1", 0)),
        "own-loopback-6": lambda: _talk(socket.AF_INET6, ("::1", 0)),
        "own-unix-socket": lambda: _talk(socket.AF_UNIX, os.path.join(workspace, "own.sock")),
        "own-abstract-socket": lambda: _talk(socket.AF_UNIX, "\0own-" + where["abstract"]),
    }


if __name__ == "__main__":
    report(operations)
