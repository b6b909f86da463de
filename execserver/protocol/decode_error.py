"""The text of a decoding failure, in the words the reference server uses.

Clients show these texts and some compare them, so the validator's own wording stays inside. It picks one
error of many: the first wrong value, and a missing member only when every member present is right.
"""

from typing import Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from execserver.protocol.codec import unexpected

_EXPECTED: Final = {
    "string_type": "a string",
    "bytes_type": "a string",
    "bool_type": "a boolean",
    "dict_type": "a map",
    "mapping_type": "a map",
    "model_type": "a map",
    "model_attributes_type": "a map",
    "dataclass_type": "a map",
    "list_type": "a sequence",
    "tuple_type": "a sequence",
    "set_type": "a sequence",
    "uuid_type": "a string",
    "enum": "string or map",
    "literal_error": "string or map",
}
_NUMBER_ERRORS: Final = frozenset(
    {
        "int_type",
        "int_parsing",
        "int_from_float",
        "int_parsing_size",
        "greater_than",
        "greater_than_equal",
        "less_than",
        "less_than_equal",
    }
)


def describe(error: ValidationError) -> str:
    """One line for the peer; holds nothing but the peer's own names and values."""
    details = error.errors(include_url=False)
    # A path may also be an instance already; that branch never says anything about JSON.
    wrong = [d for d in details if not _is_missing_here(d) and d["type"] != "is_instance_of"]
    return _text((wrong or details)[0])


def _is_missing_here(detail: ErrorDetails) -> bool:
    return detail["type"] == "missing" and len(detail["loc"]) == 1


def _text(detail: ErrorDetails) -> str:
    kind = detail["type"]
    if kind == "missing":
        return f"missing field `{detail['loc'][-1]}`"
    if kind == "union_tag_not_found":
        return f"missing field `{str(_context(detail, 'discriminator')).strip(chr(39))}`"
    if kind in {"enum", "literal_error", "union_tag_invalid"}:
        return _unknown_variant(detail)
    if kind in _NUMBER_ERRORS:
        return _wrong_number(detail)
    if kind in _EXPECTED:
        return f"invalid type: {unexpected(detail['input'])}, expected {_EXPECTED[kind]}"
    return detail["msg"].removeprefix("Value error, ").removeprefix("Input should be a valid UUID, ")


def _wrong_number(detail: ErrorDetails) -> str:
    given = detail["input"]
    if isinstance(given, bool) or not isinstance(given, int | float):
        return f"invalid type: {unexpected(given)}, expected u64"
    if _context(detail, "ge") == 1 and isinstance(given, int):
        return f"invalid value: integer `{given}`, expected a nonzero usize"
    return "invalid number"


def _unknown_variant(detail: ErrorDetails) -> str:
    if detail["type"] == "union_tag_invalid":
        given: object = _context(detail, "tag")
        expected = str(_context(detail, "expected_tags")).replace("'", "`")
    else:
        given = detail["input"]
        if not isinstance(given, str):
            return f"invalid type: {unexpected(given)}, expected {_EXPECTED[detail['type']]}"
        expected = str(_context(detail, "expected")).replace("'", "`").replace(" or ", ", ")
    many = expected.count("`") > 2 * len(("a", "b"))
    if not many:
        return f"unknown variant `{given}`, expected {expected.replace(', ', ' or ')}"
    return f"unknown variant `{given}`, expected one of {expected}"


def _context(detail: ErrorDetails, name: str) -> object:
    return detail.get("ctx", {}).get(name, "")
