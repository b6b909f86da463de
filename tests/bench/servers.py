"""Starting exec-servers on loopback or on pipes, talking to them, and ending exactly those.

Every server is one process of ours, ended by its own handle. It knows nothing of what is measured.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from enum import Enum
from typing import Final

import aiohttp

from tests.bench.rivals import OUR_SERVER, codex_environment, find_codex, our_environment
from tests.bench.wire import BenchFailed, Conversation, LineChannel, WebSocketChannel

_START_S: Final = 30.0
_STOP_S: Final = 5.0
_LINE_LIMIT: Final = 64 * 1024 * 1024


class Transport(Enum):
    """How a server is reached."""

    WEBSOCKET = "ws"
    STDIO = "stdio"


@dataclass(frozen=True, slots=True)
class Program:
    """An exec-server that can be started.

    Attributes:
        name: what it is called in reports.
        argv: the command, without `--listen`.
        environment: its whole environment.
    """

    name: str
    argv: tuple[str, ...]
    environment: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Place:
    """Directories of one run, none of them below the temporary directory.

    Attributes:
        home: the servers' home.
        workspace: where commands run.
    """

    home: str
    workspace: str

    @classmethod
    def below(cls, top: str) -> Place:
        """Make them; the workspace is a repository, so that a carve-out has something to protect."""
        place = cls(home=os.path.join(top, "home"), workspace=os.path.join(top, "workspace"))
        os.mkdir(place.home)
        os.makedirs(os.path.join(place.workspace, ".git"))
        return place


def programs(
    place: Place, environment: Mapping[str, str], *, concurrent_requests: int
) -> tuple[Program, Program | None]:
    """Our server, and codex's when it is installed."""
    lanes = ("--concurrent-requests", str(concurrent_requests)) if concurrent_requests > 1 else ()
    ours = Program(name="ours", argv=(*OUR_SERVER, *lanes), environment=our_environment(place.home))
    codex = find_codex(environment)
    if codex is None:
        return ours, None
    return ours, Program(
        name="codex",
        argv=(codex.native, "exec-server", *lanes),
        environment=codex_environment(place.home),
    )


@asynccontextmanager
async def conversation(program: Program, transport: Transport, place: Place) -> AsyncIterator[Conversation]:
    """A started server with an initialized connection to it; both end with the block.

    Raises:
        BenchFailed: the server did not come up.
    """
    async with AsyncExitStack() as stack:
        process = await stack.enter_async_context(_process(program, transport, place))
        if process.stdin is None or process.stdout is None:
            raise BenchFailed("the server has no pipes")
        if transport is Transport.STDIO:
            talk = Conversation(LineChannel(process.stdout, process.stdin))
        else:
            url = await _announced(process.stdout, program)
            session = await stack.enter_async_context(aiohttp.ClientSession())
            websocket = await stack.enter_async_context(session.ws_connect(url, max_msg_size=0, compress=0))
            talk = Conversation(WebSocketChannel(websocket))
        await talk.open()
        yield talk


@asynccontextmanager
async def _process(
    program: Program, transport: Transport, place: Place
) -> AsyncIterator[asyncio.subprocess.Process]:
    listen = "ws://127.0.0.1:0" if transport is Transport.WEBSOCKET else "stdio"
    process = await asyncio.create_subprocess_exec(
        *program.argv,
        "--listen",
        listen,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env=dict(program.environment),
        cwd=place.workspace,
        limit=_LINE_LIMIT,
    )
    try:
        yield process
    finally:
        await _end(process)


async def _announced(stdout: asyncio.StreamReader, program: Program) -> str:
    try:
        while line := (await asyncio.wait_for(stdout.readline(), _START_S)).decode():
            start = line.find("ws://")
            if start >= 0:
                return line[start:].split()[0]
    except TimeoutError:
        raise BenchFailed(f"{program.name} announced no address within {_START_S:.0f} s") from None
    raise BenchFailed(f"{program.name} ended before it listened")


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.stdin is not None:
        process.stdin.close()
    if process.returncode is None:
        process.terminate()
    try:
        await asyncio.wait_for(process.wait(), _STOP_S)
    except TimeoutError:
        process.kill()
        await process.wait()
