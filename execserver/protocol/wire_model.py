"""WireModel: what all parameter and result types share, and the scalar types of the wire.

Field names are snake case here and camel case on the wire. Unknown members are ignored, `null` means absent,
and no scalar is converted into another. The modules of the method families build on it.
"""

import binascii
import re
from collections.abc import Mapping
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
    model_validator,
)
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

MAX_U64: Final = 2**64 - 1
_NOT_BASE64: Final = re.compile(r"[^A-Za-z0-9+/=]")

Text = StrictStr
Flag = StrictBool
U64 = Annotated[int, Field(strict=True, ge=0, le=MAX_U64)]
"""An unsigned 64-bit integer written as a plain JSON integer; `1.0` is none."""


def decode_base64(text: str) -> bytes:
    """Decode standard base64 with padding, as the protocol writes it.

    Raises:
        ValueError: with the text of the reference's decoder, which clients show.
    """
    try:
        return binascii.a2b_base64(text, strict_mode=True)
    except ValueError:
        wrong = _NOT_BASE64.search(text)
        if wrong is not None:
            offset = len(text[: wrong.start()].encode("utf-8", "replace"))
            symbol = wrong[0].encode("utf-8", "replace")[0]
            reason = f"Invalid symbol {symbol}, offset {offset}."
        else:
            reason = "Invalid padding"
        raise ValueError(reason) from None


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

    @model_validator(mode="before")
    @classmethod
    def _null_means_absent(cls, value: object) -> object:
        if isinstance(value, Mapping) and None in value.values():
            return {name: member for name, member in value.items() if member is not None}
        return value


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
