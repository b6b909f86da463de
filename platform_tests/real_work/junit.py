"""What became of each test, read from a JUnit file, and how two such records differ.

Pure text in, plain values out: it opens no file and excuses nothing but what it is told to. Used by `run`
and the tests.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from platform_tests.real_work.projects import ExpectedDifference

Outcomes = Mapping[str, tuple[str, ...]]
"""The outcomes of each test id, sorted; more than one where an id was reported more than once."""

ABSENT: Final[tuple[str, ...]] = ()
"""The outcomes of a test that did not run."""

_BAD: Final = frozenset({"error", "failure"})

_ADDRESS: Final = re.compile(r"\b0x[0-9a-f]{6,16}\b")


@dataclass(frozen=True, slots=True)
class Difference:
    """A test that ended otherwise in the sandbox.

    Attributes:
        test: the test's id.
        outside: its outcomes without a sandbox, `ABSENT` when it did not run.
        inside: its outcomes in the sandbox, the same.
    """

    test: str
    outside: tuple[str, ...]
    inside: tuple[str, ...]

    def __str__(self) -> str:
        """One line for people."""
        return f"{self.test}: outside {_words(self.outside)}, inside {_words(self.inside)}"


def parse(document: str) -> dict[str, tuple[str, ...]]:
    """The outcomes of a JUnit document as pytest writes it.

    Raises:
        ValueError: it is not well-formed.
    """
    try:
        root = ET.fromstring(document)  # noqa: S314 - written by the test run beside us, and bounded by it
    except ET.ParseError as error:
        raise ValueError(f"cannot read `junit`: {error}") from error
    return collect((_identity(case), _outcome(case)) for case in root.iter("testcase"))


def collect(reports: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    """Single reports of an id and an outcome, gathered by id."""
    gathered: dict[str, list[str]] = {}
    for identity, outcome in reports:
        gathered.setdefault(identity, []).append(outcome)
    return {identity: tuple(sorted(outcomes)) for identity, outcomes in gathered.items()}


def count(outcomes: Outcomes) -> dict[str, int]:
    """How often each outcome was reported, by its name."""
    counts: dict[str, int] = {}
    for reported in outcomes.values():
        for outcome in reported:
            counts[outcome] = counts.get(outcome, 0) + 1
    return dict(sorted(counts.items()))


def differences(outside: Outcomes, inside: Outcomes) -> list[Difference]:
    """Every test whose outcomes are not the same in both, by id."""
    return [
        Difference(test=test, outside=outside.get(test, ABSENT), inside=inside.get(test, ABSENT))
        for test in sorted(outside.keys() | inside.keys())
        if outside.get(test, ABSENT) != inside.get(test, ABSENT)
    ]


def judge(
    found: Iterable[Difference], project: str, expected: Iterable[ExpectedDifference]
) -> tuple[list[Difference], list[ExpectedDifference]]:
    """What of the differences is not excused, and which excuses of the project did not come true."""
    seen = {(difference.test, difference.outside, difference.inside): difference for difference in found}
    excuses = {
        (entry.test, entry.outside, entry.inside): entry for entry in expected if entry.project == project
    }
    unexcused = [difference for key, difference in seen.items() if key not in excuses]
    untrue = [entry for key, entry in excuses.items() if key not in seen]
    return unexcused, untrue


def failures(outcomes: Outcomes) -> list[str]:
    """The ids of the tests that failed or broke, sorted."""
    return sorted(test for test, reported in outcomes.items() if _BAD.intersection(reported))


def _identity(case: ET.Element) -> str:
    # parameters are sometimes named by an object's address, which is another one in every process
    return _ADDRESS.sub("0x...", f"{case.get('classname', '')}::{case.get('name', '')}")


def _outcome(case: ET.Element) -> str:
    kinds = {child.tag for child in case}
    for kind in sorted(_BAD):
        if kind in kinds:
            return kind
    skipped = case.find("skipped")
    if skipped is None:
        return "passed"
    return "xfailed" if skipped.get("type") == "pytest.xfail" else "skipped"


def _words(outcomes: tuple[str, ...]) -> str:
    return "+".join(outcomes) if outcomes else "absent"
