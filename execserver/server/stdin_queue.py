"""StdinQueue: what clients have written and a process has not read yet.

A write is accepted when it is queued, so a process that does not read stops nobody until the queue is full.
It stops at the first failure; what comes then is accepted and dropped, as the reference does.
"""

from __future__ import annotations

from collections import deque

from execserver.adapters.ports import RunningProcess
from execserver.server.broadcast import Broadcast


class StdinQueue:
    """The bounded queue in front of one process's standard input."""

    def __init__(self, process: RunningProcess, *, limit_bytes: int) -> None:
        self._process = process
        self._limit = limit_bytes
        self._pieces: deque[bytes] = deque()
        self._size = 0
        self._changed = Broadcast()
        self._is_closed = not process.accepts_stdin

    async def put(self, data: bytes) -> bool:
        """Queue data, waiting while the queue is full; False when it was closed before there was room."""
        has_waited = False
        # A piece larger than the limit goes alone, so the bound is the limit plus one message.
        while self._size >= self._limit and not self._is_closed:
            has_waited = True
            await self._changed.wait()
        if self._is_closed:
            return not has_waited
        if data:
            self._pieces.append(data)
            self._size += len(data)
            self._changed.fire()
        return True

    async def run(self) -> None:
        """Feed the process until it stops reading or `close` is called."""
        while not self._is_closed:
            if not self._pieces:
                await self._changed.wait()
                continue
            data = self._pieces.popleft()
            try:
                await self._process.write_stdin(data)
            except OSError:
                # Not the server's failure: the process closed its input, or is gone.
                self.close()
            self._size -= len(data)
            self._changed.fire()

    def close(self) -> None:
        """Drop what waits and what comes, and wake who waits."""
        self._is_closed = True
        self._pieces.clear()
        self._changed.fire()
