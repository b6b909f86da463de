"""The rules of `wording` hold for the repository, and each pattern sees a planted fault.

The planted texts are put together from halves, so that they do not stand in this file either.
"""

from __future__ import annotations

import pytest

from tests.house.repository import SourceFile, read_text_files
from tests.house.verdict import expect_none
from tests.house.wording import FORBIDDEN, unwelcome

PLANTED = [
    "see /wor" + "k/main/notes.md",
    'path = "/wor' + 'k"',
    "source /roo" + "t/venv311/bin/activate",
    "cd /home/runne" + "r/checkout",
    "as asked in issu" + "e 12",
    "as asked in Issu" + "e #12",
    "fixe" + "s #7",
    "https://pyp" + "i.org/simple",
    "https://file" + "s.pythonhosted.org/packages",
    "https://registr" + "y.npmjs.org/codex",
    "http://deb.debia" + "n.org/debian",
    "pip install --index-ur" + "l=somewhere sandboxctl",
]

HARMLESS = [
    "the workspace /home/me/work/src",
    "the network/ floor",
    "an issue of 3 kinds",
    "RFC 6901 section 4",
    "/root/.ssh/id_ed25519",
    "pip install -c .ci/lock.txt '.[dev]'",
    "clone with -i for an interactive shell, `-i` alone",
    "{workspace}/work/",
]


def test_the_repository_holds_no_unwelcome_words() -> None:
    expect_none(unwelcome(read_text_files()))


@pytest.mark.parametrize("text", PLANTED)
def test_an_unwelcome_word_is_seen(text: str) -> None:
    assert len(list(unwelcome([SourceFile(path="README.md", text=f"first line\n{text}\n")]))) >= 1


@pytest.mark.parametrize("text", HARMLESS)
def test_a_harmless_line_is_left_alone(text: str) -> None:
    assert list(unwelcome([SourceFile(path="README.md", text=text)])) == []


def test_every_pattern_has_a_planted_fault() -> None:
    assert [pattern.pattern for pattern, _ in FORBIDDEN if not any(map(pattern.search, PLANTED))] == []
