"""What cannot be started or done is refused in the words of the protocol, confined or not."""

import sys

assert sys.platform == "linux"

import asyncio
import os
from pathlib import Path

import pytest

from platform_tests.support.ground import Ground
from platform_tests.support.wire import connected, running_server, sandbox, start_request, until_closed

_FEW_DESCRIPTORS = 40
_LIMITED = ("/bin/sh", "-c", f'ulimit -n {_FEW_DESCRIPTORS}; exec "$@"', "sh")


@pytest.mark.parametrize("sandboxed", [False, True], ids=["bare", "confined"])
def test_a_failed_start_is_named_by_its_error_number(ground: Ground, *, sandboxed: bool) -> None:
    garbage = ground.at("ws", "garbage")
    Path(garbage).write_bytes(b"\0\1\2\3")
    os.chmod(garbage, 0o755)

    async def ask() -> None:
        with running_server(ground) as server:
            async with connected(server) as client:
                for argv, more, kind, number in (
                    (("/no/such",), {}, "spawnNotFound", 2),
                    (("/",), {}, "spawnPermissionDenied", 13),
                    ((garbage,), {}, "spawnFailed", 8),
                    (("/bin/true",), {"cwd": f"file://{garbage}"}, "spawnFailed", 20),
                    (("/bin/true",), {"cwd": f"file://{garbage}-not"}, "spawnNotFound", 2),
                ):
                    request = start_request(ground, "p", *argv, sandboxed=sandboxed, **more)
                    error = await client.error("process/start", request)
                    assert (error["code"], error["data"]) == (-32603, {"kind": kind})
                    assert error["message"].endswith(f"(os error {number})")

    asyncio.run(ask())


def test_a_sandbox_of_another_system_is_unavailable(ground: Ground) -> None:
    intent = {**sandbox(ground), "windowsSandboxLevel": "mxc"}

    async def ask() -> None:
        with running_server(ground) as server:
            async with connected(server) as client:
                request = start_request(ground, "p", "/bin/true", sandboxed=False, sandbox=intent)
                refusal = {
                    "code": -32602,
                    "data": {"kind": "sandboxUnavailable"},
                    "message": "native MXC is unavailable on this executor",
                }
                assert await client.error("process/start", request) == refusal
                read = {"path": "file:///etc/passwd", "sandbox": intent}
                assert await client.error("fs/readFile", read) == refusal

    asyncio.run(ask())


def test_what_is_missing_where_nothing_may_be_written_is_missing_and_not_refused(ground: Ground) -> None:
    gone = {"path": f"file://{ground.home}/gone", "sandbox": sandbox(ground)}

    async def ask() -> None:
        with running_server(ground) as server:
            async with connected(server) as client:
                assert await client.result("fs/remove", gone) == {}
                assert (await client.error("fs/remove", {**gone, "force": False}))["code"] == -32004

    asyncio.run(ask())


def test_a_server_out_of_descriptors_refuses_starts_and_recovers(ground: Ground) -> None:
    async def ask() -> None:
        with running_server(ground, through=_LIMITED) as server:
            async with connected(server) as client:
                started, refused = [], 0
                for number in range(_FEW_DESCRIPTORS):
                    request = start_request(ground, str(number), "sleep", "60", sandboxed=bool(number % 2))
                    answer = await client.call("process/start", request)
                    if "result" in answer:
                        started.append(str(number))
                    else:
                        refused += 1
                        assert answer["error"]["code"] == -32603
                assert started
                assert refused
                for process_id in started:
                    await client.result("process/terminate", {"processId": process_id})
                    await client.events_until_closed()
                await client.result("process/start", start_request(ground, "z", "true", sandboxed=True))
                assert (await until_closed(client)).code == 0

    asyncio.run(ask())
