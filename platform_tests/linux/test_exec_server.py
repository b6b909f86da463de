"""Intent that arrives over the wire is held by the kernel: for processes and for file operations."""

import sys

assert sys.platform == "linux"

import asyncio
import base64
import json
import os
import signal
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from platform_tests.support.ground import Ground
from platform_tests.support.wire import (
    Server,
    connected,
    running_server,
    sandbox,
    spawner_of,
    start_request,
    until_closed,
)
from tests.fakes.wire_client import WireClient

NO_CAPABILITY = "0" * 16


def with_server(ground: Ground, ask: Callable[[WireClient, Server], Awaitable[None]]) -> None:
    async def talk() -> None:
        with running_server(ground) as server:
            async with connected(server) as client:
                await ask(client, server)

    asyncio.run(talk())


async def status_of(client: WireClient, ground: Ground, name: str, *, sandboxed: bool) -> Any:  # noqa: ANN401 - JSON
    command = ground.victim("status", {})
    started = await client.result("process/start", start_request(ground, name, *command, sandboxed=sandboxed))
    assert started["sandboxType"] == ("linuxSeccomp" if sandboxed else "none")
    ended = await until_closed(client)
    assert ended.code == 0
    return json.loads(ended.output)


def test_a_confined_process_is_as_confined_as_one_of_the_command_line(ground: Ground) -> None:
    async def ask(client: WireClient, _server: Server) -> None:
        control = await status_of(client, ground, "bare", sandboxed=False)
        inside = await status_of(client, ground, "confined", sandboxed=True)
        assert control["status"]["Seccomp"] == "0"
        assert inside["status"]["Seccomp"] == "2"
        assert inside["status"]["NoNewPrivs"] == "1"
        assert {inside["status"][f"Cap{name}"] for name in ("Inh", "Prm", "Eff", "Bnd", "Amb")} == {
            NO_CAPABILITY
        }
        same = {kind for kind, name in control["namespaces"].items() if inside["namespaces"][kind] == name}
        assert same == set()
        assert inside["first"] == {"cmdline": "", "environ": None}
        assert inside["descriptors"] == [0, 1, 2]
        assert control["descriptors"] == [0, 1, 2]

    with_server(ground, ask)


def test_two_confined_processes_do_not_see_each_other(ground: Ground) -> None:
    async def ask(client: WireClient, _server: Server) -> None:
        await client.result("process/start", start_request(ground, "sleeper", "sleep", "300", sandboxed=True))
        assert (await status_of(client, ground, "looker", sandboxed=True))["processes"] == 2

    with_server(ground, ask)


def test_a_write_outside_fails_for_processes_and_files_alike(ground: Ground) -> None:
    target = ground.at("outside", "new")
    content = {"path": f"file://{target}", "dataBase64": base64.b64encode(b"x").decode()}

    async def ask(client: WireClient, _server: Server) -> None:
        await client.result("fs/writeFile", content)
        os.unlink(target)
        error = await client.error("fs/writeFile", {**content, "sandbox": sandbox(ground)})
        assert (error["code"], error["message"]) == (-32603, "Read-only file system (os error 30)")
        await client.result(
            "process/start",
            start_request(ground, "p", "sh", "-c", f"echo x > {target}", sandboxed=True),
        )
        ended = await until_closed(client)
        assert ended.code == 2
        assert b"Read-only file system" in ended.output
        assert ended.denied
        assert ground.listing("outside") == ()

    with_server(ground, ask)


def test_file_operations_in_the_workspace_work_and_denied_files_stay_closed(ground: Ground) -> None:
    secret = ground.file("ws/secret", "secret")
    deny = {"path": {"type": "path", "path": secret}, "access": "deny"}
    intent = {"sandbox": sandbox(ground, entries=[deny])}
    path = {"path": f"file://{ground.workspace}/file"}

    async def ask(client: WireClient, _server: Server) -> None:
        await client.result(
            "fs/writeFile", {**path, "dataBase64": base64.b64encode(b"text").decode(), **intent}
        )
        read = await client.result("fs/readFile", {**path, **intent})
        assert base64.b64decode(read["dataBase64"]) == b"text"
        assert os.stat(ground.at("ws", "file")).st_uid == ground.identity.uid
        await client.result("fs/readFile", {"path": f"file://{secret}"})
        error = await client.error("fs/readFile", {"path": f"file://{secret}", **intent})
        assert (error["code"], error["message"]) == (-32600, "Permission denied (os error 13)")

    with_server(ground, ask)


def test_a_restricted_network_gives_no_internet_socket_at_all(ground: Ground) -> None:
    code = "import socket; socket.socket(socket.AF_INET, socket.SOCK_STREAM)"

    async def ask(client: WireClient, _server: Server) -> None:
        for name, sandboxed in (("bare", False), ("confined", True)):
            request = start_request(ground, name, "python3", "-c", code, sandboxed=sandboxed)
            await client.result("process/start", request)
            ended = await until_closed(client)
            assert ended.code == (1 if sandboxed else 0)
            assert (b"PermissionError: [Errno 1]" in ended.output) == sandboxed

    with_server(ground, ask)


def test_a_confined_terminal_is_a_terminal(ground: Ground) -> None:
    async def ask(client: WireClient, _server: Server) -> None:
        request = start_request(
            ground, "t", "sh", "-c", "tty; stty size; test -t 2 && exit 6", sandboxed=True, tty=True
        )
        await client.result("process/start", request)
        ended = await until_closed(client)
        assert (ended.code, ended.output) == (6, b"/dev/pts/0\r\n24 80\r\n")

    with_server(ground, ask)


@pytest.mark.parametrize("ending", ["terminate", "disconnect-and-stop"])
def test_the_end_of_a_process_takes_its_whole_tree(ending: str, ground: Ground) -> None:
    os.mkfifo(ground.at("ws", "fifo"))
    os.chown(ground.at("ws", "fifo"), ground.identity.uid, ground.identity.gid)
    reader = os.open(ground.at("ws", "fifo"), os.O_RDONLY | os.O_NONBLOCK)

    async def ask(client: WireClient, _server: Server) -> None:
        script = "exec 8> fifo; setsid sleep 300 & echo up; sleep 300"
        await client.result("process/start", start_request(ground, "p", "sh", "-c", script, sandboxed=True))
        assert (await client.next_event())["method"] == "process/output"
        if ending == "terminate":
            assert await client.result("process/terminate", {"processId": "p"}) == {"running": True}
            assert (await until_closed(client)).code == 137
            await asyncio.wait_for(_end_of(reader), 10)

    try:
        with_server(ground, ask)
        asyncio.run(asyncio.wait_for(_end_of(reader), 10))
    finally:
        os.close(reader)


def test_a_dead_spawner_is_replaced(ground: Ground) -> None:
    async def ask(client: WireClient, server: Server) -> None:
        await client.result("process/start", start_request(ground, "p", "sleep", "300", sandboxed=True))
        os.kill(spawner_of(server.pid), signal.SIGKILL)
        assert (await until_closed(client)).code == 128 + signal.SIGKILL
        await client.result("process/start", start_request(ground, "q", "true", sandboxed=True))
        assert (await until_closed(client)).code == 0
        content = {"path": f"file://{ground.workspace}/f", "dataBase64": ""}
        await client.result("fs/writeFile", {**content, "sandbox": sandbox(ground)})

    with_server(ground, ask)


async def _end_of(descriptor: int) -> None:
    """Wait until nobody has the fifo open for writing."""
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    loop.add_reader(descriptor, ended.set)
    try:
        await ended.wait()
    finally:
        loop.remove_reader(descriptor)


def test_nothing_piles_up_in_the_server(ground: Ground) -> None:
    path = {"path": f"file://{ground.workspace}/file", "sandbox": sandbox(ground)}

    async def ask(client: WireClient, server: Server) -> None:
        async def work(name_of_round: str) -> int:
            for number in range(5):
                name = f"{name_of_round}-{number}"
                await client.result("process/start", start_request(ground, name, "true", sandboxed=True))
                await until_closed(client)
                await client.result("fs/writeFile", {**path, "dataBase64": base64.b64encode(b"x").decode()})
            return len(os.listdir(f"/proc/{server.pid}/fd"))

        first = await work("first")
        assert await work("second") == first
        assert await work("third") == first

    with_server(ground, ask)
