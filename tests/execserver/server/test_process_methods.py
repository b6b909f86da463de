"""`process/*` over a real WebSocket: what clients see, in which order, with which texts."""

from __future__ import annotations

import asyncio

import pytest

from execserver.adapters.ports import StdinMode, StreamName, TerminalSize
from execserver.errors import FailureKind, StartFailure
from execserver.server.settings import Settings
from tests.execserver.server.sandboxes import READ_ONLY_SANDBOX
from tests.fakes.process_host import ScriptedHost
from tests.fakes.wire_client import encoded, lab, start_params


def test_the_answer_to_a_start_precedes_every_event_and_close_is_last() -> None:
    async def scenario() -> None:
        async with lab() as it:
            client = await it.ready()
            assert await client.start("a", "/bin/echo", "hi") == {"processId": "a", "sandboxType": "none"}
            events = await client.events_until_closed()
            assert events == [
                {
                    "method": "process/output",
                    "params": {"processId": "a", "seq": 1, "stream": "stdout", "chunk": encoded(b"hi\n")},
                },
                {
                    "method": "process/exited",
                    "params": {"processId": "a", "seq": 2, "exitCode": 0, "sandboxDenied": False},
                },
                {"method": "process/closed", "params": {"processId": "a", "seq": 3}},
            ]

    asyncio.run(scenario())


def test_a_read_gives_what_the_notifications_gave() -> None:
    async def scenario() -> None:
        async with lab() as it:
            client = await it.ready()
            await client.start("a", "/bin/echo", "hi")
            await client.events_until_closed()
            assert await client.result("process/read", {"processId": "a", "afterSeq": None}) == {
                "chunks": [{"seq": 1, "stream": "stdout", "chunk": encoded(b"hi\n")}],
                "nextSeq": 4,
                "exited": True,
                "exitCode": 0,
                "closed": True,
                "failure": None,
                "sandboxDenied": False,
            }

    asyncio.run(scenario())


def test_output_after_the_exit_is_published_before_the_close() -> None:
    async def scenario() -> None:
        async with lab(settings=Settings(exit_grace_s=0.001)) as it:
            client = await it.ready()
            await client.start("a")
            process = it.host.processes[0]
            await process.exit(0)
            assert (await client.next_event())["method"] == "process/exited"
            await process.emit(StreamName.STDERR, b"late")
            late = await client.next_event()
            assert (late["params"]["seq"], late["params"]["stream"]) == (2, "stderr")
            await process.end()
            assert (await client.next_event())["params"] == {"processId": "a", "seq": 3}

    asyncio.run(scenario())


def test_a_poll_with_the_exit_seen_waits_for_late_output() -> None:
    async def scenario() -> None:
        async with lab(settings=Settings(exit_grace_s=0.001, concurrent_requests=2)) as it:
            client = await it.ready()
            await client.start("a")
            process = it.host.processes[0]
            await process.exit(0)
            await client.next_event()
            params = {"processId": "a", "afterSeq": 1, "waitMs": 60_000}
            pending = await client.post("process/read", params)
            await process.emit(StreamName.STDOUT, b"late")
            result = (await client.answer_to(pending))["result"]
            assert [chunk["seq"] for chunk in result["chunks"]] == [2]
            assert not result["closed"]

    asyncio.run(scenario())


def test_a_poll_ends_when_its_time_is_over() -> None:
    async def scenario() -> None:
        async with lab() as it:
            client = await it.ready()
            await client.start("a")
            result = await client.result("process/read", {"processId": "a", "waitMs": 10})
            assert (result["chunks"], result["nextSeq"], result["exited"]) == ([], 1, False)

    asyncio.run(scenario())


def test_a_wait_beyond_every_timer_is_accepted() -> None:
    async def scenario() -> None:
        async with lab(settings=Settings(concurrent_requests=2)) as it:
            client = await it.ready()
            await client.start("a")
            pending = await client.post("process/read", {"processId": "a", "waitMs": 2**64 - 1})
            await it.host.processes[0].finish(5)
            assert (await client.answer_to(pending))["result"]["exitCode"] == 5

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("change", "code", "message"),
    [
        ({"argv": []}, -32602, "argv must not be empty"),
        ({"cwd": "/tmp"}, -32602, "invalid URI: relative URL without a base"),
        (
            {"cwd": "file:///C:/Users"},
            -32602,
            (
                "cwd URI `file:///C:/Users` is not valid on this exec-server host: 'file:///C:/Users' "
                "is invalid on 'linux'"
            ),
        ),
        ({"argv": None}, -32602, "invalid type: null, expected a sequence"),
        ({"tty": None}, -32602, "invalid type: null, expected a boolean"),
        ({"pipeStdin": None}, -32602, "invalid type: null, expected a boolean"),
        ({"env": None}, -32602, "invalid type: null, expected a map"),
        ({"cwd": "file:///a%00b"}, -32602, "'file:///a%00b' is invalid on 'linux'"),
        ({"envPolicy": {}}, -32602, "missing field `inherit`"),
        ({"metadata": {"toolCallId": 5}}, -32602, "invalid type: number, expected a string"),
        ({"sandbox": {"permissions": {"type": "disabled"}}}, -32602, "missing field `windowsSandboxLevel`"),
    ],
)
def test_bad_start_parameters_are_refused_in_the_words_of_the_reference(
    change: dict[str, object], code: int, message: str
) -> None:
    async def scenario() -> None:
        async with lab() as it:
            client = await it.ready()
            error = await client.error("process/start", start_params("a") | change)
            assert error == {"code": code, "message": message}
            assert it.host.processes == []

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"argv": [""]}, "missing program for pipe spawn"),
        ({"argv": ["a\0b"]}, "nul byte found in provided data"),
        ({"arg0": "\0"}, "nul byte found in provided data"),
        ({"arg0": ""}, "arg0 is empty"),
        ({"env": {"A": "\0"}}, "data provided contains a nul byte"),
        ({"env": {"A=B": ""}}, "the name of an environment variable is empty or contains `=`"),
        ({"env": {"": ""}}, "the name of an environment variable is empty or contains `=`"),
    ],
)
def test_what_no_system_can_spawn_fails_as_a_spawn(change: dict[str, object], message: str) -> None:
    async def scenario() -> None:
        async with lab() as it:
            client = await it.ready()
            error = await client.error("process/start", start_params("a") | change)
            assert error == {"code": -32603, "data": {"kind": "spawnFailed"}, "message": message}
            assert it.host.processes == []

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("kind", "code", "message"),
    [
        (FailureKind.SPAWN_NOT_FOUND, -32603, "no"),
        (FailureKind.SPAWN_PERMISSION_DENIED, -32603, "no"),
        (FailureKind.SPAWN_FAILED, -32603, "no"),
        (FailureKind.SANDBOX_UNAVAILABLE, -32602, "no"),
        (FailureKind.SANDBOX_PREPARATION, -32602, "failed to prepare process sandbox: no"),
    ],
)
def test_a_failed_start_names_its_kind_and_leaves_no_entry(
    kind: FailureKind, code: int, message: str
) -> None:
    async def scenario() -> None:
        host = ScriptedHost(failure=StartFailure("no", kind=kind))
        async with lab(host=host) as it:
            client = await it.ready()
            error = await client.error("process/start", start_params("a"))
            assert error == {"code": code, "data": {"kind": kind.value}, "message": message}
            assert (await client.error("process/read", {"processId": "a"}))["code"] == -32600
            await client.start("a")

    asyncio.run(scenario())


@pytest.mark.parametrize("change", [{"enforceManagedNetwork": True}, {"networkProxy": {"proxy": {}}}])
def test_network_limits_that_cannot_be_held_refuse_the_start(change: dict[str, object]) -> None:
    async def scenario() -> None:
        async with lab() as it:
            client = await it.ready()
            error = await client.error("process/start", start_params("a") | change)
            assert error["data"] == {"kind": "sandboxUnavailable"}
            assert it.host.processes == []

    asyncio.run(scenario())


def test_an_id_is_taken_until_the_process_is_forgotten() -> None:
    async def scenario() -> None:
        async with lab(settings=Settings(closed_retention_s=0.05)) as it:
            client = await it.ready()
            await client.start("a", "/bin/true")
            await client.events_until_closed()
            error = await client.error("process/start", start_params("a"))
            assert error == {"code": -32600, "message": "process a already exists"}
            await asyncio.sleep(0.1)
            error = await client.error("process/read", {"processId": "a"})
            assert error == {"code": -32600, "message": "unknown process id a"}
            await client.start("a", "/bin/true")

    asyncio.run(scenario())


def test_a_terminal_process_has_one_stream_a_size_and_a_shell() -> None:
    async def scenario() -> None:
        async with lab() as it:
            client = await it.ready()
            await client.start("t", "/usr/bin/env", tty=True)
            output = (await client.events_until_closed())[0]["params"]
            assert (output["stream"], output["chunk"]) == ("pty", encoded(b"SHELL=/bin/bash\n"))
            request = it.host.processes[0].request
            assert (request.terminal, request.stdin) == (
                TerminalSize(rows=24, columns=80),
                StdinMode.TERMINAL,
            )

    asyncio.run(scenario())


def test_the_exit_code_of_a_signal_depends_on_the_terminal() -> None:
    async def scenario() -> None:
        async with lab() as it:
            client = await it.ready()
            codes = []
            for process_id, tty in (("pipe", False), ("tty", True)):
                await client.start(process_id, tty=tty)
                assert await client.result("process/terminate", {"processId": process_id}) == {
                    "running": True
                }
                codes.append((await client.events_until_closed())[-2]["params"]["exitCode"])
                assert await client.result("process/terminate", {"processId": process_id}) == {
                    "running": False
                }
            assert codes == [137, 1]

    asyncio.run(scenario())


def test_unknown_processes_are_no_error_for_signals_and_writes() -> None:
    async def scenario() -> None:
        async with lab() as it:
            client = await it.ready()
            known = {"processId": "unknown"}
            assert await client.result("process/signal", {**known, "signal": "interrupt"}) == {}
            assert await client.result("process/terminate", known) == {"running": False}
            write = {**known, "chunk": "eA==", "writeId": "w"}
            assert await client.result("process/write", write) == {"status": "unknownProcess"}
            error = await client.error("process/signal", {**known, "signal": "kill"})
            assert error["message"] == "unknown variant `kill`, expected `interrupt`"

    asyncio.run(scenario())


def test_an_interrupt_reaches_the_process_once() -> None:
    async def scenario() -> None:
        async with lab() as it:
            client = await it.ready()
            await client.start("a")
            await client.result("process/signal", {"processId": "a", "signal": "interrupt"})
            assert it.host.processes[0].interrupts == 1

    asyncio.run(scenario())


def test_terminating_a_pending_start_cancels_it() -> None:
    async def scenario() -> None:
        host = ScriptedHost(gate=asyncio.Event())
        async with lab(host=host, settings=Settings(concurrent_requests=2)) as it:
            assert host.gate is not None
            client = await it.ready()
            start = await client.post("process/start", start_params("a"))
            read = await client.error("process/read", {"processId": "a"})
            assert read == {"code": -32600, "message": "process id a is starting"}
            write = {"processId": "a", "chunk": "", "writeId": "w"}
            assert await client.result("process/write", write) == {"status": "starting"}
            assert await client.result("process/terminate", {"processId": "a"}) == {"running": True}
            host.gate.set()
            error = (await client.answer_to(start))["error"]
            assert error == {"code": -32600, "message": "process a start was cancelled"}
            assert host.processes[0].is_killed
            assert host.processes[0].is_closed

    asyncio.run(scenario())


def test_a_denied_write_of_a_sandboxed_process_is_recognised_by_its_text() -> None:
    async def scenario() -> None:
        async with lab() as it:
            client = await it.ready()
            result = await client.start("a", sandbox=READ_ONLY_SANDBOX)
            assert result["sandboxType"] == "linuxSeccomp"
            process = it.host.processes[0]
            # The exit is noticed before the text; the server waits a moment for it.
            await process.exit(2)
            await process.emit(StreamName.STDERR, b"sh: cannot create x: Read-only file system\n")
            await process.end()
            events = await client.events_until_closed()
            assert [event["method"] for event in events] == [
                "process/output",
                "process/exited",
                "process/closed",
            ]
            assert events[1]["params"]["sandboxDenied"] is True
            assert (await client.result("process/read", {"processId": "a"}))["sandboxDenied"] is True

    asyncio.run(scenario())


def test_the_environment_of_a_child_follows_the_policy() -> None:
    async def scenario() -> None:
        async with lab() as it:
            client = await it.ready()
            policy = {
                "inherit": "all",
                "ignoreDefaultExcludes": False,
                "exclude": ["LAN?"],
                "set": {"S": "1"},
                "includeOnly": [],
            }
            await client.start("a", "/usr/bin/env", env={"X_TOKEN": "t"}, envPolicy=policy)
            output = (await client.events_until_closed())[0]["params"]["chunk"]
            assert output == encoded(b"HOME=/home/dev\nPATH=/usr/bin:/bin\nS=1\nX_TOKEN=t\n")

    asyncio.run(scenario())


def test_a_slow_client_slows_the_process_down_and_loses_nothing() -> None:
    async def scenario() -> None:
        async with lab(settings=Settings(outgoing_messages=4)) as it:
            client = await it.ready()
            await client.start("a")
            process = it.host.processes[0]
            sent = 0
            for _ in range(200):
                await process.emit(StreamName.STDOUT, b"x" * 8192)
                sent += 1
            await process.finish()
            events = await client.events_until_closed()
            assert [event["params"]["seq"] for event in events] == list(range(1, sent + 3))

    asyncio.run(scenario())
