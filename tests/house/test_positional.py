"""No bare None, truth value or number is passed by position to our own code, and each form is seen."""

from __future__ import annotations

import pytest

from tests.house.positional import ALLOWED, judged_calls, unnamed_literals
from tests.house.repository import Finding, SourceFile, own_python, read_text_files
from tests.house.verdict import expect_none

PYTHON = own_python(read_text_files())

LIBRARY = SourceFile(
    path="sandboxing/ring.py",
    text='''
"""Planted."""
from dataclasses import dataclass
from typing import NamedTuple

def resize(ring, size, /, limit=None): ...

class Ring:
    size: "Size"
    def __init__(self, size): self.last = Size(rows=1, columns=2)
    def read(self, count): ...
    @classmethod
    def of(cls, size): return cls(7)
    @staticmethod
    def empty(size): ...
    def log(self, *parts): ...

class Wider(Ring):
    def __init__(self, size): super().__init__(1)

@dataclass(frozen=True)
class Size:
    rows: int
    columns: int
    def scaled(self, factor): ...

class Pair(NamedTuple):
    left: int
    right: int
''',
)

FAULTS = {
    "a constructor": "Ring(5)",
    "a negative number": "Ring(-5)",
    "None": "Ring(None)",
    "a truth value": "Ring(True)",
    "an inherited constructor argument": "Wider(5)",
    "a record": "Size(columns=1, rows=x) or Size(5)",
    "a named tuple": "Pair(5)",
    "a class method": "Ring.of(5)",
    "a static method": "Ring.empty(5)",
    "a method of a fresh object": "Ring(size=x).read(5)",
    "a method of a variable": "ring = Ring(size=x)\n    ring.read(5)",
    "a method of an annotated variable": "ring: Ring | None = make()\n    ring.read(5)",
    "a method of a parameter": "given.read(5)",
    "a method of an attribute": "given.size.scaled(5)",
    "a method of an assigned attribute": "given.last.scaled(5)",
    "an inherited method": "Wider(size=x).read(5)",
    "a function after positional-only parameters": "resize(x, 1, 2)",
    "a function of an imported module": "sandboxing.ring.resize(x, x, 2)",
    "a function under another name": "shrink(x, x, 2)",
    "a nested function": "def inner(size): ...\n    inner(5)",
    "a function of the same module": "local(5)",
}

HARMLESS = {
    "by keyword": "Ring(size=5)",
    "text": 'Ring("five")',
    "a positional-only parameter": "resize(5, 6)",
    "collected arguments": "Ring(size=x).log(1, 2, None)",
    "somebody else's function": "range(5) and math.sqrt(2)",
    "a name that hides ours": "Ring = make()\n    Ring(5)",
    "a method of something unknown": "unknown.read(5)",
}


def _caller(body: str) -> SourceFile:
    header = (
        "import math\nimport sandboxing.ring\n"
        "from sandboxing.ring import Pair, Ring, Size, Wider, resize\n"
        "from sandboxing.ring import resize as shrink\n"
        "def local(size): ...\n"
    )
    return SourceFile(
        path="tests/test_ring.py", text=f"{header}def test(x, given: Ring, unknown):\n    {body}\n"
    )


def _lines(body: str) -> list[str]:
    return [
        str(finding)
        for finding in unnamed_literals([LIBRARY, _caller(body)])
        if finding.path.startswith("tests")
    ]


@pytest.fixture(scope="module")
def judged() -> list[tuple[Finding, str]]:
    return list(judged_calls(PYTHON))


def test_no_literal_goes_unnamed(judged: list[tuple[Finding, str]]) -> None:
    expect_none(finding for finding, name in judged if name not in ALLOWED)


def test_the_list_of_exceptions_holds_nothing_unused(judged: list[tuple[Finding, str]]) -> None:
    assert set(ALLOWED) <= {name for _, name in judged}


@pytest.mark.parametrize("body", FAULTS.values(), ids=FAULTS.keys())
def test_an_unnamed_literal_is_seen(body: str) -> None:
    assert len(_lines(body)) == 1


@pytest.mark.parametrize("body", HARMLESS.values(), ids=HARMLESS.keys())
def test_a_call_that_is_clear_is_left_alone(body: str) -> None:
    assert _lines(body) == []


def test_calls_through_cls_and_super_are_seen() -> None:
    assert [finding.line for finding in unnamed_literals([LIBRARY])] == [13, 19]
