"""Serving: a whole server from its parts, for the command line, for tests and for embedding.

`serve_websocket` runs until it is cancelled, `serve_stdio` until the peer is gone. Both end everything they
started before they return.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable
from typing import BinaryIO, Final

from execserver.adapters.ports import ProcessHost, Transport
from execserver.adapters.stdio import StdioTransport
from execserver.adapters.websocket import WebSocketListener, WebSocketOptions
from execserver.errors import ProtocolBreach
from execserver.server.connection import Connection
from execserver.server.service import Service
from execserver.server.settings import Settings

_LOG: Final = logging.getLogger(__name__)


@contextlib.asynccontextmanager
async def running_websocket_server(
    options: WebSocketOptions, *, host: ProcessHost, settings: Settings, version: str
) -> AsyncIterator[str]:
    """A server that accepts connections while the context lasts; the value is its URL.

    Raises:
        ListenRefused: the address cannot be bound.
    """
    service = Service(host=host, settings=settings, version=version)
    try:
        listener = WebSocketListener(options, lambda transport: _serve(service, transport))
        try:
            yield await listener.start()
        finally:
            await listener.aclose()
    finally:
        await service.aclose()


async def serve_websocket(
    options: WebSocketOptions,
    *,
    host: ProcessHost,
    settings: Settings,
    version: str,
    announce: Callable[[str], None],
) -> None:
    """Accept connections until cancelled; `announce` is called once with the URL.

    Raises:
        ListenRefused: the address cannot be bound.
    """
    server = running_websocket_server(options, host=host, settings=settings, version=version)
    async with server as url:
        announce(url)
        await asyncio.get_running_loop().create_future()


async def serve_stdio(
    source: BinaryIO, sink: BinaryIO, *, host: ProcessHost, settings: Settings, version: str
) -> None:
    """Serve one peer over two streams until it is gone or has broken the rules."""
    service = Service(host=host, settings=settings, version=version)
    try:
        await _serve(service, await StdioTransport.open(source, sink))
    finally:
        await service.aclose()


async def _serve(service: Service, transport: Transport) -> None:
    try:
        await Connection(service, transport).serve()
    except ProtocolBreach as breach:
        _LOG.warning("connection dropped: %s", breach.message)
