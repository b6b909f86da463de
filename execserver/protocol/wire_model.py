"""WireModel: what all parameter and result types share, and the scalar types of the wire.

Field names are snake case here and camel case on the wire. Unknown members are ignored, `null` means absent
where the protocol says so, and no scalar is converted into another. The method families build on it.
"""

import binascii
import re
from typing import Annotated, Final

import orjson
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    StrictBool,
    StrictStr,
)
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

MAX_U64: Final = 2**64 - 1
_BASE64_SYMBOLS: Final = re.compile(rb"[A-Za-z0-9+/]*")

Text = StrictStr
Flag = StrictBool
U64 = Annotated[int, Field(strict=True, ge=0, le=MAX_U64)]
"""An unsigned 64-bit integer written as a plain JSON integer; `1.0` is none."""


def null_is(*, default: object) -> BeforeValidator:
    """A validator for members whose `null` means the default; for all others it is a wrong type."""
    return BeforeValidator(lambda value: default if value is None else value)


def decode_base64(text: str) -> bytes:
    """Decode standard base64 with padding, as the protocol writes it.

    Raises:
        ValueError: with the text of the reference's decoder, which clients show.
    """
    try:
        data = binascii.a2b_base64(text, strict_mode=True)
    except ValueError:
        raise ValueError(_base64_fault(text.encode())) from None
    # The standard library does not mind surplus bits and surplus padding; only one spelling is right.
    rest = len(data) % 3
    if len(text) % 4 != 0 or (rest and not text.endswith(_text_of(data[-rest:]))):
        raise ValueError(_base64_fault(text.encode()))
    return data


def _base64_fault(text: bytes) -> str:
    if len(text) % 4 == 1 and text[-1:] != b"=" and not _BASE64_SYMBOLS.fullmatch(text[-1:]):
        # Looked at first, since it is so often a line feed.
        return f"Invalid symbol {text[-1]}, offset {len(text) - 1}."
    symbols = _BASE64_SYMBOLS.match(text)
    end = 0 if symbols is None else symbols.end()
    last_group = max(len(text) - 1, 0) // 4 * 4
    if end < len(text) and (end < last_group + 2 or text[end:].strip(b"=")):
        return f"Invalid symbol {text[end]}, offset {end}."
    if end == last_group + 1:
        return f"Invalid input length: {len(text)}"
    if len(text) % 4 != 0:
        return "Invalid padding"
    return f"Invalid last symbol {text[end - 1]}, offset {end - 1}."


def _bytes_of(value: object) -> object:
    if not isinstance(value, str):
        # Left to the check for `bytes` below it, which words the refusal.
        return value
    try:
        return decode_base64(value)
    except ValueError as error:
        raise PydanticCustomError("base64", "{reason}", {"reason": str(error)}) from None


def encode_base64(data: bytes) -> bytes:
    """Standard base64 with padding, as ASCII bytes ready to be spliced into JSON."""
    return binascii.b2a_base64(data, newline=False)


def _text_of(data: bytes) -> str:
    return encode_base64(data).decode("ascii")


Base64 = Annotated[
    bytes,
    BeforeValidator(_bytes_of),
    Field(strict=True),
    # pydantic's own base64 is the URL-safe alphabet.
    PlainSerializer(_text_of, return_type=str),
]
"""Bytes that travel as standard base64 with padding."""


class WireModel(BaseModel):
    """Base of every parameter and result type."""

    model_config = ConfigDict(
        frozen=True,
        extra="ignore",
        alias_generator=to_camel,
        populate_by_name=True,
        # What comes from JSON is never an instance already.
        revalidate_instances="never",
    )


class Result(WireModel):
    """Base of the result types."""

    def encoded(self) -> bytes:
        """The finished JSON value; members that are None are left out."""
        return orjson.dumps(self.model_dump(mode="json", by_alias=True, exclude_none=True))


class NullableResult(Result):
    """A result type whose members are always all present, as `null` when there is nothing to say."""

    def encoded(self) -> bytes:
        """The finished JSON value, with every member."""
        return orjson.dumps(self.model_dump(mode="json", by_alias=True))


class Empty(Result):
    """The result `{}`."""

    def encoded(self) -> bytes:
        """The finished JSON value."""
        return b"{}"
