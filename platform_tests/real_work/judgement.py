"""Whether the sandbox changed anything about a build, from the records of both runs.

It runs and reads nothing. Used by `run`, `table` and `__main__`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from platform_tests.real_work import driver, junit, trees
from platform_tests.real_work.projects import EXPECTED, Project

READ_ONLY: Final = "EROFS"
"""What writing outside of the workspace has to answer in the sandbox."""

_TESTING_STEPS: Final = frozenset({"test", "check"})
"""Steps that may fail, if they fail on both sides: what counts is each test's outcome."""

_MOST_LINES: Final = 20


@dataclass(frozen=True, slots=True)
class Side:
    """What one run left.

    Attributes:
        code: exit code of the driver, or of the sandbox program around it.
        seconds: wall time.
        answer: what the driver wrote down; empty when it did not get that far.
        report: the sandbox program's report; empty outside.
        outcomes: what became of each test.
        tree: what lay in the workspace afterwards.
        canary_exists: whether the file outside of the workspace is there, seen from outside.
        log: everything printed.
    """

    code: int
    seconds: float
    answer: Mapping[str, Any]
    report: Mapping[str, Any]
    outcomes: junit.Outcomes
    tree: trees.Tree
    canary_exists: bool
    log: str

    @property
    def canaries(self) -> Mapping[str, str]:
        """Outcome of each canary."""
        canaries: Mapping[str, str] = self.answer.get("canaries", {})
        return canaries

    @property
    def cpu_seconds(self) -> float:
        """Processor time of all steps together."""
        return float(sum(step["cpu_seconds"] for step in self.answer.get("steps", ())))

    @property
    def steps(self) -> Mapping[str, int]:
        """Exit code of each step."""
        return {step["name"]: step["code"] for step in self.answer.get("steps", ())}


@dataclass(frozen=True, slots=True)
class Case:
    """A project's two runs and everything that is wrong with them.

    Attributes:
        project: the project.
        outside: the run without a sandbox.
        inside: the run in the sandbox.
        different: number of tests that ended differently, excused ones included.
        problems: why the proof failed, one line each; none when all holds.
    """

    project: Project
    outside: Side
    inside: Side
    different: int
    problems: tuple[str, ...]

    @property
    def canary_held(self) -> bool:
        """Whether the outside could and the inside could not."""
        return not list(_canary_problems(self.outside, self.inside))


def judge_case(project: Project, outside: Side, inside: Side) -> Case:
    """Compare both runs of a project."""
    found = junit.differences(outside.outcomes, inside.outcomes)
    unexcused, untrue = junit.judge(found, project.name, EXPECTED)
    problems = (
        *_run_problems(outside, inside),
        *_shortened(list(_control_problems(project, outside))),
        *_shortened([str(difference) for difference in unexcused]),
        *(f"{entry.test}: the expected difference did not come true" for entry in untrue),
        *(
            f"outside: no file `{pattern}` was built"
            for pattern in trees.missing(outside.tree, project.built)
        ),
        *(f"inside: no file `{pattern}` was built" for pattern in trees.missing(inside.tree, project.built)),
        *_shortened(trees.tree_differences(outside.tree, inside.tree)),
        *_canary_problems(outside, inside),
    )
    return Case(project=project, outside=outside, inside=inside, different=len(found), problems=problems)


def _run_problems(outside: Side, inside: Side) -> Iterator[str]:
    for name, side in (("outside", outside), ("inside", inside)):
        if side.code != 0 or not side.answer:
            yield f"{name}: the run itself ended with exit code {side.code}"
        for step, code in side.steps.items():
            if code != 0 and step not in _TESTING_STEPS:
                yield f"{name}: step `{step}` ended with exit code {code}"
    if outside.steps != inside.steps:
        yield f"exit codes of the steps: outside {dict(outside.steps)}, inside {dict(inside.steps)}"
    if error := inside.report.get("error"):
        yield f"inside: the sandbox reports {error}"


def _control_problems(project: Project, outside: Side) -> Iterator[str]:
    ran = sum(junit.count(outside.outcomes).values())
    if ran < project.least_tests:
        yield f"outside: {ran} tests, at least {project.least_tests} were expected"
    for test in junit.failures(outside.outcomes):
        if test not in project.known_failures:
            yield f"{test}: fails outside already, so that its failure inside would prove nothing"


def _canary_problems(outside: Side, inside: Side) -> Iterator[str]:
    for name in ("create", "open", "connect"):
        if outside.canaries.get(name) != driver.OK:
            yield f"canary `{name}`: the control got {outside.canaries.get(name)}, which proves nothing"
    for name in ("create", "open"):
        if inside.canaries.get(name) != READ_ONLY:
            yield f"canary `{name}`: inside got {inside.canaries.get(name)}, not {READ_ONLY}"
    if inside.canaries.get("connect") in {None, driver.OK}:
        yield f"canary `connect`: inside got {inside.canaries.get('connect')}"
    if not outside.canary_exists:
        yield "canary `create`: the file of the control outside is not there"
    if inside.canary_exists:
        yield "canary `create`: the file from inside is there"


def _shortened(lines: list[str]) -> list[str]:
    if len(lines) <= _MOST_LINES:
        return lines
    return [*lines[:_MOST_LINES], f"and {len(lines) - _MOST_LINES} more like these"]
