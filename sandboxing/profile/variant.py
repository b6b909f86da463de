"""Closed words of the wire: an enum field that names what it was given and what it would have taken.

It only reads words into members; it holds no enum of its own. The models of this package use it.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError


def variant_of(words: type[StrEnum], *, aliases: Mapping[str, StrEnum] | None = None) -> BeforeValidator:
    """A validator that reads one of `words`, or an alias that is accepted on input only.

    The error text is the reference server's, aliases listed last, so it can go on the wire unchanged.
    """
    accepted: dict[str, StrEnum] = {member.value: member for member in words} | dict(aliases or {})
    listed = [f"`{word}`" for word in accepted]
    match listed:
        case [only]:
            expected = only
        case [first, second]:
            expected = f"{first} or {second}"
        case _:
            expected = f"one of {', '.join(listed)}"

    def read(value: object) -> object:
        if not isinstance(value, str) or isinstance(value, words):
            return value
        member = accepted.get(value)
        if member is None:
            raise PydanticCustomError(
                "unknown_variant",
                "unknown variant `{given}`, expected {expected}",
                {"given": value, "expected": expected},
            )
        return member

    return BeforeValidator(read)
