"""Service: the server apart from its connections: sessions, file operations, and what it says about itself.

One per process. Owns the timer that ends detached sessions and forgets closed processes. Connections ask it
for a session and give it back; it never sees a message.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from execserver.adapters.file_operations import FileOperation, FileResult
from execserver.adapters.files import perform
from execserver.adapters.ports import HostEnvironment, ProcessHost
from execserver.core.sessions import Holder, SessionTable
from execserver.protocol.environment import EnvironmentInfo, ShellInfo
from execserver.server.outbox import Outbox
from execserver.server.session import Session
from execserver.server.settings import Settings
from sandboxing.paths.uri import PathConvention, PathUri
from sandboxing.profile.context import SandboxContext

_LOG: Final = logging.getLogger(__name__)

_SHUTDOWN_S: Final = 5.0


class Service:
    """The shared half of the server; made and used inside one event loop."""

    def __init__(self, *, host: ProcessHost, settings: Settings, version: str) -> None:
        self.host: Final = host
        self.settings: Final = settings
        self.environment: Final = host.environment()
        self.info: Final = _describe(self.environment, version)
        self._table = SessionTable(
            lifetime_s=settings.detached_lifetime_s, max_sessions=settings.max_sessions
        )
        self._sessions: dict[str, Session] = {}
        self._holders = itertools.count(1)
        self._files = ThreadPoolExecutor(max_workers=settings.file_workers, thread_name_prefix="files")
        self._timer: asyncio.TimerHandle | None = None
        self._endings: set[asyncio.Task[None]] = set()

    @property
    def convention(self) -> PathConvention:
        """How this host spells paths."""
        return _convention(self.environment)

    def new_holder(self) -> Holder:
        """A number for a new connection."""
        return Holder(next(self._holders))

    def open_session(self, holder: Holder) -> Session:
        """A new session, held by this connection.

        Raises:
            RequestFailed: there are too many.
        """
        session_id = str(uuid.uuid4())
        self._table.create(session_id, holder)
        session = Session(session_id, host=self.host, settings=self.settings, on_closed=self._process_closed)
        self._sessions[session_id] = session
        return session

    def resume_session(self, session_id: str, holder: Holder) -> Session:
        """A detached session, held by this connection from now on.

        Raises:
            RequestFailed: it is unknown, over, or held by another connection.
        """
        self._table.resume(session_id, holder, now=self._now())
        return self._sessions[session_id]

    def holds(self, session: Session, holder: Holder) -> bool:
        """Whether this connection may still act for the session."""
        return self._table.is_held_by(session.session_id, holder)

    def detach(self, session: Session, holder: Holder, outbox: Outbox) -> None:
        """The connection is gone; the session waits for another one."""
        session.detach(outbox)
        now = self._now()
        if self._table.detach(session.session_id, holder, now=now):
            self._arm(now + self.settings.detached_lifetime_s)

    async def perform(self, operation: FileOperation, sandbox: SandboxContext | None) -> FileResult:
        """Perform a file operation, inside a sandbox when one was asked for.

        Raises:
            OSError: what the operation met.
            StartFailure: the sandbox could not be had.
        """
        if sandbox is not None:
            return await self.host.perform_file_operation(operation, sandbox)
        return await asyncio.get_running_loop().run_in_executor(self._files, perform, operation)

    async def aclose(self) -> None:
        """End every session and the host."""
        if self._timer is not None:
            self._timer.cancel()
        for session_id in self._table.clear():
            self._end(session_id)
        if self._endings:
            # What does not end by itself in time ends with the host.
            await asyncio.wait(self._endings, timeout=_SHUTDOWN_S)
        self._files.shutdown(wait=False, cancel_futures=True)
        await self.host.aclose()

    def _now(self) -> float:
        return asyncio.get_running_loop().time()

    def _process_closed(self) -> None:
        self._arm(self._now() + self.settings.closed_retention_s)

    def _arm(self, due: float) -> None:
        """See to it that a sweep happens when something is due."""
        if self._timer is not None:
            if self._timer.when() <= due:
                return
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_at(due, self._sweep)

    def _sweep(self) -> None:
        self._timer = None
        now = self._now()
        for session_id in self._table.expire(now=now):
            self._end(session_id)
        for session in self._sessions.values():
            session.table.expire(now=now)
        due = [self._table.next_expiry, *(each.table.next_expiry for each in self._sessions.values())]
        next_due = min((moment for moment in due if moment is not None), default=None)
        if next_due is not None:
            self._arm(next_due)

    def _end(self, session_id: str) -> None:
        session = self._sessions.pop(session_id)
        _LOG.info("a session is over")
        task = asyncio.create_task(session.end(), name="end of a session")
        self._endings.add(task)
        task.add_done_callback(self._endings.discard)


def _convention(environment: HostEnvironment) -> PathConvention:
    return PathConvention.WINDOWS if environment.platform_os == "windows" else PathConvention.POSIX


def _describe(environment: HostEnvironment, version: str) -> EnvironmentInfo:
    convention = _convention(environment)
    home = environment.home
    return EnvironmentInfo(
        shell=ShellInfo(name=environment.shell_name, path=environment.shell_path),
        executor_version=version,
        cwd=PathUri.from_native(environment.cwd, convention),
        user_home_dir=None if home is None else PathUri.from_native(home, convention),
        platform_os=environment.platform_os,
        temp_dir=PathUri.from_native(environment.temp_dir, convention),
    )
