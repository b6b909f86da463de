"""Strict JSON: one document in, plain values out, within the protocol's limits.

Refuses what the standard library lets pass: repeated member names, NaN and infinities, lone surrogates, too
many values and too deep nesting. It must never raise anything but `MalformedMessage`. The codec uses it.
"""

from __future__ import annotations

import json
import math
import re
from typing import Final, NoReturn

from execserver.errors import MalformedMessage

MAX_VALUES: Final = 262_144
"""JSON values in one message, containers and scalars; member names do not count (reference: 262 144)."""

MAX_DEPTH: Final = 127
"""Nested containers (measured on the reference: 127 are read, 128 are not)."""

# A string is one token, even when it is not terminated: otherwise the scan would start again behind each
# escaped quote of an unterminated one, which takes quadratic time.
_TOKENS: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|[\[\]{},]', re.DOTALL)
_EMPTY: Final = re.compile(r"[\[{]\s*[\]}]")
_SURROGATE_ESCAPE: Final = re.compile(r"\\u[dD][89a-fA-F]")


def parse(document: str | bytes) -> object:
    """Read one JSON document.

    Raises:
        MalformedMessage: it is not JSON, not UTF-8, ambiguous, or over a limit.
    """
    text = _decoded(document)
    _check_size(text)
    try:
        value: object = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        reason = _lower_first(error.msg).removesuffix(" at")
        raise MalformedMessage(f"{reason} at line {error.lineno} column {error.colno}") from None
    except RecursionError:
        raise MalformedMessage("recursion limit exceeded") from None
    except ValueError:
        # The one other thing the reader complains about is an integer of several thousand digits.
        raise MalformedMessage("number out of range") from None
    if _SURROGATE_ESCAPE.search(text) is not None:
        _refuse_lone_surrogates(value)
    return value


def _decoded(document: str | bytes) -> str:
    if isinstance(document, str):
        return document
    try:
        return document.decode("utf-8")
    except UnicodeDecodeError as error:
        raise MalformedMessage(f"invalid UTF-8 at byte {error.start}") from None


def _check_size(text: str) -> None:
    """Bound the number of values and the depth before anything is built.

    Counting every bracket and comma, also those inside strings, can only overestimate; a message that stays
    below the limits even so needs no closer look, and nearly all do.
    """
    opened = text.count("[") + text.count("{")
    if opened <= MAX_DEPTH and 1 + opened + text.count(",") <= MAX_VALUES:
        return
    _count_exactly(text)


def _count_exactly(text: str) -> None:
    # A container that is not empty holds one value more than it has commas.
    values = 1
    strings = 0
    depth = 0
    for token in _TOKENS.finditer(text):
        mark = text[token.start()]
        if mark == '"':
            # Names are strings too, so there may be twice as many strings as values, and no more.
            strings += 1
        elif mark == ",":
            values += 1
        elif mark in "[{":
            depth += 1
            if _EMPTY.match(text, token.start()) is None:
                values += 1
        else:
            depth -= 1
        if values > MAX_VALUES or strings > 2 * MAX_VALUES:
            raise MalformedMessage(f"message holds more than {MAX_VALUES} JSON values")
        if depth > MAX_DEPTH:
            raise MalformedMessage("recursion limit exceeded")


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) != len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise MalformedMessage(f"duplicate JSON object key `{_shortened(name)}`")
            seen.add(name)
    return members


def _constant(name: str) -> NoReturn:
    raise MalformedMessage(f"`{name}` is not a JSON value")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise MalformedMessage("number out of range")
    return number


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_object, parse_constant=_constant, parse_float=_finite, strict=True
)


def _refuse_lone_surrogates(value: object) -> None:
    """Half a surrogate pair cannot be sent back, nor be part of a path, an argument or a name."""
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            if not _is_encodable(item):
                raise MalformedMessage("lone surrogate in a string")
        elif isinstance(item, list):
            pending.extend(item)
        elif isinstance(item, dict):
            pending.extend(item.keys())
            pending.extend(item.values())


def _is_encodable(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _shortened(name: str) -> str:
    limit = 64
    printable = ascii(name)[1:-1]
    return printable if len(printable) <= limit else printable[:limit] + "..."


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:]
