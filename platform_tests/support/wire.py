"""The exec-server as a program: started, talked to over its socket, ended.

The client is the one of the other tests; this adds the program and what people ask of it. It judges nothing.
"""

import sys

assert sys.platform == "linux"

import base64
import os
import shutil
import subprocess
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any, Final

import aiohttp

from platform_tests.support import world
from platform_tests.support.ground import CHECKOUT, Ground
from tests.fakes.wire_client import Json, WireClient, start_params

_ENDS_WITHIN_S: Final = 20.0
_SPAWNER: Final = "sandboxing.backends.linux.spawner"


@dataclass(frozen=True, slots=True)
class Server:
    """A running exec-server.

    Attributes:
        url: where it listens.
        pid: its process; with a program before it, still the same.
    """

    url: str
    pid: int


def server_arguments() -> tuple[str, ...]:
    """The program as installed beside the interpreter, else from the checkout."""
    installed = shutil.which("execserver", path=os.path.dirname(sys.executable))
    program = (installed,) if installed is not None else (sys.executable, "-m", "execserver.cli")
    return (*program, "--listen", "ws://127.0.0.1:0")


def spawner_of(server: int) -> int:
    """The process that makes a server's sandboxes.

    Its children show its command line until they have forgotten it, so its parent is looked at too.
    """
    [spawner] = [
        one.pid for one in world.descendants(server) if one.parent == server and _SPAWNER in one.command
    ]
    return spawner


@contextmanager
def running_server(ground: Ground, *, through: Sequence[str] = ()) -> Iterator[Server]:
    """A server that runs as the ground's identity.

    Args:
        ground: its home and working directory.
        through: a program that becomes the server, given its command line.
    """
    identity = ground.identity
    process = subprocess.Popen(
        (*through, *server_arguments()),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        cwd=ground.home,
        env={**ground.environment(), "PYTHONPATH": CHECKOUT},
        user=identity.user,
        group=identity.group,
        extra_groups=identity.extra_groups,
    )
    try:
        assert process.stdout is not None
        url = process.stdout.readline().decode().strip()
        assert url.startswith("ws://"), "the server did not come up"
        yield Server(url=url, pid=process.pid)
    finally:
        process.terminate()
        process.wait(timeout=_ENDS_WITHIN_S)
        if process.stdout is not None:
            process.stdout.close()


@asynccontextmanager
async def connected(server: Server) -> AsyncIterator[WireClient]:
    """A client with a session."""
    async with aiohttp.ClientSession() as http, http.ws_connect(server.url, max_msg_size=0) as websocket:
        client = WireClient(websocket)
        try:
            await client.initialize()
            yield client
        finally:
            await client.aclose()


def sandbox(
    ground: Ground, *, entries: Sequence[Mapping[str, Any]] = (), network: str = "restricted"
) -> Json:
    """The intent of a client: everything may be read, the workspace written, and what `entries` say."""
    special = {
        place: {"path": {"type": "special", "value": {"kind": kind}}, "access": access}
        for place, kind, access in (("root", "root", "read"), ("roots", "project_roots", "write"))
    }
    return {
        "permissions": {
            "type": "managed",
            "network": network,
            "file_system": {"type": "restricted", "entries": [*special.values(), *entries]},
        },
        "cwd": f"file://{ground.workspace}",
        "workspaceRoots": [f"file://{ground.workspace}"],
        "windowsSandboxLevel": "disabled",
    }


def start_request(ground: Ground, process_id: str, *argv: str, sandboxed: bool, **more: object) -> Json:
    """Parameters of a start in the workspace."""
    intent = {"sandbox": sandbox(ground)} if sandboxed else {}
    place = {"cwd": f"file://{ground.workspace}", "env": ground.environment()}
    return start_params(process_id, *argv, **{**place, **intent, **more})


@dataclass(frozen=True, slots=True)
class Ended:
    """A process as its notifications told it."""

    code: int
    output: bytes
    denied: bool


async def until_closed(client: WireClient) -> Ended:
    """Follow the only running process to its end."""
    output, code, denied = b"", -1, False
    for event in await client.events_until_closed():
        parameters = event["params"]
        if event["method"] == "process/output":
            output += base64.b64decode(parameters["chunk"])
        elif event["method"] == "process/exited":
            code, denied = parameters["exitCode"], parameters["sandboxDenied"]
    return Ended(code=code, output=output, denied=denied)
