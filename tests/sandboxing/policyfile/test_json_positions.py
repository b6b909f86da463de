"""The strict reader: what it accepts, what it refuses, and where it says the fault is."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sandboxing.errors import PolicyError
from sandboxing.policyfile.json_positions import (
    MAX_CHARACTERS,
    MAX_DEPTH,
    MAX_NUMBER_CHARACTERS,
    JsonDocument,
    JsonValue,
    pointer_to,
    pointer_tokens,
    read_json,
    shown,
)

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


def refusal(text: str) -> PolicyError:
    with pytest.raises(PolicyError) as caught:
        read_json(text, file="p.json")
    return caught.value


def pointers(value: JsonValue, pointer: str = "") -> Iterator[tuple[str, JsonValue]]:
    yield pointer, value
    if isinstance(value, dict):
        for key, member in value.items():
            yield from pointers(member, pointer_to(pointer, key))
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from pointers(item, pointer_to(pointer, index))


@given(value=VALUES, indent=st.sampled_from([None, 0, 2, "\t"]), ascii_only=st.booleans())
def test_reads_what_the_standard_writer_writes(
    value: JsonValue, indent: int | str | None, *, ascii_only: bool
) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    assert read_json(text, file="p").value == json.loads(text)


@given(VALUES, st.sampled_from([None, 2]))
def test_every_value_and_key_is_found_where_it_stands(value: JsonValue, indent: int | None) -> None:
    text = json.dumps(value, indent=indent)
    document = read_json(text, file="p")
    lines = text.split("\n")
    for pointer, member in pointers(value):
        place = document.value_position(pointer)
        rest = "\n".join([lines[place.line - 1][place.column - 1 :], *lines[place.line :]])
        assert json.JSONDecoder().raw_decode(rest)[0] == member
        assert document.at(pointer) == member
    for pointer in document.key_offsets:
        place = document.key_position(pointer)
        rest = lines[place.line - 1][place.column - 1 :]
        assert json.JSONDecoder().raw_decode(rest)[0] == pointer_tokens(pointer)[-1]


@given(st.text(max_size=40) | st.text('{}[]",:\\u0123456789.eE+-truefalsn \n\r\t', max_size=40))
@example("\ud800")
@example('"\ud800"')
@example("[" * 5000)
@example("-")
@example('{"a":1,}')
def test_any_text_is_read_or_refused_with_a_place_inside_it(text: str) -> None:
    try:
        document = read_json(text, file="p.json")
    except PolicyError as error:
        lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        assert error.line is not None
        assert error.column is not None
        assert 1 <= error.line <= len(lines)
        assert 1 <= error.column <= len(lines[error.line - 1]) + 1
        assert error.message.isprintable()
    else:
        assert json.loads(text) == document.value


@given(st.lists(TEXT, max_size=4))
def test_pointers_are_escaped_and_unescaped(keys: list[str]) -> None:
    pointer = ""
    for key in keys:
        pointer = pointer_to(pointer, key)
    assert pointer_tokens(pointer) == tuple(keys)


@given(depth=st.integers(0, MAX_DEPTH - 1), lists=st.booleans())
def test_repeated_keys_are_found_at_any_depth(depth: int, *, lists: bool) -> None:
    opening, closing = ("[", "]") if lists else ('{"k":', "}")
    text = opening * depth + '{"a": 1,\n "b": 2,\n  "a": 3}' + closing * depth
    error = refusal(text)
    assert (error.line, error.column) == (3, 3)
    assert error.message == "cannot accept key `a`: repeated key"
    assert error.hint == "line 1 has it already; keep one of the two"
    assert error.pointer == ("/0" if lists else "/k") * depth + "/a"


def test_keys_that_differ_only_in_spelling_of_escapes_are_the_same_key() -> None:
    assert refusal('{"a": 1, "\\u0061": 2}').column == 10


@pytest.mark.parametrize(
    ("text", "line", "column", "words"),
    [
        ("", 1, 1, "found the end of the document"),
        ("  ", 1, 3, "found the end of the document"),
        ("{", 1, 2, "expected a key in double quotes, found the end"),
        ('{"a" 1}', 1, 6, "expected `:` behind the key, found `1`"),
        ('{"a": 1 "b": 2}', 1, 9, 'expected `,` or `}`, found `"`'),
        ('{"a": 1,}', 1, 8, "trailing comma before `}`"),
        ("[1,\n2,\n]", 2, 2, "trailing comma before `]`"),
        ("[1 2]", 1, 4, "expected `,` or `]`, found `2`"),
        ("{a: 1}", 1, 2, "expected a key in double quotes, found `a`"),
        ("{'a': 1}", 1, 2, "expected a key in double quotes, found `'`"),
        ("[NaN]", 1, 2, "`NaN` is neither a value nor a number of JSON"),
        ("[-Infinity]", 1, 2, "`-Infinity` is neither"),
        ("[Infinity]", 1, 2, "`Infinity` is neither"),
        ("[True]", 1, 2, "`True` is neither"),
        ("[01]", 1, 2, "`01` is neither"),
        ("[1.]", 1, 2, "`1.` is neither"),
        ("[.5]", 1, 2, "`.5` is neither"),
        ("[+1]", 1, 2, "`+1` is neither"),
        ("[0x10]", 1, 2, "`0x10` is neither"),
        ("[1e999]", 1, 2, "too large"),
        ("[-1e999]", 1, 2, "too large"),
        (f"[{'9' * (MAX_NUMBER_CHARACTERS + 1)}]", 1, 2, "a number of more than"),
        ('["a', 1, 2, "no closing quote"),
        ('["a\\"', 1, 2, "no closing quote"),
        ('["a\nb"]', 1, 4, "control character `\\n` inside a string"),
        ('["\t"]', 1, 3, "control character `\\t` inside a string"),
        ('["\\x"]', 1, 3, "unknown escape `\\x`"),
        ('["\\u12g4"]', 1, 3, "four hexadecimal digits"),
        ('["\\u+123"]', 1, 3, "four hexadecimal digits"),
        ('["\\ud800"]', 1, 2, "half of a surrogate pair"),
        ('["\\udc00\\ud800"]', 1, 2, "half of a surrogate pair"),
        ("1 2", 1, 3, "unexpected `2` after the end"),
        ("{} // c", 1, 4, "unexpected `/` after the end"),
        ("// c\n{}", 1, 1, "expected a value, found `/`"),
        ("\ufeff{}", 1, 1, "byte order mark"),
        ("[\u00a01]", 1, 2, "expected a value, found"),
        ("[\u0661]", 1, 2, "neither a value nor a number"),
    ],
)
def test_refusals_point_at_the_offending_character(text: str, line: int, column: int, words: str) -> None:
    error = refusal(text)
    assert (error.line, error.column) == (line, column)
    assert words in error.message
    assert error.message.startswith("cannot read `p.json`: ")
    assert error.position == f"p.json:{line}:{column}"


def test_columns_count_characters_and_not_bytes() -> None:
    assert refusal('["\u00e4\U0001f600", x]').column == 8


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_end_in_every_usual_way(end: str) -> None:
    error = refusal(f'{{{end}"a": 1,{end}  x{end}}}')
    assert (error.line, error.column) == (3, 3)


def test_nesting_is_bounded_and_the_bound_itself_is_allowed() -> None:
    assert read_json("[" * MAX_DEPTH + "]" * MAX_DEPTH, file="p").value is not None
    error = refusal("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1))
    assert error.column == MAX_DEPTH + 1


def test_length_is_bounded() -> None:
    assert "longer than" in refusal(" " * (MAX_CHARACTERS + 1)).message


def test_surrogate_pairs_in_escapes_are_one_character() -> None:
    assert read_json('"\\ud83d\\ude00"', file="p").value == "\U0001f600"


def test_a_missing_pointer_is_placed_at_its_nearest_ancestor() -> None:
    document: JsonDocument = read_json('{"a": [1, 2]}', file="p")
    assert document.value_position("/a/7/b").column == 7
    assert document.key_position("/b").column == 1
    assert document.at("/a/7") is None


@given(st.text(max_size=100))
def test_shown_text_fits_a_message(text: str) -> None:
    assert shown(text).isprintable()
    assert len(shown(text)) <= 63
