"""What may come when on a connection: ordering texts, malformed input, fatal cases, serial and lane order."""

from __future__ import annotations

import asyncio
import json

import pytest

from execserver.adapters.ports import StreamName
from execserver.server.settings import Settings
from tests.fakes.wire_client import lab, start_params

FAMILIES = [
    ("environment/info", None, "environment info"),
    ("environment/status", {}, "environment status"),
    ("process/terminate", {"processId": "a"}, "exec"),
    ("fs/getMetadata", {"path": "file:///tmp"}, "filesystem"),
]


@pytest.mark.parametrize(("method", "params", "family"), FAMILIES)
def test_a_method_before_its_time_names_the_missing_step(
    method: str, params: dict[str, object] | None, family: str
) -> None:
    async def scenario() -> None:
        async with lab() as it:
            client = await it.connect()
            error = await client.error(method, params)
            assert error == {
                "code": -32600,
                "message": f"client must call initialize before using {family} methods",
            }
            await client.result("initialize", {"clientName": ""})
            error = await client.error(method, params)
            assert error == {
                "code": -32600,
                "message": f"client must send initialized before using {family} methods",
            }

    asyncio.run(scenario())


def test_parameters_are_decoded_before_the_state_is_looked_at() -> None:
    async def scenario() -> None:
        async with lab() as it:
            client = await it.connect()
            assert (await client.error("process/start", {}))["message"] == "missing field `processId`"
            assert (await client.error("nosuch/method"))["code"] == -32601

    asyncio.run(scenario())


def test_a_failed_initialize_may_be_repeated_and_a_successful_one_may_not() -> None:
    async def scenario() -> None:
        async with lab() as it:
            client = await it.connect()
            error = await client.error("initialize", {})
            assert error == {"code": -32602, "message": "missing field `clientName`"}
            await client.initialize()
            error = await client.error("initialize", {"clientName": "again"})
            assert error == {"code": -32600, "message": "initialize may only be sent once per connection"}

    asyncio.run(scenario())


@pytest.mark.parametrize("method", ["process/resize", "fs/watch", "http/request", "", "é"])
def test_a_method_that_is_not_there_is_named(method: str) -> None:
    async def scenario() -> None:
        async with lab() as it:
            client = await it.ready()
            error = await client.error(method)
            assert error == {
                "code": -32601,
                "message": f"exec-server stub does not implement `{method}` yet",
            }

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ([], "invalid type: sequence, expected unit"),
        ({"x": 1}, "invalid type: map, expected unit"),
        (5, "invalid type: number, expected unit"),
        ("x", 'invalid type: string "x", expected unit'),
        (True, "invalid type: boolean `true`, expected unit"),
    ],
)
def test_methods_without_parameters_take_none(params: object, message: str) -> None:
    async def scenario() -> None:
        async with lab() as it:
            client = await it.ready()
            assert await client.error("environment/status", params) == {"code": -32602, "message": message}
            accepted: dict[str, object] | None
            for accepted in (None, {}):
                assert await client.result("environment/status", accepted) == {"status": "ready"}

    asyncio.run(scenario())


def test_environment_info_is_the_one_of_initialize_and_announces_nothing_that_is_not_there() -> None:
    async def scenario() -> None:
        async with lab() as it:
            client = await it.connect()
            first = (await client.result("initialize", {"clientName": "x"}))["environmentInfo"]
            await client.raw('{"method":"initialized"}')
            assert await client.result("environment/info") == first
            assert first["shell"] == {"name": "bash", "path": "/bin/bash"}
            assert first["cwd"] == "file:///srv/lab"
            assert first["executorVersion"] == "1.2.3"
            assert not any(first["capabilities"].values())

    asyncio.run(scenario())


MALFORMED = [
    "not json",
    "",
    "{}",
    "[]",
    "5",
    '{"id":2}',
    '{"method":5}',
    '{"id":null,"method":"environment/status"}',
    '{"id":1.5,"method":"environment/status"}',
    '{"id":true,"method":"environment/status"}',
    '{"id":99999999999999999999,"method":"environment/status"}',
    '{"id":13,"method":"environment/status","trace":5}',
    '{"id":15,"id":16,"method":"environment/status"}',
    '{"id":15,"method":"environment/status","params":{"a":{"b":1,"b":1}}}',
    '{"id":15,"method":"environment/status","params":NaN}',
    '[{"id":14,"method":"environment/status"}]',
]


@pytest.mark.parametrize("text", MALFORMED)
def test_a_malformed_message_is_answered_with_id_minus_one_and_the_connection_stays(text: str) -> None:
    async def scenario() -> None:
        async with lab() as it:
            client = await it.ready()
            await client.raw(text)
            error = (await client.answer_to(-1))["error"]
            assert error["code"] == -32600
            prefix = "failed to parse websocket JSON-RPC message from exec-server websocket 127.0.0.1:"
            assert error["message"].startswith(prefix)
            assert await client.result("environment/status") == {"status": "ready"}

    asyncio.run(scenario())


@pytest.mark.parametrize(
    "envelope",
    [
        '{"id":ID,"method":"environment/status","jsonrpc":"1.0"}',
        '{"id":ID,"method":"environment/status","extra":5,"params":null}',
        '{"id":ID,"method":"environment/status","trace":{"traceparent":"00-0-0-01"}}',
    ],
)
@pytest.mark.parametrize("request_id", [-7, "a", 2**63 - 1, -(2**63), ""])
def test_ids_are_echoed_with_their_type_and_unknown_members_are_ignored(
    envelope: str, request_id: int | str
) -> None:
    async def scenario() -> None:
        async with lab() as it:
            client = await it.ready()
            await client.raw_bytes(envelope.replace("ID", json.dumps(request_id)).encode())
            answer = await client.answer_to(request_id)
            assert answer == {"id": request_id, "result": {"status": "ready"}}

    asyncio.run(scenario())


@pytest.mark.parametrize(
    "text",
    ['{"method":"zzz"}', '{"id":500,"result":{}}', '{"id":500,"error":{"code":1,"message":"x"}}'],
)
def test_a_breach_drops_the_connection_without_answer_or_farewell(text: str) -> None:
    async def scenario() -> None:
        async with lab() as it:
            client = await it.ready()
            # Both at once: what was asked before the breach is still answered.
            await client.post("environment/status")
            await client.raw(text)
            await client.post("environment/status")
            assert await client.is_dropped() == 1006
            assert "result" in await client.answer_to(2)
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(client.answer_to(3), 0.01)

    asyncio.run(scenario())


def test_initialized_before_initialize_is_a_breach_and_repeating_it_is_not() -> None:
    async def scenario() -> None:
        async with lab() as it:
            client = await it.connect()
            await client.raw('{"method":"initialized","params":{}}')
            assert await client.is_dropped() == 1006
            client = await it.ready()
            await client.raw('{"method":"initialized","params":[1]}')
            assert await client.result("environment/status") == {"status": "ready"}

    asyncio.run(scenario())


def test_one_request_at_a_time_keeps_everything_in_order_while_events_flow() -> None:
    async def scenario() -> None:
        async with lab() as it:
            client = await it.ready()
            await client.start("a")
            poll = await client.post("process/read", {"processId": "a", "waitMs": 60_000, "afterSeq": 1})
            status = await client.post("environment/status")
            await it.host.processes[0].emit(StreamName.STDOUT, b"x")
            assert (await client.next_event())["method"] == "process/output"
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(client.answer_to(status), 0.05)
            await it.host.processes[0].finish()
            assert "result" in await client.answer_to(poll)

    asyncio.run(scenario())


def test_with_lanes_control_requests_pass_polls_that_fill_the_ordinary_lane() -> None:
    async def scenario() -> None:
        async with lab(settings=Settings(concurrent_requests=2)) as it:
            client = await it.ready()
            await client.start("a")
            polls = [
                await client.post("process/read", {"processId": "a", "waitMs": 60_000}) for _ in range(4)
            ]
            assert await client.result("environment/status") == {"status": "ready"}
            assert await client.result("process/terminate", {"processId": "a"}) == {"running": True}
            for poll in polls:
                assert (await client.answer_to(poll))["result"]["exitCode"] == 137

    asyncio.run(scenario())


def test_connections_do_not_wait_for_each_other_and_share_no_process_ids() -> None:
    async def scenario() -> None:
        async with lab() as it:
            one, two = await it.ready(), await it.ready()
            await one.start("a")
            await one.post("process/read", {"processId": "a", "waitMs": 60_000})
            assert (await two.error("process/read", {"processId": "a"}))["message"] == "unknown process id a"
            await two.call("process/start", start_params("a"))
            assert len(it.host.processes) == 2

    asyncio.run(scenario())


def test_messages_over_the_bound_of_what_waits_are_answered_all_the_same() -> None:
    async def scenario() -> None:
        async with lab(settings=Settings(incoming_bytes=10, outgoing_bytes=10)) as it:
            client = await it.ready()
            asked = [await client.post("environment/status", {"x": "y" * 100}) for _ in range(20)]
            for request_id in asked:
                assert (await client.answer_to(request_id))["error"]["code"] == -32602

    asyncio.run(scenario())


def test_what_is_no_work_is_answered_while_every_lane_is_busy() -> None:
    async def scenario() -> None:
        async with lab(settings=Settings(concurrent_requests=2)) as it:
            client = await it.ready()
            await client.start("p")
            for _ in range(3):
                await client.post("process/read", {"processId": "p", "waitMs": 60_000})
            assert (await client.error("no/such/method"))["code"] == -32601
            assert (await client.error("initialize", {"clientName": "x"}))["code"] == -32600

    asyncio.run(scenario())
