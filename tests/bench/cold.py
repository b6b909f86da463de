"""How long one confined `true` takes from nothing: our command against codex, bubblewrap and no sandbox.

Every round starts each program once. On request it also says which imports our own start is made of.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import BinaryIO, Final

from tests.bench.figures import (
    TIMING_COLUMNS,
    Budget,
    Cell,
    Report,
    Side,
    Table,
    failure_notes,
    median,
    paired_difference,
    paired_ratio,
    timing_row,
)
from tests.bench.rivals import OUR_COMMAND, codex_environment, find_bubblewrap, find_codex, our_environment
from tests.bench.servers import Place

_TRUE: Final = "/bin/true"
_WARM_UP: Final = 3
_LONGEST_S: Final = 60.0
_ALLOWED_OVER_CODEX_S: Final = 0.150
_TOP_MODULES: Final = 25
_IMPORT_LINE: Final = re.compile(r"import time:\s+(\d+) \|\s+(\d+) \|(\s*)(\S+)")

OURS: Final = "sandboxctl run -- true"
CODEX: Final = "codex sandbox -- true, native program"
_RUN: Final = ("run", "--", _TRUE)


class Imports(Enum):
    """Whether to look into our own start."""

    NO = "no"
    LIST = "list"


@dataclass(frozen=True, slots=True)
class ColdOptions:
    """How much to measure.

    Attributes:
        rounds: starts of each program.
        imports: whether to list what our start imports.
    """

    rounds: int
    imports: Imports


@dataclass(frozen=True, slots=True)
class _Program:
    """Something to start."""

    argv: tuple[str, ...]
    environment: Mapping[str, str]


def measure(options: ColdOptions, place: Place, environment: Mapping[str, str]) -> Report:
    """Run the benchmark."""
    programs, notes = _programs(place, environment)
    found: dict[str, list[float]] = {name: [] for name in programs}
    failures: dict[str, str] = {}
    for turn in range(-_WARM_UP, options.rounds):
        for name, program in programs.items():
            if name in failures:
                continue
            seconds, failure = _once(program, place)
            if failure is not None:
                failures[name] = failure
                found[name].clear()
            elif turn >= 0:
                found[name].append(seconds)
    rows = tuple(timing_row(name, found[name]) for name in programs)
    tables = [Table("cold start to exit", TIMING_COLUMNS, rows), _ratios(found)]
    if options.imports is Imports.LIST:
        tables += _imports(programs[OURS], place)
    ours, codex = found[OURS], found.get(CODEX)
    return Report(
        bench="cold",
        facts={"rounds": options.rounds, "python": sys.version.split()[0]},
        tables=tuple(tables),
        budgets=(
            Budget(
                what="cold start with a cached plan, ours / codex",
                side=Side.AT_MOST,
                limit=1,
                value=paired_ratio(ours, codex),
            ),
            Budget(
                what="cold start without a cached plan, ours minus codex, s",
                side=Side.AT_MOST,
                limit=_ALLOWED_OVER_CODEX_S,
                value=paired_difference(ours, codex),
            ),
        ),
        notes=(*notes, *failure_notes(failures)),
    )


def _programs(place: Place, environment: Mapping[str, str]) -> tuple[dict[str, _Program], list[str]]:
    own = our_environment(place.home)
    programs = {
        "true": _Program((_TRUE,), own),
        "python -I -S -c pass": _Program((sys.executable, "-I", "-S", "-c", "pass"), own),
        OURS: _Program((*OUR_COMMAND, *_RUN), own),
    }
    notes = []
    bubblewrap = find_bubblewrap(environment)
    if bubblewrap is None:
        notes.append("bwrap is not installed")
    else:
        isolated = ("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--unshare-all")
        programs["bwrap --unshare-all true"] = _Program((bubblewrap, *isolated, _TRUE), own)
    codex = find_codex(environment)
    if codex is None:
        notes.append("codex is not installed; put it in PATH or name it in CODEX")
        return programs, notes
    its_own = codex_environment(place.home)
    programs[CODEX] = _Program((codex.native, "sandbox", "--", _TRUE), its_own)
    if codex.has_shim:
        # the script asks env for node, so it needs the PATH that node is in
        with_node = {**its_own, "PATH": environment.get("PATH", its_own["PATH"])}
        programs["codex sandbox -- true, as installed"] = _Program(
            (codex.as_found, "sandbox", "--", _TRUE), with_node
        )
    return programs, notes


def _once(program: _Program, place: Place) -> tuple[float, str | None]:
    """Seconds to the exit, and what went wrong."""
    with open(os.path.join(place.home, "cold.log"), "wb+") as errors:
        try:
            seconds, code = _start_to_exit(program, place, errors)
        except OSError as error:
            return 0.0, str(error)
        if code == 0:
            return seconds, None
        errors.seek(0)
        last = errors.read().decode(errors="replace").strip().splitlines()[-1:]
        return seconds, f"exit {code}: {' '.join(last)}"


def _start_to_exit(program: _Program, place: Place, errors: BinaryIO) -> tuple[float, int]:
    started = time.perf_counter()
    with subprocess.Popen(
        program.argv,
        env=dict(program.environment),
        cwd=place.workspace,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=errors,
    ) as process:
        # not wait(timeout=...): that sleeps and looks, in steps of up to 50 ms
        watchdog = threading.Timer(_LONGEST_S, process.kill)
        watchdog.start()
        code = process.wait()
        seconds = time.perf_counter() - started
        watchdog.cancel()
    return seconds, code


def _ratios(found: Mapping[str, list[float]]) -> Table:
    rows: list[dict[str, Cell]] = [
        {
            "ours against": name,
            "ratio": paired_ratio(found[OURS], seconds),
            "more ms": _milliseconds(paired_difference(found[OURS], seconds)),
        }
        for name, seconds in found.items()
        if name != OURS
    ]
    return Table("paired in the same round", ("ours against", "ratio", "more ms"), tuple(rows))


def _milliseconds(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * 1000


@dataclass(frozen=True, slots=True)
class Imported:
    """One line of the interpreter's import times.

    Attributes:
        module: its name.
        own_us: microseconds without what it imports itself.
        total_us: microseconds with that.
    """

    module: str
    own_us: int
    total_us: int


def parse_import_times(text: str) -> list[Imported]:
    """What `-X importtime` wrote, in the order of completion."""
    return [
        Imported(module=match[4], own_us=int(match[1]), total_us=int(match[2]))
        for match in _IMPORT_LINE.finditer(text)
    ]


def _imports(program: _Program, place: Place) -> list[Table]:
    argv = (program.argv[0], "-X", "importtime", *program.argv[1:])
    texts = [
        subprocess.run(
            argv,
            env=dict(program.environment),
            cwd=place.workspace,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_LONGEST_S,
            check=False,
        ).stderr.decode(errors="replace")
        for _ in range(_WARM_UP)
    ]
    runs = [parse_import_times(text) for text in texts]
    middle = sorted(runs, key=lambda run: sum(one.own_us for one in run))[len(runs) // 2]
    packages: dict[str, list[int]] = defaultdict(list)
    for one in middle:
        packages[one.module.partition(".")[0]].append(one.own_us)
    heaviest = sorted(packages.items(), key=lambda item: -sum(item[1]))[:_TOP_MODULES]
    slowest = sorted(middle, key=lambda one: -one.own_us)[:_TOP_MODULES]
    total: Cell = median([float(sum(one.own_us for one in run)) for run in runs]) / 1000
    return [
        Table(
            f"imports by package, {_text_ms(total)} together (tracing makes them slower)",
            ("package", "modules", "own ms"),
            tuple(
                {"package": name, "modules": len(times), "own ms": sum(times) / 1000}
                for name, times in heaviest
            ),
        ),
        Table(
            "imports by module",
            ("module", "own ms", "with its own imports ms"),
            tuple(
                {
                    "module": one.module,
                    "own ms": one.own_us / 1000,
                    "with its own imports ms": one.total_us / 1000,
                }
                for one in slowest
            ),
        ),
    ]


def _text_ms(value: Cell) -> str:
    return f"{value:.0f} ms" if isinstance(value, float) else "-"
