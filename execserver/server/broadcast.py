"""Broadcast: wakes everybody who waits for the next event of something.

Unlike a condition it needs no lock and keeps no state: who comes after an event waits for the next one.
"""

from __future__ import annotations

import asyncio


class Broadcast:
    """One source of events with any number of waiters; used from one event loop."""

    __slots__ = ("_waiters",)

    def __init__(self) -> None:
        self._waiters: set[asyncio.Future[None]] = set()

    def fire(self) -> None:
        """An event has happened."""
        if not self._waiters:
            return
        waiters, self._waiters = self._waiters, set()
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)

    async def wait(self, *, timeout_s: float | None = None) -> None:
        """Wait for the next event, or until the time is over."""
        waiter = asyncio.get_running_loop().create_future()
        self._waiters.add(waiter)
        try:
            # Not wait_for: it would cancel, and an outer cancellation has to stay distinguishable.
            await asyncio.wait({waiter}, timeout=timeout_s)
        finally:
            self._waiters.discard(waiter)
