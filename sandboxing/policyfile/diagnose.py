"""From a failed validation to one PolicyError with a place in the text and a hint.

It owns the wording of structural errors (unknown key, wrong type, unknown word, missing key); it never
accepts or repairs anything. `decode` is its only caller.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from sandboxing.errors import PolicyError
from sandboxing.policyfile.json_positions import JsonDocument, JsonValue, pointer_to, pointer_tokens, shown
from sandboxing.policyfile.spelling import closest, listed

_TAGGED: Mapping[str, str] = {"profile": "type", "file_system": "type", "path": "type", "value": "kind"}
"""Members whose object is one of several models, with the key that tells which. pydantic puts the tag into
the location of an error although it is no step of the JSON pointer."""

_WANTED: Mapping[str, str] = {
    "string_type": "a string",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "tuple_type": "an array",
    "mapping_type": "an object",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
}

_BOUNDS: Mapping[str, tuple[str, str]] = {
    "greater_than": ("more than", "gt"),
    "greater_than_equal": ("at least", "ge"),
    "less_than": ("less than", "lt"),
    "less_than_equal": ("at most", "le"),
}

_WORDS = re.compile(r"['`]([^'`]*)['`]")


def policy_error(document: JsonDocument, failure: ValidationError) -> PolicyError:
    """The most telling error of a validation, as a PolicyError.

    Unknown keys come first, because a misspelt key makes other errors appear; then the order of the text.
    """
    details = _flat(failure)
    unknown = [detail for detail in details if detail["type"] == "unknown_key"]
    errors = [_one(document, detail) for detail in unknown or details]
    return min(errors, key=lambda error: (error.line or 0, error.column or 0))


def _flat(failure: ValidationError) -> list[ErrorDetails]:
    """The errors of a validation; one that a validator met in a validation of its own is opened up."""
    details: list[ErrorDetails] = []
    for detail in failure.errors(include_url=False, include_input=False):
        inner = detail.get("ctx", {}).get("error")
        details.extend(_flat(inner) if isinstance(inner, ValidationError) else [detail])
    return details


def _one(document: JsonDocument, detail: ErrorDetails) -> PolicyError:
    context: Mapping[str, object] = detail.get("ctx") or {}
    location = detail["loc"]
    pointer = _pointer(document, location)
    tag = str(context.get("discriminator")).strip("'")
    match detail["type"]:
        case "unknown_key":
            error = _unknown_key(document, pointer, str(context["key"]), context["known"])
        case "refused":
            error = _refused(document, pointer, location, context)
        case "missing":
            error = _missing(document, pointer, str(location[-1]))
        case "enum" | "literal_error" | "unknown_variant":
            error = _unknown_word(document, pointer, str(context.get("expected")))
        case "union_tag_not_found":
            error = _without_tag(document, pointer, tag)
        case "union_tag_invalid":
            error = _unknown_word(document, pointer_to(pointer, tag), str(context["expected_tags"]))
        case _:
            cause = _cause(document, pointer, detail, context)
            error = document.refuse_value(pointer, f"cannot accept {_named(document, pointer)}: {cause}")
    return error


def _cause(document: JsonDocument, pointer: str, detail: ErrorDetails, context: Mapping[str, object]) -> str:
    kind = detail["type"]
    if kind in _WANTED:
        return f"expected {_WANTED[kind]}, found {_kind_of(document.at(pointer))}"
    if kind in _BOUNDS:
        words, key = _BOUNDS[kind]
        bound = context[key]
        return f"it must be {words} {int(bound) if isinstance(bound, float) else bound}"
    if kind == "string_too_short":
        return "it is empty"
    if kind == "string_too_long":
        return f"it is longer than {context['max_length']} characters"
    if kind == "string_pattern_mismatch":
        return "expected lower-case words joined by `-`"
    text = detail["msg"]
    return text[:1].lower() + text[1:]


def _unknown_key(document: JsonDocument, pointer: str, key: str, known: object) -> PolicyError:
    words = [str(word) for word in known] if isinstance(known, Sequence) else []
    near = closest(key, words)
    hint = f"did you mean `{near}`?" if near is not None else f"the keys here are {listed(words)}"
    return document.refuse_key(
        pointer_to(pointer, key), f"cannot accept key `{shown(key)}`: unknown key", hint=hint
    )


def _refused(
    document: JsonDocument, pointer: str, location: tuple[int | str, ...], context: Mapping[str, object]
) -> PolicyError:
    key = context["key"]
    if isinstance(key, str):
        pointer = pointer_to(pointer, key)
    hint = context["hint"]
    message = f"cannot accept {_named(document, pointer)}: {context['cause']}"
    if location[-1:] == ("[key]",):
        name = shown(pointer_tokens(pointer)[-1])
        message = f"cannot accept key `{name}`: {context['cause']}"
        return document.refuse_key(pointer, message, hint=None if hint is None else str(hint))
    return document.refuse_value(pointer, message, hint=None if hint is None else str(hint))


def _unknown_word(document: JsonDocument, pointer: str, expected: str) -> PolicyError:
    words = _WORDS.findall(expected)
    value = document.at(pointer)
    if not isinstance(value, str):
        cause = f"expected a string, found {_kind_of(value)}"
        return document.refuse_value(pointer, f"cannot accept {_named(document, pointer)}: {cause}")
    near = closest(value, words)
    hint = f"write {listed(words)}" if near is None else f"did you mean `{near}`?"
    cause = f"expected {listed(words)}"
    return document.refuse_value(pointer, f"cannot accept {_named(document, pointer)}: {cause}", hint=hint)


def _without_tag(document: JsonDocument, pointer: str, tag: str) -> PolicyError:
    """The key that tells the models apart is absent, so that no model has looked for misspelt keys yet."""
    value = document.at(pointer)
    near = closest(tag, value) if isinstance(value, dict) else None
    if near is None:
        return _missing(document, pointer, tag)
    message = f"cannot accept key `{shown(near)}`: unknown key"
    return document.refuse_key(pointer_to(pointer, near), message, hint=f"did you mean `{tag}`?")


def _missing(document: JsonDocument, pointer: str, key: str) -> PolicyError:
    message = f"cannot accept {_named(document, pointer)}: key `{key}` is missing"
    return document.refuse_value(pointer, message, hint=f"add `{key}`")


def _named(document: JsonDocument, pointer: str) -> str:
    """How a message calls a value: short strings and numbers by themselves, all else by its key."""
    value = document.at(pointer)
    steps = pointer_tokens(pointer)
    key = next((step for step in reversed(steps) if not step.isdecimal()), None)
    if isinstance(value, str) and value != "":
        return f"{'value' if key is None else shown(key)} `{shown(value)}`"
    if isinstance(value, bool) or value is None or value == "":
        return f"`{'document' if key is None else shown(key)}`"
    if isinstance(value, int | float):
        return f"{'value' if key is None else shown(key)} `{value}`"
    return f"`{shown(pointer) if pointer else 'document'}`"


def _kind_of(value: JsonValue) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case list():
            return "an array"
        case dict():
            return "an object"


def _pointer(document: JsonDocument, location: Sequence[int | str]) -> str:
    """JSON pointer of a pydantic location: tags and key markers are no steps and fall out."""
    pointer = ""
    value = document.value
    tag_follows = isinstance(value, dict) and value.get("type") in location[:1]
    for step in location:
        if tag_follows:
            tag_follows = False
            continue
        if isinstance(value, dict) and isinstance(step, str) and step in value:
            value = value[step]
            tag_follows = isinstance(value, dict) and step in _TAGGED
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            break
        pointer = pointer_to(pointer, step)
    return pointer
