"""The summary of all cases as a Markdown table.

It formats; it decides nothing. Used by `__main__`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from platform_tests.real_work import junit
from platform_tests.real_work.judgement import Case, Side

_COLUMNS: Final = (
    "project",
    "version",
    "tests outside",
    "tests inside",
    "differences",
    "seconds outside / inside",
    "inside to outside",
    "same of CPU time",
    "canary",
    "verdict",
)


def summary(cases: Iterable[Case]) -> str:
    """One row for each case."""
    rows = [_COLUMNS, tuple("---" for _ in _COLUMNS), *(_row(case) for case in cases)]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _row(case: Case) -> tuple[str, ...]:
    project, outside, inside = case.project, case.outside, case.inside
    name = project.name
    if project.distribution != name and not name.startswith(project.distribution):
        name = f"{name} (in {project.distribution})"
    canaries = inside.canaries
    return (
        name,
        project.version,
        _counts(outside),
        _counts(inside),
        str(case.different),
        f"{outside.seconds:.1f} / {inside.seconds:.1f}",
        _ratio(inside.seconds, outside.seconds),
        _ratio(inside.cpu_seconds, outside.cpu_seconds),
        f"{'held' if case.canary_held else 'FAILED'}: "
        + ", ".join(f"{key} {canaries.get(key, '?')}" for key in ("create", "open", "connect")),
        "FAILED" if case.problems else "ok",
    )


def _ratio(inside: float, outside: float) -> str:
    return f"{inside / outside:.2f}" if outside else "?"


def _counts(side: Side) -> str:
    counts = junit.count(side.outcomes)
    return ", ".join(f"{number} {outcome}" for outcome, number in counts.items()) or "none"
