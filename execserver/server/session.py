"""Session: a process table with running processes and at most one attached peer.

Owns the swap of the peer: `attach` and `detach` are the only places that change it. Processes outlive their
connection and never learn which one they write to. The service makes and ends sessions.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from execserver.adapters.ports import ProcessHost, StartRequest, StdinMode
from execserver.core.processes import Closed, ProcessRecord, ProcessTable, StdinKind
from execserver.protocol import error_codes
from execserver.server.live_process import LiveProcess
from execserver.server.outbox import Outbox
from execserver.server.settings import Settings

_STDIN_KINDS: Final = {
    StdinMode.NULL: StdinKind.NULL,
    StdinMode.PIPE: StdinKind.PIPE,
    StdinMode.TERMINAL: StdinKind.TERMINAL,
}


class Session:
    """One session; used from one event loop."""

    def __init__(
        self, session_id: str, *, host: ProcessHost, settings: Settings, on_closed: Callable[[], None]
    ) -> None:
        self.session_id: Final = session_id
        self.table: Final = ProcessTable(
            retention_s=settings.closed_retention_s, max_live=settings.max_live_processes
        )
        self._host = host
        self._settings = settings
        self._on_closed = on_closed
        self._live: dict[ProcessRecord, LiveProcess] = {}
        self._starting: set[asyncio.Task[LiveProcess]] = set()
        self._peer: Outbox | None = None
        self._is_over = False

    def attach(self, outbox: Outbox) -> None:
        """From now on events go to this peer."""
        self._peer = outbox

    def detach(self, outbox: Outbox) -> None:
        """Events go nowhere; does nothing when a newer peer has taken over."""
        if self._peer is outbox:
            self._peer = None

    async def claim_slot(self) -> Outbox | None:
        """An outbox with a slot of it held, or None when nobody is attached."""
        while (peer := self._peer) is not None:
            if not await peer.slot():
                # Closed, and about to be detached.
                self.detach(peer)
            elif peer is self._peer:
                return peer
            else:
                peer.release()
        return None

    def close_record(self, record: ProcessRecord) -> Closed | None:
        """Number the close event when the process is over."""
        event = self.table.close_if_over(record, now=asyncio.get_running_loop().time())
        if event is not None:
            self._on_closed()
        return event

    def find_live(self, record: ProcessRecord) -> LiveProcess | None:
        """The running process of a record, None once it has ended."""
        return self._live.get(record)

    def start(self, process_id: str, request: StartRequest) -> asyncio.Task[LiveProcess]:
        """Start a process in a task of the session, which a lost connection does not undo.

        The process publishes nothing until somebody calls `begin` on it.

        Raises:
            RequestFailed: the id is taken.
        """
        record = self.table.reserve(process_id)
        task = asyncio.create_task(self._start(record, request), name=f"start {process_id}")
        self._starting.add(task)
        task.add_done_callback(self._starting.discard)
        return task

    async def _start(self, record: ProcessRecord, request: StartRequest) -> LiveProcess:
        is_started = False
        try:
            process = await self._host.start(request)
            if record.is_cancelled or self._is_over:
                process.kill()
                await process.aclose()
                raise error_codes.start_cancelled(record.process_id)
            record.begin(streams=process.streams, stdin=_STDIN_KINDS[request.stdin])
            is_started = True
        finally:
            if not is_started:
                self.table.abandon(record)
        live = LiveProcess(
            record=record,
            process=process,
            audience=self,
            settings=self._settings,
            on_end=self._forget,
        )
        self._live[record] = live
        return live

    def _forget(self, record: ProcessRecord) -> None:
        self._live.pop(record, None)

    async def end(self) -> None:
        """Kill everything; the session is gone."""
        self._is_over = True
        self._peer = None
        for live in self._live.values():
            live.kill()
        while self._live:
            await asyncio.gather(*(live.end() for live in tuple(self._live.values())))
        if self._starting:
            # They notice `_is_over` and clean up after themselves.
            await asyncio.wait(self._starting)
