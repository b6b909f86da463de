"""A lean client of the exec-server protocol, the same for every server and transport.

It times from the moment a `process/start` is sent to the moment its `process/closed` arrives. It never
measures a failure: a process that ends with anything but 0 is an error.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import aiohttp
import orjson

Json = dict[str, Any]

LONGEST_S = 120.0
"""Nothing that is measured takes this long; a server that hangs must not hang the benchmark."""


class BenchFailed(Exception):
    """What was to be measured did not work; the message says why, on one line."""


class Channel(Protocol):
    """Messages to and from one server."""

    async def send(self, message: bytes) -> None:
        """Send one message."""

    async def receive(self) -> str | bytes:
        """The next message; raises BenchFailed at the end."""


class WebSocketChannel:
    """Messages as WebSocket text frames."""

    def __init__(self, websocket: aiohttp.ClientWebSocketResponse) -> None:
        self._websocket = websocket

    async def send(self, message: bytes) -> None:
        await self._websocket.send_str(message.decode())

    async def receive(self) -> str | bytes:
        message = await self._websocket.receive()
        if message.type not in {aiohttp.WSMsgType.TEXT, aiohttp.WSMsgType.BINARY}:
            raise BenchFailed(f"the server ended the connection ({message.type.name.lower()})")
        data: str | bytes = message.data
        return data


class LineChannel:
    """Messages as lines of a process's standard streams."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def send(self, message: bytes) -> None:
        self._writer.write(message + b"\n")
        await self._writer.drain()

    async def receive(self) -> str | bytes:
        line = await self._reader.readline()
        if not line:
            raise BenchFailed("the server ended its output")
        return line


@dataclass(frozen=True, slots=True)
class Work:
    """A command as every server is asked to run it.

    Attributes:
        argv: the command.
        workspace: native path of its working directory, which is also the workspace root.
        sandbox: the wire's sandbox object, or None for none.
    """

    argv: tuple[str, ...]
    workspace: str
    sandbox: Mapping[str, object] | None

    def params(self, process_id: str) -> Json:
        """The parameters of its `process/start`, shaped as the real client's."""
        return {
            "processId": process_id,
            "argv": list(self.argv),
            "cwd": f"file://{self.workspace}",
            "envPolicy": {
                "inherit": "all",
                "ignoreDefaultExcludes": True,
                "exclude": [],
                "set": {},
                "includeOnly": [],
            },
            "env": {"TERM": "dumb", "LC_ALL": "C.UTF-8", "PAGER": "cat"},
            "tty": False,
            "pipeStdin": False,
            "arg0": None,
            "sandbox": self.sandbox,
            "enforceManagedNetwork": False,
            "managedNetwork": None,
        }


def workspace_write(workspace: str) -> Json:
    """The sandbox object that the real client sends in its workspace-write mode."""
    special = [
        ({"kind": "root"}, "read"),
        ({"kind": "project_roots"}, "write"),
        ({"kind": "slash_tmp"}, "write"),
        ({"kind": "tmpdir"}, "write"),
    ]
    entries: list[Json] = [
        {"path": {"type": "special", "value": value}, "access": access} for value, access in special
    ]
    entries += [
        {
            "path": {"type": "special", "value": {"kind": "project_roots", "subpath": name}},
            "access": "read",
            "missing_path_behavior": "skip",
        }
        for name in (".git", ".agents", ".codex", ".aws")
    ]
    root = f"file://{workspace}"
    return {
        "permissions": {
            "type": "managed",
            "file_system": {"type": "restricted", "entries": entries},
            "network": "restricted",
        },
        "cwd": root,
        "workspaceRoots": [root],
        "windowsSandboxLevel": "disabled",
        "windowsSandboxProxySettingsMode": "reconcile",
        "useLegacyLandlock": False,
    }


@dataclass(slots=True)
class _Running:
    """What is known of a started process."""

    exit_code: int | None = None
    output_bytes: int = 0
    closed: bool = False

    @property
    def is_over(self) -> bool:
        """Whether exit and close were both told; they may overtake each other on the wire."""
        return self.closed and self.exit_code is not None


@dataclass(frozen=True, slots=True)
class Batch:
    """Commands that were started together and have all been closed.

    Attributes:
        seconds: from the first start sent to the last close received.
        output_bytes: what they wrote.
    """

    seconds: float
    output_bytes: int


@dataclass(slots=True)
class Conversation:
    """An initialized connection; one batch at a time."""

    channel: Channel
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    async def open(self) -> None:
        """Introduce ourselves."""
        await self._send("initialize", {"clientName": "bench", "resumeSessionId": None}, number=0)
        answer = orjson.loads(await asyncio.wait_for(self.channel.receive(), LONGEST_S))
        if "result" not in answer:
            raise BenchFailed(f"initialize was refused: {answer}")
        await self.channel.send(orjson.dumps({"method": "initialized", "params": {}}))

    async def run(self, work: Work, *, count: int = 1) -> Batch:
        """Start `count` processes at once and wait until every one is closed.

        Raises:
            BenchFailed: one could not be started, was not confined as asked, or did not end with 0.
        """
        try:
            return await asyncio.wait_for(self._run(work, count), LONGEST_S)
        except TimeoutError:
            raise BenchFailed(f"not over after {LONGEST_S:.0f} s") from None

    async def _run(self, work: Work, count: int) -> Batch:
        numbers = [next(self._numbers) for _ in range(count)]
        running = {f"bench-{number}": _Running() for number in numbers}
        messages = [_request("process/start", work.params(f"bench-{number}"), number) for number in numbers]
        open_ids = set(running)
        unanswered = count
        started = time.perf_counter()
        for message in messages:
            await self.channel.send(message)
        while open_ids or unanswered:
            value: Json = orjson.loads(await self.channel.receive())
            if "method" not in value:
                _check_answer(value, work)
                unanswered -= 1
            elif (process := running.get(value["params"].get("processId", ""))) is not None:
                _note(process, value)
                if process.is_over:
                    open_ids.discard(value["params"]["processId"])
        seconds = time.perf_counter() - started
        for process in running.values():
            if process.exit_code != 0:
                raise BenchFailed(f"`{work.argv[0]}` ended with {process.exit_code}")
        return Batch(seconds=seconds, output_bytes=sum(process.output_bytes for process in running.values()))

    async def _send(self, method: str, params: Json, number: int) -> None:
        await self.channel.send(_request(method, params, number))


def _request(method: str, params: Json, number: int) -> bytes:
    return orjson.dumps({"id": number, "method": method, "params": params})


def _check_answer(value: Json, work: Work) -> None:
    if "result" not in value:
        raise BenchFailed(f"the start was refused: {value.get('error', {}).get('message', value)}")
    kind = value["result"].get("sandboxType")
    if (kind == "none") != (work.sandbox is None):
        raise BenchFailed(f"the server ran it with sandbox type {kind}")


def _note(process: _Running, value: Json) -> None:
    params: Json = value["params"]
    match value["method"]:
        case "process/output":
            chunk: str = params["chunk"]
            process.output_bytes += len(chunk) * 3 // 4 - chunk[-2:].count("=")
        case "process/exited":
            process.exit_code = params["exitCode"]
        case "process/closed":
            process.closed = True
        case _:
            return


def seconds_of(batches: Sequence[Batch]) -> list[float]:
    """The times alone."""
    return [batch.seconds for batch in batches]
