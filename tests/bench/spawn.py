"""How long a warm start takes, from `process/start` to `process/closed`, and how many fit in a second.

Every round measures each server, transport and sandbox once, one after the other, so that ratios are of
pairs from the same moment. Codex is measured as a plain client sees it, its own pauses included.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Final

from tests.bench.figures import (
    TIMING_COLUMNS,
    Budget,
    Cell,
    Report,
    Side,
    Table,
    failed_row,
    failure_notes,
    median,
    paired_ratio,
    timing_row,
)
from tests.bench.servers import Place, Program, Transport, conversation, programs
from tests.bench.wire import BenchFailed, Conversation, Work, workspace_write

_COMMAND: Final = ("/bin/true",)
_WARM_UP: Final = 5

_OF_CODEX_WEBSOCKET: Final = 1 / 12
_OF_CODEX_STDIO: Final = 1 / 3
_OF_BARE: Final = 3
_TIMES_CODEX_RATE: Final = 5


@dataclass(frozen=True, slots=True)
class SpawnOptions:
    """How much to measure.

    Attributes:
        rounds: measurements of each variant.
        bursts: how often many are started at once.
        burst_size: how many that is.
        concurrent_requests: given to both servers when above 1, their default.
    """

    rounds: int
    bursts: int
    burst_size: int
    concurrent_requests: int


class _Variant:
    """One server over one transport, with or without a sandbox; its first failure takes it out of the run."""

    def __init__(self, name: str, talk: Conversation, work: Work) -> None:
        self.name: Final = name
        self.failure: str | None = None
        self.seconds: list[float] = []
        self.burst_seconds: list[float] = []
        self._talk: Final = talk
        self._work: Final = work

    async def time(self, *, count: int) -> float | None:
        """Seconds for `count` commands at once."""
        if self.failure is not None:
            return None
        try:
            return (await self._talk.run(self._work, count=count)).seconds
        except (BenchFailed, OSError) as error:
            self.failure = str(error)
            self.seconds.clear()
            self.burst_seconds.clear()
            return None


def _name(program: str, transport: Transport, *, sandboxed: bool) -> str:
    return f"{program} {transport.value} {'sandboxed' if sandboxed else 'bare'}"


async def measure(options: SpawnOptions, place: Place, environment: Mapping[str, str]) -> Report:
    """Run the benchmark."""
    ours, codex = programs(place, environment, concurrent_requests=options.concurrent_requests)
    notes = [] if codex is not None else ["codex is not installed; put it in PATH or name it in CODEX"]
    variants: dict[str, _Variant] = {}
    async with AsyncExitStack() as stack:
        for program in (ours, codex):
            if program is not None:
                await _open(stack, program, place, variants, notes)
        await _rounds(variants, options)
    return _report(variants, options, notes)


async def _open(
    stack: AsyncExitStack, program: Program, place: Place, variants: dict[str, _Variant], notes: list[str]
) -> None:
    for transport in Transport:
        try:
            talk = await stack.enter_async_context(conversation(program, transport, place))
        except (BenchFailed, OSError) as error:
            notes.append(f"{program.name} over {transport.value}: {error}")
            continue
        for sandboxed in (False, True):
            sandbox = workspace_write(place.workspace) if sandboxed else None
            name = _name(program.name, transport, sandboxed=sandboxed)
            variants[name] = _Variant(name, talk, Work(_COMMAND, place.workspace, sandbox))


async def _rounds(variants: Mapping[str, _Variant], options: SpawnOptions) -> None:
    for turn in range(-_WARM_UP, options.rounds):
        for variant in variants.values():
            seconds = await variant.time(count=1)
            if turn >= 0 and seconds is not None:
                variant.seconds.append(seconds)
    for _ in range(options.bursts):
        for variant in variants.values():
            seconds = await variant.time(count=options.burst_size)
            if seconds is not None:
                variant.burst_seconds.append(seconds)


def _report(variants: Mapping[str, _Variant], options: SpawnOptions, notes: list[str]) -> Report:
    starts = tuple(timing_row(variant.name, variant.seconds) for variant in variants.values())
    rates = tuple(_rate_row(variant, options) for variant in variants.values())
    return Report(
        bench="spawn",
        facts={
            "rounds": options.rounds,
            "at once": options.burst_size,
            "concurrent requests": options.concurrent_requests,
        },
        tables=(
            Table("start to closed, one at a time", TIMING_COLUMNS, starts),
            Table(
                f"{options.burst_size} at once over one connection",
                ("what", "n", "commands/s", "p50 ms", "remark"),
                rates,
            ),
        ),
        budgets=_budgets(variants),
        notes=(*notes, *failure_notes({variant.name: variant.failure for variant in variants.values()})),
    )


def _rate_row(variant: _Variant, options: SpawnOptions) -> dict[str, Cell]:
    if not variant.burst_seconds:
        return failed_row(variant.name)
    middle = median(variant.burst_seconds)
    return {
        "what": variant.name,
        "n": len(variant.burst_seconds),
        "commands/s": options.burst_size / middle,
        "p50 ms": middle * 1000,
        "remark": "",
    }


def _budgets(variants: Mapping[str, _Variant]) -> tuple[Budget, ...]:
    def seconds(program: str, transport: Transport, *, sandboxed: bool) -> list[float] | None:
        variant = variants.get(_name(program, transport, sandboxed=sandboxed))
        return None if variant is None else variant.seconds

    def bursts(program: str) -> list[float] | None:
        variant = variants.get(_name(program, Transport.WEBSOCKET, sandboxed=True))
        return None if variant is None else variant.burst_seconds

    ours = seconds("ours", Transport.WEBSOCKET, sandboxed=True)
    return (
        Budget(
            what="sandboxed start over ws, ours / codex over ws",
            side=Side.AT_MOST,
            limit=_OF_CODEX_WEBSOCKET,
            value=paired_ratio(ours, seconds("codex", Transport.WEBSOCKET, sandboxed=True)),
        ),
        Budget(
            what="sandboxed start, ours over ws / codex over stdio",
            side=Side.AT_MOST,
            limit=_OF_CODEX_STDIO,
            value=paired_ratio(ours, seconds("codex", Transport.STDIO, sandboxed=True)),
        ),
        Budget(
            what="start over ws, ours sandboxed / ours bare",
            side=Side.AT_MOST,
            limit=_OF_BARE,
            value=paired_ratio(ours, seconds("ours", Transport.WEBSOCKET, sandboxed=False)),
        ),
        Budget(
            what="sandboxed commands per second over ws, ours / codex",
            side=Side.AT_LEAST,
            limit=_TIMES_CODEX_RATE,
            # times of the same number of commands, so the ratio of rates is the inverse
            value=paired_ratio(bursts("codex"), bursts("ours")),
        ),
    )
