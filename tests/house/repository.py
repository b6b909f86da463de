"""The repository as the house checks see it: its text files, parsed where they are Python.

It reads and never judges; the sibling modules judge. A check takes files as values, so that a test can
plant a fault in a file that exists nowhere.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

OWN_TREES = ("sandboxing", "execserver", "tests", "platform_tests")
"""The folders whose Python code is ours."""

_HIDDEN_BUT_OURS = frozenset({".ci", ".github"})
_MADE_BY_TOOLS = frozenset({"__pycache__", "build", "dist", "out", "venv", "node_modules"})


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One text file.

    Attributes:
        path: relative to the repository, with forward slashes.
        text: the whole content.
    """

    path: str
    text: str

    @property
    def is_python(self) -> bool:
        """Whether the file is Python by its name."""
        return self.path.endswith(".py")

    @property
    def is_test(self) -> bool:
        """Whether the file belongs to one of the two test trees."""
        return self.path.startswith(("tests/", "platform_tests/"))

    @property
    def module(self) -> str:
        """The dotted name under which the file is imported from the repository's root."""
        return self.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    def parse(self) -> ast.Module:
        """The syntax tree.

        Raises:
            SyntaxError: the text is not Python.
        """
        return ast.parse(self.text, filename=self.path)


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One broken rule at one place.

    Attributes:
        path: the file.
        line: 1-based line.
        rule: what is wrong, for the person who has to change it.
    """

    path: str
    line: int
    rule: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.rule}"


def _paths(root: Path) -> Iterator[Path]:
    for folder, names, files in os.walk(root):
        names[:] = sorted(
            name
            for name in names
            if name not in _MADE_BY_TOOLS
            and not name.endswith(".egg-info")
            and (not name.startswith(".") or name in _HIDDEN_BUT_OURS)
        )
        yield from (Path(folder, name) for name in sorted(files))


def read_text_files(root: Path = ROOT) -> tuple[SourceFile, ...]:
    """Every UTF-8 text file of the repository in a stable order; binaries and tools' output are left out."""
    found: list[SourceFile] = []
    for path in _paths(root):
        if path.is_symlink():
            continue
        content = path.read_bytes()
        if b"\0" in content:
            continue
        try:
            text = content.decode()
        except UnicodeDecodeError:
            continue
        found.append(SourceFile(path=path.relative_to(root).as_posix(), text=text))
    return tuple(found)


def own_python(files: tuple[SourceFile, ...]) -> tuple[SourceFile, ...]:
    """Those files that are Python code of ours."""
    return tuple(file for file in files if file.is_python and file.path.split("/")[0] in OWN_TREES)
