"""Rules about a file as a whole: its length, its name, its docstring.

Nothing here looks inside a function. Used by the tests beside it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from tests.house.repository import Finding, SourceFile

MAX_LINES = 400
"""Beyond this many lines a file has more than one subject."""

FORBIDDEN_NAMES = frozenset(
    {
        "common",
        "helper",
        "helpers",
        "manager",
        "managers",
        "misc",
        "util",
        "utils",
    }
)
"""Module names that say nothing about what is inside, also as one word of a longer name."""


def too_long(files: Iterable[SourceFile]) -> Iterator[Finding]:
    """Python files with more than `MAX_LINES` lines."""
    for file in files:
        lines = len(file.text.splitlines())
        if lines > MAX_LINES:
            yield Finding(
                file.path, MAX_LINES + 1, f"{lines} lines, the limit is {MAX_LINES}: split by subject"
            )


def nameless(files: Iterable[SourceFile]) -> Iterator[Finding]:
    """Modules and packages whose name names no subject."""
    for file in files:
        for part in file.path.removesuffix(".py").split("/"):
            for word in FORBIDDEN_NAMES.intersection(part.split("_")):
                yield Finding(
                    file.path, line=1, rule=f"`{word}` names no subject: say what the module is about"
                )


def undocumented(files: Iterable[SourceFile]) -> Iterator[Finding]:
    """Modules without a docstring; a file with no statement at all needs none."""
    for file in files:
        tree = file.parse()
        if tree.body and not ast.get_docstring(tree):
            yield Finding(file.path, line=1, rule="no docstring: what it owns, never does, who uses it")
