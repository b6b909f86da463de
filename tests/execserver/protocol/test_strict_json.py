"""Strict JSON: equal to the standard reader on what is allowed, and one error for everything else."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execserver.errors import MalformedMessage
from execserver.protocol import strict_json
from execserver.protocol.strict_json import MAX_DEPTH, MAX_VALUES, parse

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]))
)
DOCUMENTS = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner),
    max_leaves=30,
)


@given(
    DOCUMENTS, st.sampled_from([{"ensure_ascii": True}, {"ensure_ascii": False}]), st.sampled_from([None, 1])
)
def test_every_document_within_the_limits_is_read_as_it_was_written(
    document: object, spelling: dict[str, bool], indent: int | None
) -> None:
    text = json.dumps(document, ensure_ascii=spelling["ensure_ascii"], indent=indent)
    assert parse(text) == document
    assert parse(text.encode()) == document


@given(st.binary() | st.text())
def test_any_input_is_read_or_refused_as_malformed(data: bytes | str) -> None:
    try:
        parse(data)
    except MalformedMessage as refusal:
        assert "\n" not in refusal.message


@given(st.text(alphabet='[]{}",:\\ u0dD8'))
def test_any_structural_garbage_is_read_or_refused_as_malformed(text: str) -> None:
    try:
        parse(text)
    except MalformedMessage:
        return


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"a":1,"a":1}', "duplicate JSON object key `a`"),
        ('{"x":[{"a":1,"b":2,"a":3}]}', "duplicate JSON object key `a`"),
        ('{"\\u0061":1,"a":2}', "duplicate JSON object key `a`"),
        ('{"a\\u001b":1,"a\\u001b":2}', "duplicate JSON object key `a\\x1b`"),
        ("NaN", "`NaN` is not a JSON value"),
        ("[-Infinity]", "`-Infinity` is not a JSON value"),
        ("1e999", "number out of range"),
        ("9" * 5000, "number out of range"),
        ('"\\ud800"', "lone surrogate in a string"),
        ('{"\\udfff":1}', "lone surrogate in a string"),
        ('["a", {"b": ["\\uDBFF"]}]', "lone surrogate in a string"),
        ("[" * 129 + "]" * 129, "recursion limit exceeded"),
        ("[" * 1_000_000, "recursion limit exceeded"),
    ],
)
def test_what_the_standard_reader_lets_pass_is_refused(text: str, reason: str) -> None:
    with pytest.raises(MalformedMessage) as refusal:
        parse(text)
    assert refusal.value.message == reason


def test_a_surrogate_pair_is_one_character() -> None:
    assert parse('"\\ud83d\\ude00 \\\\ud800"') == "\U0001f600 \\ud800"


def test_depth_and_number_of_values_are_limited_exactly() -> None:
    assert parse("[" * MAX_DEPTH + "]" * MAX_DEPTH)
    full = "[" + ",".join(["1"] * (MAX_VALUES - 1)) + "]"
    assert parse(full)
    with pytest.raises(MalformedMessage, match="JSON values"):
        parse(full[:-1] + ",1]")


def test_member_names_and_the_length_of_strings_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strict_json, "MAX_VALUES", 500)
    members = ",".join(f'"k{number}":[]' for number in range(499))
    assert parse("{" + members + "}")
    with pytest.raises(MalformedMessage, match="JSON values"):
        parse("{" + members + ',"one more":0}')
    assert parse('"' + "[,{" * 1000 + '"')


@given(st.lists(DOCUMENTS, min_size=1))
def test_the_exact_count_is_the_number_of_values(document: list[object]) -> None:
    def values(value: object) -> int:
        if isinstance(value, dict):
            return 1 + sum(map(values, value.values()))
        if isinstance(value, list):
            return 1 + sum(map(values, value))
        return 1

    text = json.dumps(document)
    count = values(document)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(strict_json, "MAX_VALUES", count)
        strict_json._count_exactly(text)  # noqa: SLF001 - the quick check hides it for small documents
        patch.setattr(strict_json, "MAX_VALUES", count - 1)
        with pytest.raises(MalformedMessage):
            strict_json._count_exactly(text)  # noqa: SLF001 - see above


@pytest.mark.timeout(5)
@pytest.mark.parametrize(
    "text",
    [
        '"' + '\\"' * 4_000_000,
        "[" + '"a",' * 4_000_000,
        "[" + '""' * 4_000_000,
        "\\" * 8_000_000,
        "{" * 200 + '"' * 8_000_000,
    ],
)
def test_hostile_input_takes_no_more_than_linear_time(text: str) -> None:
    with pytest.raises(MalformedMessage):
        parse(text)
