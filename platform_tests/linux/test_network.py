"""The network that a confined command has: itself and nobody else, whatever listens on the host."""

import sys

assert sys.platform == "linux"

import os
import secrets
import socket
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass

import pytest

from platform_tests.support.ground import Ground
from platform_tests.support.sandboxctl import run_as, run_sandboxctl
from platform_tests.support.scenario import answers_of

WORLD = "198.51.100.1"
"""An address of a documentation network, RFC 5737, which nobody answers at."""

OWN = {
    "own-loopback": "ok",
    "own-loopback-6": "ok",
    "own-unix-socket": "ok",
    "own-abstract-socket": "ok",
}


@dataclass(frozen=True, slots=True)
class Listeners:
    """What listens on the host while a victim runs.

    Attributes:
        tcp: on loopback.
        abstract: on a name without a file.
        visible: on a file that the sandbox shows.
        hidden: on a file in the host's /tmp.
    """

    tcp: socket.socket
    abstract: socket.socket
    visible: socket.socket
    hidden: socket.socket

    def arguments(self) -> dict[str, str]:
        """For the victim."""
        return {
            "port": str(self.tcp.getsockname()[1]),
            "abstract": self.abstract.getsockname()[1:].decode(),
            "path": self.visible.getsockname(),
            "hidden": self.hidden.getsockname(),
            "world": WORLD,
        }

    def visited(self) -> set[str]:
        """Which of them somebody has connected to since the last time."""
        found = set()
        for name in ("tcp", "abstract", "visible", "hidden"):
            listener: socket.socket = getattr(self, name)
            with suppress(BlockingIOError):
                listener.accept()[0].close()
                found.add(name)
        return found


@contextmanager
def listening(ground: Ground) -> Iterator[Listeners]:
    """Listeners of the host."""
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="sandboxctl-sockets-", dir="/tmp"))
        os.chmod(folder, 0o755)
        places = (
            (socket.AF_INET, ("127.0.0.1", 0)),
            (socket.AF_UNIX, f"\0sandboxctl-{secrets.token_hex(8)}"),
            (socket.AF_UNIX, ground.at("outside", "host.sock")),
            (socket.AF_UNIX, os.path.join(folder, "host.sock")),
        )
        listeners = []
        for family, address in places:
            listener = stack.enter_context(socket.socket(family, socket.SOCK_STREAM))
            listener.bind(address)
            listener.listen()
            listener.setblocking(False)  # noqa: FBT003 - the standard library's own signature
            if isinstance(address, str) and address.startswith("/"):
                os.chmod(address, 0o777)
            listeners.append(listener)
        yield Listeners(*listeners)


def route_of_the_host() -> str:
    """Whether this host knows a way to the world at all."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        try:
            client.connect((WORLD, 9))
        except OSError as error:
            return "ENETUNREACH" if error.errno == 101 else str(error)
    return "ok"


def test_without_a_sandbox_every_listener_is_reached(ground: Ground) -> None:
    with listening(ground) as listeners:
        answers = answers_of(run_as(ground, ground.victim("network", listeners.arguments())))
        assert listeners.visited() == {"tcp", "abstract", "visible", "hidden"}
    assert answers == {
        "tcp-of-the-host": "ok",
        "abstract-socket-of-the-host": "ok",
        "visible-socket-of-the-host": "ok",
        "socket-in-hosts-tmp": "ok",
        "route-to-the-world": route_of_the_host(),
        **OWN,
    }


def test_a_restricted_network_reaches_only_itself(ground: Ground) -> None:
    with listening(ground) as listeners:
        run = run_sandboxctl(ground, ground.victim("network", listeners.arguments()))
        visited = listeners.visited()
    answers = answers_of(run)
    through_path = answers.pop("visible-socket-of-the-host")
    assert answers == {
        "tcp-of-the-host": "ECONNREFUSED",
        "abstract-socket-of-the-host": "ECONNREFUSED",
        "socket-in-hosts-tmp": "ENOENT",
        "route-to-the-world": "ENETUNREACH",
        **OWN,
    }
    # the one gap: where the kernel cannot refuse it, the report has to say so
    caveats = {caveat["code"] for caveat in run.report["enforcement"]["caveats"]}
    assert (visited, through_path, "unix-sockets" in caveats) in (
        ({"visible"}, "ok", True),
        (set(), "EACCES", False),
    )


def test_an_enabled_network_still_leaves_abstract_sockets_of_the_host_alone(ground: Ground) -> None:
    policy = ground.policy(
        {
            "extends": "workspace-write",
            "profile": {
                "type": "managed",
                "network": "enabled",
                "file_system": {"type": "restricted", "entries": []},
            },
        }
    )
    with listening(ground) as listeners:
        run = run_sandboxctl(ground, ground.victim("network", listeners.arguments()), policy=policy)
        visited = listeners.visited()
    answers = answers_of(run)
    assert answers["tcp-of-the-host"] == "ok"
    assert answers["abstract-socket-of-the-host"] == "EPERM"
    assert answers["route-to-the-world"] == route_of_the_host()
    assert answers["own-abstract-socket"] == "ok"
    assert visited - {"visible"} == {"tcp"}


@pytest.mark.parametrize("policy", ["read-only", "workspace-write", "full-access-no-network"])
def test_no_shipped_policy_without_network_reaches_a_listener(policy: str, ground: Ground) -> None:
    with listening(ground) as listeners:
        port = listeners.arguments()["port"]
        connect = f"import socket; socket.create_connection(('127.0.0.1', {port}))"
        # `/usr/bin/env` finds the system's interpreter, which every policy shows
        run = run_sandboxctl(ground, ["env", "python3", "-c", connect], policy=policy)
        assert "tcp" not in listeners.visited()
    assert run.code == 1
    assert "ConnectionRefusedError" in run.stderr
