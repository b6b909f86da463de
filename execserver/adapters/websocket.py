"""The WebSocket listener: HTTP routes, who may connect, and messages as frames.

Owns sockets and the HTTP surface. It never looks into a message, and it drops connections without a close
frame, as the reference does. The server gives it a function that serves one transport.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from aiohttp import WSCloseCode, WSMsgType, web

from execserver.adapters.auth import Authenticator
from execserver.adapters.listen import WebSocketAddress
from execserver.adapters.ports import Transport
from execserver.errors import ConnectionLost, ListenRefused

_LOG: Final = logging.getLogger(__name__)

MAX_MESSAGE_BYTES: Final = 64 * 1024 * 1024
"""Largest message, the sum of its fragments; more drops the connection (reference: 64 MiB).

One frame may be as large. The reference stops at frames of 16 MiB, which bounds nothing that this does not.
"""

PING_INTERVAL_S: Final = 30.0
"""How often a peer is pinged; it may leave pings unanswered (measured on the reference)."""

MAX_CONNECTIONS: Final = 1024
"""Connections at a time. The reference has no such limit; a server needs one."""

_HEADERS: Final = {"Server": "execserver"}
"""Instead of the names and versions that the HTTP library would give."""

ServeTransport = Callable[[Transport], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class WebSocketOptions:
    """How to listen.

    Attributes:
        address: where.
        authenticator: who may connect.
        ping_interval_s: seconds between pings.
        max_connections: connections at a time; more are told to come back later.
    """

    address: WebSocketAddress
    authenticator: Authenticator
    ping_interval_s: float = PING_INTERVAL_S
    max_connections: int = MAX_CONNECTIONS


class WebSocketListener:
    """A bound socket that serves every connection with the given function."""

    def __init__(self, options: WebSocketOptions, serve: ServeTransport) -> None:
        self._options = options
        self._serve = serve
        self._connections: set[asyncio.Task[None]] = set()
        self._runner: web.ServerRunner | None = None

    async def start(self) -> str:
        """Bind and accept; the URL with the real port.

        Raises:
            ListenRefused: the address cannot be bound.
        """
        address = self._options.address
        runner = web.ServerRunner(web.Server(self._respond, access_log=None), shutdown_timeout=0.0)
        await runner.setup()
        self._runner = runner
        try:
            await web.TCPSite(runner, address.host, address.port).start()
        except OSError as error:
            await runner.cleanup()
            raise ListenRefused(
                f"cannot listen on `{_url(address.host, address.port)}`: {error.strerror}"
            ) from None
        return _url(address.host, runner.addresses[0][1])

    async def aclose(self) -> None:
        """Stop accepting and end every connection."""
        for task in self._connections:
            task.cancel()
        if self._connections:
            await asyncio.wait(self._connections)
        if self._runner is not None:
            await self._runner.cleanup()

    async def _respond(self, request: web.BaseRequest) -> web.StreamResponse:
        # Browsers always send it, and nobody else does: a web page must never reach this server.
        if "Origin" in request.headers:
            return _answer(status=403)
        if request.path == "/readyz":
            return _answer(status=200 if request.method in {"GET", "HEAD"} else 405)
        if request.path != "/":
            return _answer(status=404)
        if request.method != "GET":
            return _answer(status=405)
        refusal = self._options.authenticator.refusal(request.headers.get("Authorization"), now_s=time.time())
        if refusal is not None:
            return _answer(status=401, text=refusal)
        if len(self._connections) >= self._options.max_connections:
            return _answer(status=503)
        return await self._upgrade(request)

    async def _upgrade(self, request: web.BaseRequest) -> web.StreamResponse:
        transport = request.transport
        if transport is None:
            raise ConnectionLost("cannot upgrade the connection: the peer is gone")
        websocket = _SilentWebSocket(transport)
        try:
            await websocket.prepare(request)
        except web.HTTPException as refusal:
            return _answer(status=refusal.status, text=refusal.text)
        # A task of its own: the one we are in belongs to the HTTP library, which may cancel it.
        task = asyncio.create_task(self._converse(websocket, transport), name="websocket connection")
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)
        await asyncio.wait({task})
        if not task.cancelled() and (failure := task.exception()) is not None:
            _LOG.error("a connection ended by a fault of this server", exc_info=failure)
        return websocket

    async def _converse(self, websocket: _SilentWebSocket, transport: asyncio.Transport) -> None:
        serving = asyncio.ensure_future(self._serve(WebSocketTransport(websocket, transport)))
        pinger = asyncio.create_task(_ping(websocket, self._options.ping_interval_s))
        try:
            # While a full queue keeps the socket unread only a ping finds out that the peer is gone.
            await asyncio.wait({serving, pinger}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (pinger, serving):
                task.cancel()
            await asyncio.wait({pinger, serving})
            _drop(transport)
        if not serving.cancelled():
            serving.result()


class _SilentWebSocket(web.WebSocketResponse):
    """A WebSocket whose end is the end of the TCP connection, without a close frame and without waiting."""

    def __init__(self, transport: asyncio.Transport) -> None:
        super().__init__(autoclose=False, compress=False, max_msg_size=MAX_MESSAGE_BYTES)
        self.headers.update(_HEADERS)
        self._raw_transport = transport

    async def close(self, *, code: int = WSCloseCode.OK, message: bytes = b"", drain: bool = True) -> bool:
        del code, message, drain
        _drop(self._raw_transport)
        return True


class WebSocketTransport:
    """One WebSocket as the server's Transport."""

    def __init__(self, websocket: web.WebSocketResponse, transport: asyncio.Transport) -> None:
        self._websocket = websocket
        self._transport = transport
        peer = transport.get_extra_info("peername") or ("unknown", 0)
        self._peer = _authority(peer[0], peer[1])

    @property
    def parse_context(self) -> str:
        """See Transport."""
        return f"failed to parse websocket JSON-RPC message from exec-server websocket {self._peer}"

    async def receive(self) -> str | bytes | None:
        """See Transport."""
        message = await self._websocket.receive()
        if message.type in {WSMsgType.TEXT, WSMsgType.BINARY}:
            data: str | bytes = message.data
            return data
        return None

    async def send(self, message: bytes) -> None:
        """See Transport."""
        try:
            await self._websocket.send_frame(message, WSMsgType.TEXT)
        except ConnectionError:
            raise ConnectionLost(f"cannot send to `{self._peer}`: the connection is closed") from None

    async def abort(self) -> None:
        """See Transport."""
        _drop(self._transport)


async def _ping(websocket: web.WebSocketResponse, interval_s: float) -> None:
    # Own pings, because the library's would end a connection whose peer does not answer them. Returns when
    # the connection is gone.
    try:
        while True:
            await asyncio.sleep(interval_s)
            await websocket.ping()
    except ConnectionError:
        return


def _answer(*, status: int, text: str | None = None) -> web.Response:
    return web.Response(status=status, text=text, headers=_HEADERS)


def _drop(transport: asyncio.Transport) -> None:
    if transport.is_closing():
        return
    if transport.get_write_buffer_size() == 0:
        transport.close()
    else:
        # The peer does not read; waiting for it would keep the connection for ever.
        transport.abort()


def _url(host: str, port: int) -> str:
    return f"ws://{_authority(host, port)}"


def _authority(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
