"""`process/write` over a real WebSocket: idempotency, refusals, and processes that do not read."""

from __future__ import annotations

import asyncio

import pytest

from execserver.server.settings import Settings
from tests.fakes.wire_client import encoded, lab


def test_a_repeated_write_is_accepted_and_not_performed() -> None:
    async def scenario() -> None:
        async with lab() as it:
            client = await it.ready()
            await client.start("p", pipeStdin=True)
            process = it.host.processes[0]
            for write_id, data in (("1", b"one"), ("1", b"DIFFERENT"), ("2", b"two"), ("3", b"")):
                params = {"processId": "p", "chunk": encoded(data), "writeId": write_id}
                assert await client.result("process/write", params) == {"status": "accepted"}
            await process.has_read_stdin(6)
            assert b"".join(process.written) == b"onetwo"

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, {"result": {"status": "stdinClosed"}}),
        ({"tty": True}, {"result": {"status": "accepted"}}),
        ({"pipeStdin": True}, {"error": {"code": -32603, "message": "failed to write to process stdin"}}),
    ],
)
def test_what_a_write_to_an_ended_process_says_depends_on_its_input(
    more: dict[str, object], expected: dict[str, object]
) -> None:
    async def scenario() -> None:
        async with lab() as it:
            client = await it.ready()
            await client.start("a", "/bin/true", **more)
            await client.events_until_closed()
            answer = await client.call("process/write", {"processId": "a", "chunk": "eA==", "writeId": "w"})
            del answer["id"]
            assert answer == expected

    asyncio.run(scenario())


def test_bad_writes_are_refused_before_the_process_is_looked_up() -> None:
    async def scenario() -> None:
        async with lab() as it:
            client = await it.ready()
            params = {"processId": "unknown", "chunk": "eA==", "writeId": ""}
            assert (await client.error("process/write", params))["message"] == "writeId must not be empty"
            params = {"processId": "unknown", "chunk": "!!!", "writeId": "a"}
            assert (await client.error("process/write", params))["message"] == "Invalid symbol 33, offset 0."

    asyncio.run(scenario())


def test_a_process_that_does_not_read_its_input_holds_up_writes_only_when_much_is_waiting() -> None:
    async def scenario() -> None:
        async with lab(settings=Settings(stdin_bytes=4, concurrent_requests=2)) as it:
            client = await it.ready()
            await client.start("p", pipeStdin=True)
            process = it.host.processes[0]
            process.stdin_gate.clear()
            write = {"processId": "p", "chunk": encoded(b"12345")}
            assert await client.result("process/write", {**write, "writeId": "1"}) == {"status": "accepted"}
            waiting = await client.post("process/write", {**write, "writeId": "2"})
            assert await client.result("environment/status") == {"status": "ready"}
            process.stdin_gate.set()
            assert (await client.answer_to(waiting))["result"] == {"status": "accepted"}
            await process.has_read_stdin(10)

    asyncio.run(scenario())


def test_a_write_after_the_exit_is_accepted_until_the_process_is_closed() -> None:
    # What it started may hold its input still, and nobody can tell from outside.
    async def scenario() -> None:
        async with lab(settings=Settings(exit_grace_s=0.001)) as it:
            client = await it.ready()
            await client.start("p", pipeStdin=True)
            process = it.host.processes[0]
            await process.exit(0)
            await client.next_event()
            write = {"processId": "p", "chunk": encoded(b"x")}
            assert await client.result("process/write", {**write, "writeId": "1"}) == {"status": "accepted"}
            await process.end()
            await client.next_event()
            assert (await client.error("process/write", {**write, "writeId": "2"}))["code"] == -32603
            assert await client.result("process/write", {**write, "writeId": "1"}) == {"status": "accepted"}

    asyncio.run(scenario())


def test_writes_to_a_process_that_has_closed_its_input_are_accepted_and_dropped() -> None:
    async def scenario() -> None:
        async with lab() as it:
            client = await it.ready()
            await client.start("p", pipeStdin=True)
            it.host.processes[0].stdin_is_broken = True
            for write_id in ("1", "2", "3"):
                params = {"processId": "p", "chunk": encoded(b"x"), "writeId": write_id}
                assert await client.result("process/write", params) == {"status": "accepted"}
            assert it.host.processes[0].written == []

    asyncio.run(scenario())


def test_a_write_that_waits_for_a_process_that_ends_fails() -> None:
    async def scenario() -> None:
        async with lab(settings=Settings(stdin_bytes=1, concurrent_requests=2)) as it:
            client = await it.ready()
            await client.start("p", pipeStdin=True)
            process = it.host.processes[0]
            process.stdin_gate.clear()
            write = {"processId": "p", "chunk": encoded(b"12345")}
            await client.result("process/write", {**write, "writeId": "1"})
            waiting = await client.post("process/write", {**write, "writeId": "2"})
            await client.result("process/terminate", {"processId": "p"})
            assert (await client.answer_to(waiting))["error"]["code"] == -32603

    asyncio.run(scenario())
