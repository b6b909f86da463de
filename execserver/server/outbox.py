"""Outbox: the bounded queue of messages on their way to one peer.

A producer first takes a slot and then pushes without waiting in between, so whatever it numbers while it
holds the slot leaves in that order. It never drops a message, except all of them when it is closed.
"""

from __future__ import annotations

import asyncio
from collections import deque


class Outbox:
    """Messages of many producers for one writer; used from one event loop."""

    def __init__(self, *, capacity: int, capacity_bytes: int) -> None:
        self._free = capacity
        # May become negative by one message per slot that is held at that moment.
        self._free_bytes = capacity_bytes
        self._frames: deque[bytes] = deque()
        self._producers: deque[asyncio.Future[None]] = deque()
        self._writer: asyncio.Future[None] | None = None
        self._idle: asyncio.Future[None] | None = None
        self._in_flight = 0
        self._is_closed = False

    async def slot(self) -> bool:
        """Wait for a slot; False when the outbox is closed, and then there is none to give back."""
        if self._is_closed:
            return False
        if self._has_room() and not self._producers:
            self._free -= 1
            return True
        turn = asyncio.get_running_loop().create_future()
        self._producers.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and not self._is_closed:
                # The slot was handed over in the same moment; somebody else may have it.
                self.release()
            raise
        return not self._is_closed

    def push(self, frame: bytes) -> None:
        """Queue a message; uses up the slot that the caller holds."""
        if self._is_closed:
            return
        self._frames.append(frame)
        self._free_bytes -= len(frame)
        if self._writer is not None and not self._writer.done():
            self._writer.set_result(None)

    def release(self) -> None:
        """Give back a slot, unused or of a message that has been sent, to whoever waits longest."""
        self._free += 1
        while self._producers and self._has_room():
            turn = self._producers.popleft()
            if not turn.done():
                self._free -= 1
                turn.set_result(None)

    async def take(self) -> bytes | None:
        """The next message for the writer, which calls `sent` when it is gone; None after the close."""
        while not self._frames:
            if self._is_closed:
                return None
            self._writer = asyncio.get_running_loop().create_future()
            await self._writer
        self._in_flight = len(self._frames[0])
        return self._frames.popleft()

    def sent(self) -> None:
        """The message taken last has been sent."""
        self._free_bytes += self._in_flight
        self._in_flight = 0
        self.release()
        if self._is_idle() and self._idle is not None and not self._idle.done():
            self._idle.set_result(None)

    async def drained(self) -> None:
        """Wait until everything queued so far has been sent; at once when closed."""
        while not self._is_idle() and not self._is_closed:
            self._idle = asyncio.get_running_loop().create_future()
            await self._idle

    def close(self) -> None:
        """Drop what is queued and wake everybody who waits here."""
        self._is_closed = True
        self._frames.clear()
        for waiting in (*self._producers, self._writer, self._idle):
            if waiting is not None and not waiting.done():
                waiting.set_result(None)
        self._producers.clear()

    def _has_room(self) -> bool:
        return self._free > 0 and self._free_bytes > 0

    def _is_idle(self) -> bool:
        return not self._frames and self._in_flight == 0
