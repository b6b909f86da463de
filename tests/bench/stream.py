"""How fast a command's output reaches the client: 100 MiB of zeros, from the start until the close.

The client decodes every message and counts every byte, the same for every server. It measures nothing when
a byte is missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Final

from tests.bench.figures import (
    Budget,
    Cell,
    Report,
    Side,
    Table,
    failed_row,
    failure_notes,
    median,
    paired_ratio,
)
from tests.bench.servers import Place, Transport, conversation, programs
from tests.bench.wire import BenchFailed, Conversation, Work, workspace_write

_MIB: Final = 1024 * 1024
_MB: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """How much to measure.

    Attributes:
        rounds: how often each server sends it all.
        mebibytes: how much that is.
    """

    rounds: int
    mebibytes: int


async def measure(options: StreamOptions, place: Place, environment: Mapping[str, str]) -> Report:
    """Run the benchmark."""
    ours, codex = programs(place, environment, concurrent_requests=1)
    notes = [] if codex is not None else ["codex is not installed; put it in PATH or name it in CODEX"]
    size = options.mebibytes * _MIB
    work = Work(("head", "-c", str(size), "/dev/zero"), place.workspace, workspace_write(place.workspace))
    found: dict[str, list[float]] = {}
    failures: dict[str, str] = {}
    async with AsyncExitStack() as stack:
        talks: dict[str, Conversation] = {}
        for program in (ours, *(() if codex is None else (codex,))):
            for transport in Transport:
                name = f"{program.name} {transport.value} sandboxed"
                found[name] = []
                try:
                    talks[name] = await stack.enter_async_context(conversation(program, transport, place))
                except (BenchFailed, OSError) as error:
                    failures[name] = str(error)
        for turn in range(-1, options.rounds):
            for name, talk in talks.items():
                if name in failures:
                    continue
                try:
                    seconds = await _once(talk, work, size)
                except (BenchFailed, OSError) as error:
                    failures[name] = str(error)
                    found[name].clear()
                    continue
                if turn >= 0:
                    found[name].append(seconds)
    rows = tuple(_row(name, seconds, size) for name, seconds in found.items())
    return Report(
        bench="stream",
        facts={"MiB": options.mebibytes, "rounds": options.rounds},
        tables=(Table("output rate", ("what", "n", "MB/s p50", "MB/s best", "remark"), rows),),
        budgets=(
            Budget(
                what="output rate over ws, ours / codex",
                side=Side.AT_LEAST,
                limit=1,
                value=paired_ratio(found.get("codex ws sandboxed"), found.get("ours ws sandboxed")),
            ),
        ),
        notes=(*notes, *failure_notes(failures)),
    )


async def _once(talk: Conversation, work: Work, size: int) -> float:
    batch = await talk.run(work)
    if batch.output_bytes != size:
        raise BenchFailed(f"{batch.output_bytes} of {size} bytes arrived")
    return batch.seconds


def _row(name: str, seconds: list[float], size: int) -> dict[str, Cell]:
    if not seconds:
        return failed_row(name)
    return {
        "what": name,
        "n": len(seconds),
        "MB/s p50": size / _MB / median(seconds),
        "MB/s best": size / _MB / min(seconds),
        "remark": "",
    }
