"""Did-you-mean: the known word that is closest to an unknown one.

It owns the measure of closeness and nothing else; it never decides that a word is wrong.
The models and the diagnosis of errors ask it for hints.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

CLOSE_ENOUGH = 0.6
"""difflib's ratio for words of a closed list. One slip in a word of four letters still passes, and unrelated
keys stay silent."""

NEARLY_EQUAL = 0.85
"""difflib's ratio where the unknown word may well be meant: one slip in a word of seven letters."""


def closest(word: str, known: Iterable[str], *, at_least: float = CLOSE_ENOUGH) -> str | None:
    """The most similar known word, or None when nothing is similar; case does not count.

    Args:
        word: the unknown word.
        known: the words that are right.
        at_least: the least similarity, from 0 to 1.
    """
    folded = {candidate.casefold(): candidate for candidate in known}
    found = difflib.get_close_matches(word.casefold(), folded, n=1, cutoff=at_least)
    return folded[found[0]] if found else None


def listed(words: Iterable[str]) -> str:
    """Words for a sentence: `a`, `b` or `c`."""
    *first, last = [f"`{word}`" for word in words] or [""]
    return f"{', '.join(first)} or {last}" if first else last
