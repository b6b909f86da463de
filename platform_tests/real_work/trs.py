"""What became of each test of an Automake test suite, read from its `.trs` files.

Pure text in, plain values out: it opens no file. Used by `run`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from platform_tests.real_work.junit import collect

_RESULT: Final = ":test-result:"
_GLOBAL: Final = ":global-test-result:"


def parse(documents: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """The outcomes of the tests by the name of their file, from the text of each file.

    Raises:
        ValueError: a file tells no result.
    """
    reports = []
    for name, text in documents.items():
        results = [
            line.split(":")[2].split()[0].lower() for line in text.splitlines() if line.startswith(_RESULT)
        ]
        if not results:
            results = [
                line.split(":")[2].strip().lower() for line in text.splitlines() if line.startswith(_GLOBAL)
            ]
        if not results:
            raise ValueError(f"cannot read `{name}`: no test result in it")
        reports += [(name, result) for result in results]
    return collect(reports)
