"""Words that must not stand in the repository: machine paths, ticket numbers, package index hosts.

Each pattern is written so that it does not match its own line here. Used by the test beside it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from tests.house.repository import Finding, SourceFile

FORBIDDEN = (
    (re.compile(r"(?<![\w.}*])/wor[k](?:/|\b(?=['\"`\s]))"), "a path of somebody's machine"),
    (re.compile(r"/roo[t]/(?:venv|brief|\.pyenv|\.cache)"), "a path of somebody's machine"),
    (re.compile(r"/(?:home|Users)/(?:runne[r])/"), "a path of somebody's machine"),
    (re.compile(r"\bissu[e]\s+(?:#|no\.?\s*)?\d+", re.IGNORECASE), "a ticket number: say the reason itself"),
    (
        re.compile(r"\b(?:se[e]|fixe[s]|close[s])\s+#\d+", re.IGNORECASE),
        "a ticket number: say the reason itself",
    ),
    (
        re.compile(r"\bpyp[i]\.(?:org|io|python\.org)\b"),
        "the host of a package index: the user's own settings decide",
    ),
    (
        re.compile(r"\bfile[s]\.pythonhosted\.org\b"),
        "the host of a package index: the user's own settings decide",
    ),
    (
        re.compile(r"\bregistr[y]\.npmjs\.(?:org|com)\b"),
        "the host of a package index: the user's own settings decide",
    ),
    (re.compile(r"\bdeb\.debia[n]\.org\b"), "the host of a package index: the user's own settings decide"),
    (
        re.compile(r"(?<!\S)(?:-i[ =]*https?:|--(?:extra-)?index-ur[l][ =])\S+"),
        "a package index: the user's own settings decide",
    ),
)
"""Pattern and reason of every wording that may not appear."""


def unwelcome(files: Iterable[SourceFile]) -> Iterator[Finding]:
    """Lines that hold a forbidden wording."""
    for file in files:
        for number, line in enumerate(file.text.splitlines(), start=1):
            for pattern, reason in FORBIDDEN:
                match = pattern.search(line)
                if match is not None:
                    yield Finding(file.path, number, f"`{match[0].strip()}` is {reason}")
