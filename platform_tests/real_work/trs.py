"""What became of each test of an Automake test suite, read from its `.trs` files.

Pure text in, plain values out: it opens no file. Used by `run`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from platform_tests.real_work.junit import collect

_OUTCOMES: Final = {
    "PASS": "passed",
    "FAIL": "failure",
    "SKIP": "skipped",
    "XFAIL": "xfailed",
    "XPASS": "failure",
    "ERROR": "error",
}
"""Automake's words, as in the manual's chapter about the test driver, in those of pytest's records."""

_RESULT: Final = ":test-result:"
_GLOBAL: Final = ":global-test-result:"


def parse(documents: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """The outcomes of the tests by the name of their file, from the text of each file.

    Raises:
        ValueError: a file tells no result.
    """
    reports: list[tuple[str, str]] = []
    for name, text in documents.items():
        results = _results(text, _RESULT) or _results(text, _GLOBAL)
        if not results:
            raise ValueError(f"cannot read `{name}`: no test result in it")
        reports += [(name, result) for result in results]
    return collect(reports)


def _results(text: str, field: str) -> list[str]:
    values = [line.removeprefix(field).split() for line in text.splitlines() if line.startswith(field)]
    return [_OUTCOMES.get(words[0], words[0]) for words in values if words]
