"""A client for black-box tests: JSON in, JSON out, over a real WebSocket on loopback.

It checks nothing by itself. Answers are matched by id; notifications are kept in the order of arrival.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import itertools
import json
import socket
from collections.abc import AsyncIterator
from typing import Any

import aiohttp

from execserver.adapters.auth import OpenToAll
from execserver.adapters.listen import WebSocketAddress
from execserver.adapters.websocket import WebSocketOptions
from execserver.server.serving import running_websocket_server
from execserver.server.settings import Settings
from tests.fakes.process_host import ScriptedHost

Json = dict[str, Any]
WAIT_S = 5.0


class WireClient:
    """One connection to a server."""

    def __init__(self, websocket: aiohttp.ClientWebSocketResponse) -> None:
        self._websocket = websocket
        self._ids = itertools.count(1)
        self._answers: dict[object, asyncio.Future[Json]] = {}
        self._notifications: asyncio.Queue[Json] = asyncio.Queue()
        self._reader = asyncio.create_task(self._read())

    async def _read(self) -> None:
        async for message in self._websocket:
            value: Json = json.loads(message.data)
            if "method" in value:
                self._notifications.put_nowait(value)
            else:
                self._answer(value["id"]).set_result(value)

    def _answer(self, request_id: object) -> asyncio.Future[Json]:
        return self._answers.setdefault(request_id, asyncio.get_running_loop().create_future())

    async def raw(self, text: str) -> None:
        await self._websocket.send_str(text)

    async def raw_bytes(self, data: bytes) -> None:
        await self._websocket.send_bytes(data)

    async def answer_to(self, request_id: object) -> Json:
        try:
            return await asyncio.wait_for(asyncio.shield(self._answer(request_id)), WAIT_S)
        finally:
            self._answers.pop(request_id, None)

    async def post(self, method: str, params: object = None) -> int:
        """Send a request without waiting for its answer; its id."""
        request_id = next(self._ids)
        await self.raw(json.dumps({"id": request_id, "method": method, "params": params}))
        return request_id

    async def call(self, method: str, params: object = None) -> Json:
        """The whole answer to a request."""
        return await self.answer_to(await self.post(method, params))

    async def result(self, method: str, params: object = None) -> Json:
        """The result of a request that has to succeed."""
        answer = await self.call(method, params)
        assert "result" in answer, answer
        result: Json = answer["result"]
        return result

    async def error(self, method: str, params: object = None) -> Json:
        """The error of a request that has to fail."""
        answer = await self.call(method, params)
        assert "error" in answer, answer
        error: Json = answer["error"]
        return error

    async def initialize(self, *, resume: str | None = None) -> str:
        """Come to the ready state; the session id."""
        result = await self.result("initialize", {"clientName": "test", "resumeSessionId": resume})
        await self.raw('{"method":"initialized"}')
        session_id: str = result["sessionId"]
        return session_id

    async def start(self, process_id: str, *argv: str, **more: object) -> Json:
        """Start a process; the result."""
        return await self.result("process/start", start_params(process_id, *argv, **more))

    async def next_event(self) -> Json:
        """The next notification."""
        return await asyncio.wait_for(self._notifications.get(), WAIT_S)

    async def events_until_closed(self) -> list[Json]:
        """Notifications up to and including the first `process/closed`."""
        events = [await self.next_event()]
        while events[-1]["method"] != "process/closed":
            events.append(await self.next_event())
        return events

    @property
    def pending_events(self) -> int:
        return self._notifications.qsize()

    async def is_dropped(self) -> int | None:
        """Wait until the server ends the connection; the close code it gave, 1006 for none."""
        await asyncio.wait_for(asyncio.wait({self._reader}), WAIT_S)
        return self._websocket.close_code

    def abort(self) -> None:
        """Lose the connection without any farewell."""
        self._websocket.get_extra_info("socket").shutdown(socket.SHUT_RDWR)

    async def aclose(self) -> None:
        self._reader.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._reader
        await self._websocket.close()


def start_params(process_id: str, *argv: str, **more: object) -> Json:
    params: Json = {
        "processId": process_id,
        "argv": list(argv or ("/bin/wait",)),
        "cwd": "file:///tmp",
        "env": {},
        "tty": False,
    }
    return params | more


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


class Lab:
    """A running server, its scripted host, and connections to it."""

    def __init__(self, url: str, host: ScriptedHost, http: aiohttp.ClientSession) -> None:
        self.url = url
        self.host = host
        self.http = http
        self._clients: list[WireClient] = []

    async def connect(self) -> WireClient:
        websocket = await self.http.ws_connect(self.url, max_msg_size=0, autoping=True)
        client = WireClient(websocket)
        self._clients.append(client)
        return client

    async def ready(self) -> WireClient:
        client = await self.connect()
        await client.initialize()
        return client

    async def resume(self, session_id: str) -> WireClient:
        """A new connection to a session, as soon as the server has noticed the loss of the old one."""
        client = await self.connect()
        params = {"clientName": "other", "resumeSessionId": session_id}
        for _ in range(200):
            answer = await client.call("initialize", params)
            if "result" in answer:
                assert answer["result"]["sessionId"] == session_id
                return client
            assert answer["error"]["code"] == -32010
            await asyncio.sleep(0.005)
        raise AssertionError("the old connection is still attached")

    async def aclose(self) -> None:
        for client in self._clients:
            await client.aclose()


@contextlib.asynccontextmanager
async def lab(
    *, settings: Settings | None = None, host: ScriptedHost | None = None, **options: object
) -> AsyncIterator[Lab]:
    """A server on loopback with a scripted host."""
    scripted = host if host is not None else ScriptedHost()
    defaults: Json = {"address": WebSocketAddress(host="127.0.0.1", port=0), "authenticator": OpenToAll()}
    server = running_websocket_server(
        WebSocketOptions(**{**defaults, **options}),
        host=scripted,
        settings=settings if settings is not None else Settings(flush_s=0.2),
        version="1.2.3",
    )
    async with server as url, aiohttp.ClientSession() as http:
        it = Lab(url, scripted, http)
        try:
            yield it
        finally:
            await it.aclose()
