"""The server over two pipes: one line per message, blank lines skipped, the end of input ends everything."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections.abc import AsyncIterator
from typing import Any, BinaryIO, Literal

import pytest

from execserver.server.serving import serve_stdio
from execserver.server.settings import Settings
from tests.fakes.process_host import ScriptedHost
from tests.fakes.wire_client import WAIT_S, encoded, start_params

pytestmark = pytest.mark.skipif(os.sep != "/", reason="asyncio reads pipes as streams on POSIX only")


class Peer:
    """The other end of the pipes."""

    def __init__(self, requests: int, reader: asyncio.StreamReader, server: asyncio.Task[None]) -> None:
        self._requests: int | None = requests
        self._reader = reader
        self.server = server

    def write(self, text: str) -> None:
        assert self._requests is not None
        os.write(self._requests, text.encode())

    def send(self, **message: object) -> None:
        self.write(json.dumps(message) + "\n")

    def hang_up(self) -> None:
        if self._requests is not None:
            os.close(self._requests)
            self._requests = None

    async def receive(self) -> dict[str, Any]:
        line = await asyncio.wait_for(self._reader.readline(), WAIT_S)
        value: dict[str, Any] = json.loads(line)
        return value

    async def rest(self) -> bytes:
        return await asyncio.wait_for(self._reader.read(), WAIT_S)


def _raw(descriptor: int, mode: Literal["rb", "wb"]) -> BinaryIO:
    return open(descriptor, mode, buffering=0)


@contextlib.asynccontextmanager
async def stdio_lab(host: ScriptedHost) -> AsyncIterator[Peer]:
    their_in, our_out = os.pipe()
    our_in, their_out = os.pipe()
    with _raw(their_in, "rb") as source, _raw(their_out, "wb") as sink:
        server = asyncio.create_task(
            serve_stdio(source, sink, host=host, settings=Settings(flush_s=0.2), version="1")
        )
        reader = asyncio.StreamReader()
        with _raw(our_in, "rb") as answers:
            transport, _ = await asyncio.get_running_loop().connect_read_pipe(
                lambda: asyncio.StreamReaderProtocol(reader), answers
            )
            peer = Peer(our_out, reader, server)
            try:
                yield peer
            finally:
                peer.hang_up()
                await asyncio.wait_for(server, WAIT_S)
                transport.close()


def test_a_conversation_over_lines() -> None:
    async def scenario() -> None:
        host = ScriptedHost()
        async with stdio_lab(host) as peer:
            peer.send(id=1, method="initialize", params={"clientName": "stdio"})
            assert (await peer.receive())["id"] == 1
            peer.send(method="initialized")
            peer.write("\n   \n")
            peer.send(id=2, method="process/start", params=start_params("s", "/bin/echo", "hi"))
            assert await peer.receive() == {"id": 2, "result": {"processId": "s", "sandboxType": "none"}}
            assert (await peer.receive())["params"]["chunk"] == encoded(b"hi\n")
            assert [(await peer.receive())["method"] for _ in range(2)] == [
                "process/exited",
                "process/closed",
            ]
            peer.write("bad json\n")
            error = (await peer.receive())["error"]
            assert error["code"] == -32600
            assert error["message"].startswith("failed to parse JSON-RPC message from exec-server stdio: ")
            peer.send(id=3, method="environment/status")
            assert await peer.receive() == {"id": 3, "result": {"status": "ready"}}

    asyncio.run(scenario())


def test_the_end_of_input_ends_every_process_and_the_server() -> None:
    async def scenario() -> None:
        host = ScriptedHost()
        async with stdio_lab(host) as peer:
            peer.send(id=1, method="initialize", params={"clientName": "stdio"})
            peer.send(method="initialized")
            peer.send(id=2, method="process/start", params=start_params("s"))
            await peer.receive()
            await peer.receive()
            peer.hang_up()
            await asyncio.wait_for(peer.server, WAIT_S)
            assert host.processes[0].is_killed
            assert host.is_closed
            assert await peer.rest() == b""

    asyncio.run(scenario())


def test_a_breach_ends_the_server_after_what_was_asked_before_it() -> None:
    async def scenario() -> None:
        async with stdio_lab(ScriptedHost()) as peer:
            peer.send(id=1, method="initialize", params={"clientName": "stdio"})
            peer.send(method="zzz")
            peer.send(id=3, method="environment/status")
            assert (await peer.receive())["id"] == 1
            await asyncio.wait_for(peer.server, WAIT_S)
            assert await peer.rest() == b""

    asyncio.run(scenario())
