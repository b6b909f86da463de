"""Sessions outlive their connection: detach, resume, expiry, and who may hold what."""

from __future__ import annotations

import asyncio
import gc
import uuid

from execserver.adapters.ports import StreamName
from execserver.server.live_process import LiveProcess
from execserver.server.settings import Settings
from tests.fakes.process_host import ScriptedHost
from tests.fakes.wire_client import encoded, lab, start_params


def test_a_session_id_is_a_random_uuid() -> None:
    async def scenario() -> None:
        async with lab() as it:
            session_ids = {await (await it.connect()).initialize() for _ in range(3)}
            assert {uuid.UUID(session_id).version for session_id in session_ids} == {4}
            assert len(session_ids) == 3

    asyncio.run(scenario())


def test_an_attached_session_cannot_be_taken_over_and_an_unknown_one_not_be_resumed() -> None:
    async def scenario() -> None:
        async with lab() as it:
            session_id = await (await it.connect()).initialize()
            client = await it.connect()
            error = await client.error("initialize", {"clientName": "x", "resumeSessionId": session_id})
            assert error == {
                "code": -32010,
                "message": f"session {session_id} is already attached to another connection",
            }
            error = await client.error("initialize", {"clientName": "x", "resumeSessionId": "nope"})
            assert error == {"code": -32600, "message": "unknown session id nope"}
            assert await client.initialize() != session_id

    asyncio.run(scenario())


def test_output_made_while_detached_is_read_back_and_not_sent_again() -> None:
    async def scenario() -> None:
        async with lab() as it:
            first = await it.connect()
            session_id = await first.initialize()
            await first.start("bg")
            process = it.host.processes[0]
            await process.emit(StreamName.STDOUT, b"one")
            await first.next_event()
            await first.aclose()
            await asyncio.sleep(0.02)
            await process.emit(StreamName.STDOUT, b"two")
            second = await it.resume(session_id)
            # Events flow at once; calls still need the second step.
            await process.emit(StreamName.STDOUT, b"three")
            event = await second.next_event()
            assert event["params"] == {
                "processId": "bg",
                "seq": 3,
                "stream": "stdout",
                "chunk": encoded(b"three"),
            }
            error = await second.error("process/read", {"processId": "bg"})
            assert error["message"] == "client must send initialized before using exec methods"
            await second.raw('{"method":"initialized"}')
            result = await second.result("process/read", {"processId": "bg", "afterSeq": 1})
            assert [chunk["seq"] for chunk in result["chunks"]] == [2, 3]
            assert second.pending_events == 0

    asyncio.run(scenario())


def test_a_loss_behind_requests_that_cannot_be_taken_is_noticed_too() -> None:
    # The socket is left unread then, so its end cannot be seen; only a ping meets it.
    async def scenario() -> None:
        settings = Settings(stdin_bytes=1, incoming_messages=1)
        async with lab(settings=settings, ping_interval_s=0.02) as it:
            first = await it.connect()
            session_id = await first.initialize()
            await first.start("p", pipeStdin=True)
            it.host.processes[0].stdin_gate.clear()
            for number in range(40):
                chunk = encoded(bytes(16 * 1024))
                await first.post("process/write", {"processId": "p", "chunk": chunk, "writeId": str(number)})
            first.abort()
            await it.resume(session_id)

    asyncio.run(scenario())


def test_a_poll_of_the_lost_connection_does_not_delay_the_resume() -> None:
    async def scenario() -> None:
        async with lab() as it:
            first = await it.connect()
            session_id = await first.initialize()
            await first.start("a")
            await first.post("process/read", {"processId": "a", "waitMs": 60_000})
            await first.aclose()
            second = await it.resume(session_id)
            await second.raw('{"method":"initialized"}')
            assert await second.result("process/terminate", {"processId": "a"}) == {"running": True}

    asyncio.run(scenario())


def test_a_start_under_way_when_the_connection_is_lost_belongs_to_the_session() -> None:
    async def scenario() -> None:
        host = ScriptedHost(gate=asyncio.Event())
        async with lab(host=host) as it:
            assert host.gate is not None
            first = await it.connect()
            session_id = await first.initialize()
            await first.post("process/start", start_params("a", "/bin/echo", "hi"))
            await asyncio.sleep(0.02)
            await first.aclose()
            second = await it.resume(session_id)
            await second.raw('{"method":"initialized"}')
            host.gate.set()
            events = await second.events_until_closed()
            assert [event["params"]["seq"] for event in events] == [1, 2, 3]

    asyncio.run(scenario())


def test_a_detached_session_ends_after_its_time_with_all_its_processes() -> None:
    async def scenario() -> None:
        async with lab(settings=Settings(detached_lifetime_s=0.05, flush_s=0.01)) as it:
            first = await it.connect()
            session_id = await first.initialize()
            await first.start("a")
            await first.aclose()
            process = it.host.processes[0]
            async with asyncio.timeout(2):
                await process.closed.wait()
            assert process.is_killed
            client = await it.connect()
            error = await client.error("initialize", {"clientName": "x", "resumeSessionId": session_id})
            assert error == {"code": -32600, "message": f"unknown session id {session_id}"}

    asyncio.run(scenario())


def test_each_detach_starts_a_new_period() -> None:
    async def scenario() -> None:
        async with lab(settings=Settings(detached_lifetime_s=0.2, flush_s=0.01)) as it:
            client = await it.connect()
            session_id = await client.initialize()
            for _ in range(3):
                await client.aclose()
                await asyncio.sleep(0.1)
                client = await it.resume(session_id)

    asyncio.run(scenario())


def test_a_breach_detaches_the_session_instead_of_ending_it() -> None:
    async def scenario() -> None:
        async with lab() as it:
            first = await it.connect()
            session_id = await first.initialize()
            await first.start("a")
            await first.raw('{"method":"nonsense"}')
            await first.is_dropped()
            await it.resume(session_id)
            assert not it.host.processes[0].is_killed

    asyncio.run(scenario())


def test_the_end_of_the_server_ends_every_process_and_the_host() -> None:
    async def scenario() -> None:
        host = ScriptedHost()
        async with lab(host=host) as it:
            client = await it.ready()
            await client.start("a")
            await client.start("b")
        assert [process.is_killed for process in host.processes] == [True, True]
        assert [process.is_closed for process in host.processes] == [True, True]
        assert host.is_closed

    asyncio.run(scenario())


def test_a_session_that_is_over_leaves_nothing_to_the_garbage_collector() -> None:
    # The collector counts objects and not bytes, so output that waits for it may be kept for long.
    def alive() -> int:
        return sum(isinstance(each, LiveProcess) for each in gc.get_objects())

    async def scenario() -> None:
        async with lab(settings=Settings(detached_lifetime_s=0.05)) as it:
            client = await it.ready()
            await client.start("a")
            await it.host.processes[0].emit(StreamName.STDOUT, b"output")
            await client.post("process/read", {"processId": "a", "afterSeq": 1, "waitMs": 60_000})
            assert alive() == before + 1
            await client.aclose()
            await asyncio.wait_for(it.host.processes[0].closed.wait(), 5)
            await asyncio.sleep(0.05)
            assert alive() == before

    gc.collect()
    gc.disable()
    try:
        before = alive()
        asyncio.run(scenario())
    finally:
        gc.enable()
