"""Strict JSON text to a value, together with the place of every key and value in the text.

It owns the reading of RFC 8259 text and nothing about policies; it never guesses, repairs or skips.
`decode` reads every document through it, and error messages take their line and column from it.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from sandboxing.errors import PolicyError

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"

MAX_DEPTH = 32
"""Nested arrays and objects. A policy needs eight; the reader recurses once per level, so the bound also
keeps it far from the interpreter's recursion limit."""

MAX_CHARACTERS = 8 * 1024 * 1024
"""Length of a document. Ten thousand entries with a reason each need about three million characters."""

MAX_NUMBER_CHARACTERS = 64
"""Length of a number. No key of a policy needs more than twenty digits, and converting a very long digit
string takes time that grows with its square."""

_SPACE = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_PLAIN_TEXT = re.compile(r'[^"\\\x00-\x1f]*')
_LINE_END = re.compile(r"\r\n|\r|\n")
_BARE_WORD = re.compile(r"[-+\w.]+")
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_CONSTANTS: tuple[tuple[str, bool | None], ...] = (("true", True), ("false", False), ("null", None))
_HEX = frozenset("0123456789abcdefABCDEF")
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Position:
    """A place in a text.

    Attributes:
        line: 1-based; a line ends with LF, CR LF or CR.
        column: 1-based, in characters.
    """

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class JsonDocument:
    """A parsed text that still knows where everything stood.

    Attributes:
        file: the name under which the text was read, for messages.
        text: the text itself.
        value: what the text says.
        key_offsets: RFC 6901 pointer of a member -> character offset of its key.
        value_offsets: RFC 6901 pointer -> character offset of the value; "" is the whole document.
        line_offsets: where the lines begin.
    """

    file: str
    text: str = field(repr=False)
    value: JsonValue = field(repr=False)
    key_offsets: Mapping[str, int] = field(repr=False)
    value_offsets: Mapping[str, int] = field(repr=False)
    line_offsets: tuple[int, ...] = field(repr=False)

    def value_position(self, pointer: str) -> Position:
        """Place of a value; of its nearest existing ancestor when there is no such value."""
        while pointer not in self.value_offsets:
            pointer = pointer.rpartition("/")[0]
        return position_in(self.line_offsets, self.value_offsets[pointer])

    def key_position(self, pointer: str) -> Position:
        """Place of the key of a member; of the value when `pointer` names no member."""
        offset = self.key_offsets.get(pointer)
        return self.value_position(pointer) if offset is None else position_in(self.line_offsets, offset)

    def at(self, pointer: str) -> JsonValue:
        """The value at a pointer; None where there is nothing (use `key_offsets` to tell it from null)."""
        value = self.value
        for token in pointer_tokens(pointer):
            if isinstance(value, dict):
                value = value.get(token)
            elif isinstance(value, list) and token.isdecimal() and int(token) < len(value):
                value = value[int(token)]
            else:
                return None
        return value

    def refuse_value(self, pointer: str, message: str, *, hint: str | None = None) -> PolicyError:
        """An error that points at a value."""
        return self._error(pointer, message, self.value_position(pointer), hint)

    def refuse_key(self, pointer: str, message: str, *, hint: str | None = None) -> PolicyError:
        """An error that points at the key of a member."""
        return self._error(pointer, message, self.key_position(pointer), hint)

    def _error(self, pointer: str, message: str, place: Position, hint: str | None) -> PolicyError:
        return PolicyError(
            message, file=self.file, pointer=pointer, line=place.line, column=place.column, hint=hint
        )


def line_starts(text: str) -> tuple[int, ...]:
    """Character offsets at which the lines of a text begin, in order."""
    return (0, *(end.end() for end in _LINE_END.finditer(text)))


def position_in(starts: tuple[int, ...], offset: int) -> Position:
    """Line and column of a character offset in the text whose lines begin at `starts`."""
    line = bisect_right(starts, offset)
    return Position(line=line, column=offset - starts[line - 1] + 1)


def pointer_to(parent: str, token: str | int) -> str:
    """RFC 6901 pointer of a member or element of `parent`."""
    if isinstance(token, int):
        return f"{parent}/{token}"
    return f"{parent}/{token.replace('~', '~0').replace('/', '~1')}"


def pointer_tokens(pointer: str) -> tuple[str, ...]:
    """The unescaped steps of an RFC 6901 pointer; none for the whole document."""
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:])


def shown(text: str, *, limit: int = 60) -> str:
    """Text made fit for a one-line message: escaped, and cut after `limit` characters."""
    safe = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
    return safe if len(safe) <= limit else f"{safe[:limit]}..."


def read_json(text: str, *, file: str) -> JsonDocument:
    """Read a whole text as one JSON value.

    Stricter than most readers: a repeated key, a number outside RFC 8259 or outside what a float holds, an
    unpaired surrogate, a byte order mark, and anything after the value are errors.

    Args:
        text: the document.
        file: its name for messages.

    Raises:
        PolicyError: with the line and column where reading stopped.
    """
    return _Reader(text=text, file=file).read()


class _Reader:
    """One pass over one text. Each method takes an offset and gives the offset behind what it read."""

    def __init__(self, *, text: str, file: str) -> None:
        self._text = text
        self._file = file
        self._keys: dict[str, int] = {}
        self._values: dict[str, int] = {}

    def read(self) -> JsonDocument:
        if len(self._text) > MAX_CHARACTERS:
            raise self._stop(MAX_CHARACTERS, "", f"longer than {MAX_CHARACTERS} characters")
        if self._text.startswith("\ufeff"):
            raise self._stop(
                offset=0,
                pointer="",
                cause="it starts with a byte order mark",
                hint="save it as UTF-8 without one",
            )
        value, offset = self._value(self._space(offset=0), "", depth=0)
        offset = self._space(offset)
        if offset < len(self._text):
            raise self._stop(offset, "", f"unexpected {self._found(offset)} after the end of the document")
        return JsonDocument(
            file=self._file,
            text=self._text,
            value=value,
            key_offsets=self._keys,
            value_offsets=self._values,
            line_offsets=line_starts(self._text),
        )

    def _value(self, offset: int, pointer: str, depth: int) -> tuple[JsonValue, int]:
        self._values[pointer] = offset
        first = self._text[offset : offset + 1]
        if first == '"':
            return self._string(offset, pointer)
        if first in ("{", "["):
            if depth == MAX_DEPTH:
                raise self._stop(offset, pointer, f"nested deeper than {MAX_DEPTH} levels")
            members = self._object if first == "{" else self._array
            return members(offset, pointer, depth + 1)
        return self._scalar(offset, pointer)

    def _object(self, offset: int, pointer: str, depth: int) -> tuple[JsonValue, int]:
        result: dict[str, JsonValue] = {}
        offset = self._space(offset + 1)
        if self._text.startswith("}", offset):
            return result, offset + 1
        while True:
            offset = self._member(offset, pointer, depth, result)
            if self._text.startswith("}", offset):
                return result, offset + 1
            offset = self._comma(offset, pointer, "}")

    def _member(self, offset: int, pointer: str, depth: int, into: dict[str, JsonValue]) -> int:
        if not self._text.startswith('"', offset):
            raise self._stop(offset, pointer, f"expected a key in double quotes, found {self._found(offset)}")
        start = offset
        key, offset = self._string(offset, pointer)
        member = pointer_to(pointer, key)
        if key in into:
            line = position_in(line_starts(self._text), self._keys[member]).line
            message = f"cannot accept key `{shown(key)}`: repeated key"
            raise self._error(start, member, message, hint=f"line {line} has it already; keep one of the two")
        self._keys[member] = start
        offset = self._space(offset)
        if not self._text.startswith(":", offset):
            raise self._stop(offset, member, f"expected `:` behind the key, found {self._found(offset)}")
        into[key], offset = self._value(self._space(offset + 1), member, depth)
        return self._space(offset)

    def _array(self, offset: int, pointer: str, depth: int) -> tuple[JsonValue, int]:
        result: list[JsonValue] = []
        offset = self._space(offset + 1)
        if self._text.startswith("]", offset):
            return result, offset + 1
        while True:
            item, offset = self._value(offset, pointer_to(pointer, len(result)), depth)
            result.append(item)
            offset = self._space(offset)
            if self._text.startswith("]", offset):
                return result, offset + 1
            offset = self._comma(offset, pointer, "]")

    def _comma(self, offset: int, pointer: str, closing: str) -> int:
        if not self._text.startswith(",", offset):
            cause = f"expected `,` or `{closing}`, found {self._found(offset)}"
            raise self._stop(offset, pointer, cause)
        behind = self._space(offset + 1)
        if self._text.startswith(closing, behind):
            raise self._stop(offset, pointer, f"trailing comma before `{closing}`", hint="remove the comma")
        return behind

    def _string(self, offset: int, pointer: str) -> tuple[str, int]:
        start = offset
        pieces: list[str] = []
        offset += 1
        while True:
            end = _match_end(_PLAIN_TEXT, self._text, offset)
            pieces.append(self._text[offset:end])
            stop = self._text[end : end + 1]
            if stop == '"':
                return self._checked("".join(pieces), start, pointer), end + 1
            if stop == "":
                raise self._stop(start, pointer, "the string that starts here has no closing quote")
            if stop != "\\":
                raise self._stop(end, pointer, f"control character {self._found(end)} inside a string")
            piece, offset = self._escape(end, pointer)
            pieces.append(piece)

    def _checked(self, value: str, start: int, pointer: str) -> str:
        if _SURROGATE.search(value):
            raise self._stop(start, pointer, "the string holds half of a surrogate pair")
        return value

    def _escape(self, offset: int, pointer: str) -> tuple[str, int]:
        kind = self._text[offset + 1 : offset + 2]
        if kind in _ESCAPES:
            return _ESCAPES[kind], offset + 2
        if kind != "u":
            raise self._stop(offset, pointer, f"unknown escape `{shown(self._text[offset : offset + 2])}`")
        unit = self._hex(offset, pointer)
        follows = offset + 6
        if 0xD800 <= unit < 0xDC00 and self._text.startswith("\\u", follows):
            low = self._hex(follows, pointer)
            if 0xDC00 <= low < 0xE000:
                return chr(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00)), follows + 6
        return chr(unit), follows

    def _hex(self, offset: int, pointer: str) -> int:
        digits = self._text[offset + 2 : offset + 6]
        if len(digits) != 4 or not _HEX.issuperset(digits):
            raise self._stop(offset, pointer, "`\\u` needs four hexadecimal digits")
        return int(digits, 16)

    def _scalar(self, offset: int, pointer: str) -> tuple[JsonValue, int]:
        word = _BARE_WORD.match(self._text, offset)
        if word is None:
            raise self._stop(offset, pointer, f"expected a value, found {self._found(offset)}")
        for spelling, constant in _CONSTANTS:
            if word.group() == spelling:
                return constant, word.end()
        return self._number(word.group(), offset, pointer), word.end()

    def _number(self, word: str, offset: int, pointer: str) -> int | float:
        number = _NUMBER.fullmatch(word)
        if number is None:
            raise self._stop(offset, pointer, f"`{shown(word)}` is neither a value nor a number of JSON")
        if len(word) > MAX_NUMBER_CHARACTERS:
            raise self._stop(offset, pointer, f"a number of more than {MAX_NUMBER_CHARACTERS} characters")
        if number.group(1) is None and number.group(2) is None:
            return int(word)
        value = float(word)
        if math.isinf(value):
            raise self._stop(offset, pointer, f"the number `{word}` is too large")
        return value

    def _space(self, offset: int) -> int:
        return _match_end(_SPACE, self._text, offset)

    def _found(self, offset: int) -> str:
        character = self._text[offset : offset + 1]
        return f"`{shown(character)}`" if character else "the end of the document"

    def _stop(self, offset: int, pointer: str, cause: str, *, hint: str | None = None) -> PolicyError:
        return self._error(offset, pointer, f"cannot read `{shown(self._file)}`: {cause}", hint=hint)

    def _error(self, offset: int, pointer: str, message: str, *, hint: str | None) -> PolicyError:
        place = position_in(line_starts(self._text), offset)
        return PolicyError(
            message, file=self._file, pointer=pointer, line=place.line, column=place.column, hint=hint
        )


def _match_end(pattern: re.Pattern[str], text: str, offset: int) -> int:
    """End of a pattern that can match nothing, and so always matches."""
    found = pattern.match(text, offset)
    return offset if found is None else found.end()
