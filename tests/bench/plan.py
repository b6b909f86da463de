"""How long it takes to understand a large policy: many entries, and deny globs over many files.

In this process and without starting anything; the trees are real. Planning is Linux's, binding everybody's.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from sandboxing.binding.bind import bind_context
from sandboxing.binding.bound import BoundPolicy
from sandboxing.contract.backend import Planned
from sandboxing.profile.context import SandboxContext
from sandboxing.run import hostfacts, registry
from sandboxing.run.flow import prepare_context
from tests.bench.figures import Budget, Cell, Report, Side, Table, median
from tests.bench.servers import Place
from tests.bench.wire import workspace_write

_T = TypeVar("_T")

_LIMIT_S: Final = 1.0
_BUDGET_FILES: Final = 200_000
_FILES_PER_DIRECTORY: Final = 50
_MATCH_EVERY: Final = 100
_GLOBS: Final = ("**/*.env", "**/*.pem", "**/id_*")


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """How much to measure.

    Attributes:
        rounds: how often each policy is understood.
        entries: how many entries the large profile has.
        files: how many files the globs look at.
    """

    rounds: int
    entries: int
    files: int


@dataclass(frozen=True, slots=True)
class _Times:
    """The middle times of one policy, in seconds, and what came out."""

    decode: float
    bind: float
    bind_and_plan: float
    steps: int
    encoded_bytes: int


def measure(options: PlanOptions, place: Place, environment: Mapping[str, str]) -> Report:
    """Run the benchmark."""
    present = _present_entries(place, options.entries)
    missing = _entries(os.path.join(place.workspace, "absent", str(n)) for n in range(options.entries))
    cases = {
        f"{options.entries} entries that exist": _context(place, present),
        f"{options.entries} entries that do not exist": _context(place, missing),
    }
    make_files(place.workspace, options.files)
    globs = [{"path": {"type": "glob_pattern", "pattern": text}, "access": "deny"} for text in _GLOBS]
    with_globs = f"{len(_GLOBS)} deny globs over {options.files} files"
    cases[with_globs] = _context(place, globs)
    found = {name: _understand(raw, place, environment, options.rounds) for name, raw in cases.items()}
    walked = found[with_globs].bind_and_plan
    return Report(
        bench="plan",
        facts={"rounds": options.rounds},
        tables=(
            Table(
                "a policy from the wire to a plan",
                ("what", "decode ms", "bind ms", "bind and plan ms", "steps", "plan KiB"),
                tuple(_row(name, times) for name, times in found.items()),
            ),
        ),
        budgets=(
            *(
                Budget(what=f"{name}, s", side=Side.AT_MOST, limit=_LIMIT_S, value=times.bind_and_plan)
                for name, times in found.items()
                if name != with_globs
            ),
            Budget(
                what=f"{with_globs}, as if they were {_BUDGET_FILES}, s",
                side=Side.AT_MOST,
                limit=_LIMIT_S,
                value=walked * _BUDGET_FILES / options.files,
            ),
        ),
    )


def _row(name: str, times: _Times) -> dict[str, Cell]:
    return {
        "what": name,
        "decode ms": times.decode * 1000,
        "bind ms": times.bind * 1000,
        "bind and plan ms": times.bind_and_plan * 1000,
        "steps": times.steps,
        "plan KiB": times.encoded_bytes / 1024,
    }


def _present_entries(place: Place, count: int) -> list[dict[str, Any]]:
    top = os.path.join(place.workspace, "carved")
    os.mkdir(top)
    paths = []
    for number in range(count):
        directory = os.path.join(top, str(number // _FILES_PER_DIRECTORY))
        if number % _FILES_PER_DIRECTORY == 0:
            os.mkdir(directory)
        path = os.path.join(directory, f"{number}.txt")
        _touch(path)
        paths.append(path)
    return _entries(paths)


def _entries(paths: Iterable[str]) -> list[dict[str, Any]]:
    return [
        {
            "path": {"type": "path", "path": f"file://{path}"},
            "access": "read",
            "missing_path_behavior": "skip",
        }
        for path in paths
    ]


def make_files(top: str, count: int) -> None:
    """Make `count` files in a tree of directories; one in a hundred is one that the globs deny."""
    for number in range(count):
        directory = os.path.join(top, "src", str(number // 2500), str(number // _FILES_PER_DIRECTORY))
        if number % _FILES_PER_DIRECTORY == 0:
            os.makedirs(directory)
        name = f"{number}.env" if number % _MATCH_EVERY == 0 else f"{number}.py"
        _touch(os.path.join(directory, name))


def _touch(path: str) -> None:
    with open(path, "xb"):
        pass


def _context(place: Place, more: list[dict[str, Any]]) -> dict[str, Any]:
    raw = workspace_write(place.workspace)
    raw["permissions"]["file_system"]["entries"] += more
    return raw


def _understand(raw: dict[str, Any], place: Place, environment: Mapping[str, str], rounds: int) -> _Times:
    host = registry.confining_host()
    facts = hostfacts.gather(environment, cwd=place.workspace)
    view = hostfacts.HostFileSystem()
    decode, context = _timed(lambda: SandboxContext.model_validate(raw), rounds)

    def bind() -> BoundPolicy:
        return bind_context(context, facts=facts, view=view, command_cwd=place.workspace)

    def bind_and_plan() -> Planned:
        return prepare_context(
            context, backend=host, facts=facts, view=view, command_cwd=place.workspace
        ).planned

    binding, _ = _timed(bind, rounds)
    planning, planned = _timed(bind_and_plan, rounds)
    return _Times(
        decode=decode,
        bind=binding,
        bind_and_plan=planning,
        steps=len(planned.plan.lines()),
        encoded_bytes=len(planned.launch.steps),
    )


def _timed(work: Callable[[], _T], rounds: int) -> tuple[float, _T]:
    """The middle time of some calls, and what the last one returned."""
    started = time.perf_counter()
    result = work()
    seconds = [time.perf_counter() - started]
    for _ in range(rounds - 1):
        started = time.perf_counter()
        result = work()
        seconds.append(time.perf_counter() - started)
    return median(seconds), result
