"""LiveProcess: one running process of a session, from its first output to its close event.

Owns the tasks that read, wait and feed, and publishes what happens in the order in which it is numbered. The
numbers and states are the record's; the peer is whoever the session has at that moment, or nobody.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Final, Protocol

from execserver.adapters.ports import ExitStatus, RunningProcess
from execserver.core.processes import Closed, Exited, ProcessRecord, StdinKind
from execserver.core.retention import Chunk
from execserver.protocol.process import ProcessNotices
from execserver.protocol.streams import StreamName
from execserver.server.broadcast import Broadcast
from execserver.server.outbox import Outbox
from execserver.server.settings import Settings
from execserver.server.stdin_queue import StdinQueue
from sandboxing.denial.heuristic import SANDBOX_TYPE_NONE, CommandText, looks_denied

_LOG: Final = logging.getLogger(__name__)

_TERMINAL_KILLED_EXIT_CODE: Final = 1
"""What the reference reports when a signal ended a process on a terminal."""

_STDOUT: Final = frozenset({StreamName.STDOUT, StreamName.PTY})
_STDERR: Final = frozenset({StreamName.STDERR})


class Audience(Protocol):
    """Where a process publishes to: the session."""

    async def claim_slot(self) -> Outbox | None:
        """An outbox with a slot of it held, or None when nobody is attached."""

    def close_record(self, record: ProcessRecord) -> Closed | None:
        """Number the close event when the process is over."""


class LiveProcess:
    """A process with its tasks."""

    def __init__(
        self,
        *,
        record: ProcessRecord,
        process: RunningProcess,
        audience: Audience,
        settings: Settings,
        on_end: Callable[[ProcessRecord], None],
    ) -> None:
        self.record: Final = record
        self.changed: Final = Broadcast()
        self.stdin: Final = StdinQueue(process, limit_bytes=settings.stdin_bytes)
        self.sandbox_type: Final = process.sandbox_type
        self._process: Final = process
        self._audience: Final = audience
        self._exit_grace_s: Final = settings.exit_grace_s
        self._on_end: Final = on_end
        self._notices: Final = ProcessNotices(record.process_id)
        self._task: asyncio.Task[None] | None = None
        self._is_released = False

    def begin(self) -> None:
        """Start publishing; not before the answer to the start is on its way. Safe to call again."""
        if self._task is None and not self._is_released:
            self._task = asyncio.create_task(self._run(), name=f"process {self.record.process_id}")

    def interrupt(self) -> None:
        """Interrupt the process group."""
        self._process.interrupt()

    def kill(self) -> None:
        """End the process and everything it started; its exit is published as usual."""
        self._process.kill()

    async def end(self) -> None:
        """Kill it and forget it without publishing anything more; the session is over."""
        self._process.kill()
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})
            # Its traceback leads back here, and all output with it would wait for the garbage collector.
            self._task = None
        # A task that is cancelled before its first step never reaches its own clean-up.
        await self._release()

    async def _release(self) -> None:
        if self._is_released:
            return
        self._is_released = True
        self.stdin.close()
        try:
            await self._process.aclose()
        finally:
            # Whoever waits for it must not wait for ever, whatever became of its descriptors.
            self.changed.fire()
            self._on_end(self.record)

    async def _run(self) -> None:
        pumps = [asyncio.create_task(self._pump(stream)) for stream in self._process.streams]
        feeders = [asyncio.create_task(self.stdin.run())] if self._process.accepts_stdin else []
        try:
            status = await self._process.wait_exit()
            self.stdin.close()
            # Output that was written before the exit is usually still in a pipe. The denial guess needs it,
            # and readers expect it first.
            await asyncio.wait(pumps, timeout=self._exit_grace_s)
            await self._publish_exit(status)
            await asyncio.wait(pumps)
            await self._publish_close()
        finally:
            for task in (*feeders, *pumps):
                task.cancel()
            self._report(await asyncio.gather(*feeders, *pumps, return_exceptions=True))
            await self._release()

    async def _pump(self, stream: StreamName) -> None:
        try:
            while data := await self._process.read(stream):
                outbox = await self._audience.claim_slot()
                chunk = self.record.output(stream, data)
                if outbox is not None:
                    outbox.push(self._output(chunk))
                self.changed.fire()
        finally:
            self.record.stream_ended(stream)

    def _output(self, chunk: Chunk) -> bytes:
        return self._notices.output(chunk.seq, chunk.stream, chunk.data)

    async def _publish_exit(self, status: ExitStatus) -> None:
        exit_code = self._exit_code(status)
        outbox = await self._audience.claim_slot()
        event: Exited = self.record.exited(exit_code=exit_code, sandbox_denied=self._looks_denied(exit_code))
        if outbox is not None:
            outbox.push(
                self._notices.exited(
                    event.seq, exit_code=event.exit_code, sandbox_denied=event.sandbox_denied
                )
            )
        self.changed.fire()

    async def _publish_close(self) -> None:
        outbox = await self._audience.claim_slot()
        event = self._audience.close_record(self.record)
        if outbox is not None:
            if event is None:
                outbox.release()
            else:
                outbox.push(self._notices.closed(event.seq))
        self.changed.fire()

    def _exit_code(self, status: ExitStatus) -> int:
        if status.signal is not None and self.record.stdin is StdinKind.TERMINAL:
            return _TERMINAL_KILLED_EXIT_CODE
        return status.shell_code

    def _looks_denied(self, exit_code: int) -> bool:
        if self.sandbox_type == SANDBOX_TYPE_NONE or exit_code == 0:
            # Most processes: no need to join what they wrote.
            return False
        log = self.record.log
        text = CommandText(
            stderr=log.text(_STDERR), stdout=log.text(_STDOUT), aggregated=log.text(_STDOUT | _STDERR)
        )
        return looks_denied(sandbox_type=self.sandbox_type, exit_code=exit_code, text=text)

    def _report(self, outcomes: list[BaseException | None]) -> None:
        for outcome in outcomes:
            if isinstance(outcome, Exception):
                _LOG.warning("cannot read from process `%s`: %r", self.record.process_id, outcome)
