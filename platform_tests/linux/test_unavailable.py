"""Hosts that refuse user namespaces: nothing runs, the answer says what is missing and what would cure it."""

import sys

assert sys.platform == "linux"

import asyncio
import base64
import os

import pytest

from platform_tests.support import refusing
from platform_tests.support.ground import Ground
from platform_tests.support.sandboxctl import run_as, run_sandboxctl
from platform_tests.support.wire import connected, running_server, sandbox, start_request, until_closed

CURES = {
    "setting": ("max_user_namespaces is 0", "sysctl user.max_user_namespaces="),
    "filter": ("cannot create `user namespace`", "seccomp profile that allows unshare"),
}
"""What refuses, with what is said to be missing and the cure."""


def through(kind: str) -> tuple[str, ...]:
    return (sys.executable, os.path.abspath(refusing.__file__), kind)


@pytest.mark.parametrize("kind", CURES)
def test_the_program_refuses_names_what_is_missing_and_a_cure(kind: str, ground: Ground) -> None:
    ran = ground.at("ws", "ran")
    assert run_as(ground, (*through(kind), "/usr/bin/touch", ran)).code == 0
    os.unlink(ran)
    run = run_sandboxctl(ground, ["touch", ran], through=through(kind))
    missing, cure = CURES[kind]
    assert run.code == 125
    [said, hint] = run.own_lines
    assert missing in said
    assert hint.startswith("sandboxctl: hint: ")
    assert cure in hint
    assert run.report["outcome"] == "setup_failed"
    assert run.report["error"]["code"] == "sandbox-unavailable"
    assert run.report["enforcement"] is None
    assert not os.path.lexists(ran)


@pytest.mark.parametrize("kind", CURES)
def test_the_server_refuses_what_was_asked_to_be_confined_and_nothing_else(kind: str, ground: Ground) -> None:
    missing, cure = CURES[kind]
    ran = ground.at("ws", "ran")

    async def ask() -> None:
        with running_server(ground, through=through(kind)) as server:
            async with connected(server) as client:
                await client.result(
                    "process/start", start_request(ground, "bare", "touch", ran, sandboxed=False)
                )
                assert (await until_closed(client)).code == 0
                os.unlink(ran)
                error = await client.error(
                    "process/start", start_request(ground, "confined", "touch", ran, sandboxed=True)
                )
                assert (error["code"], error["data"]) == (-32602, {"kind": "sandboxUnavailable"})
                assert missing in error["message"]
                assert cure in error["message"]
                written = {"path": f"file://{ran}", "dataBase64": base64.b64encode(b"x").decode()}
                error = await client.error("fs/writeFile", {**written, "sandbox": sandbox(ground)})
                assert missing in error["message"]
                assert ground.listing("ws") == ()
                assert client.pending_events == 0

    asyncio.run(ask())
