"""The standard streams as a transport: one JSON message per line each way.

There is one connection, and its end is the end of the server. Standard output carries messages only; logs go
to standard error. The command line makes it.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import BinaryIO, Final

from execserver.errors import ConnectionLost

MAX_LINE_BYTES: Final = 64 * 1024 * 1024
"""Longest line, as the longest message of a WebSocket."""


class StdioTransport:
    """Lines on two pipes as the server's Transport; make it with `open`."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, source: asyncio.ReadTransport
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._source = source

    @classmethod
    async def open(cls, source: BinaryIO, sink: BinaryIO) -> StdioTransport:
        """Take over both streams, which have to be pipes, sockets or terminals."""
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(limit=MAX_LINE_BYTES)
        reading, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), source)
        transport, protocol = await loop.connect_write_pipe(
            lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), sink
        )
        return cls(reader, asyncio.StreamWriter(transport, protocol, None, loop), reading)

    @property
    def parse_context(self) -> str:
        """See Transport."""
        return "failed to parse JSON-RPC message from exec-server stdio"

    async def receive(self) -> str | bytes | None:
        """See Transport."""
        while True:
            try:
                line = await self._reader.readuntil(b"\n")
            except asyncio.IncompleteReadError as end:
                return end.partial.strip() or None
            except (asyncio.LimitOverrunError, ConnectionError):
                return None
            if text := line.strip():
                return text

    async def send(self, message: bytes) -> None:
        """See Transport."""
        self._writer.write(message + b"\n")
        try:
            await self._writer.drain()
        except ConnectionError:
            raise ConnectionLost("cannot write to `stdout`: the reader is gone") from None

    async def abort(self) -> None:
        """See Transport."""
        self._source.close()
        self._writer.close()
        with contextlib.suppress(ConnectionError):
            await self._writer.wait_closed()
