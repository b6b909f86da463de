"""The codec: envelopes in, spliced answers out."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execserver.errors import FailureKind, MalformedMessage, RequestFailed
from execserver.protocol.codec import decode, encode_error, encode_notification, encode_result
from execserver.protocol.envelope import Answer, Notification, Request

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
IDS = TEXT | st.integers(-(2**63), 2**63 - 1)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner),
    max_leaves=20,
)


@given(st.binary() | st.text())
def test_arbitrary_input_raises_nothing_but_malformed(data: bytes | str) -> None:
    try:
        decode(data)
    except MalformedMessage:
        return


@given(st.dictionaries(st.sampled_from(["id", "method", "params", "result", "error", "trace"]), JSON))
def test_any_object_is_a_message_or_malformed(value: dict[str, object]) -> None:
    try:
        message = decode(json.dumps(value))
    except MalformedMessage:
        return
    match message:
        case Request(id=request_id, method=method, params=params):
            assert (request_id, method, params) == (value["id"], value["method"], value.get("params"))
        case Notification(method=method):
            assert method == value["method"]
            assert "id" not in value
        case Answer(id=request_id, failed=failed):
            assert request_id == value["id"]
            assert failed == ("result" not in value)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{}", "missing field `error`"),
        ('{"id":2}', "missing field `error`"),
        ('{"error":{"code":1,"message":"x"}}', "missing field `id`"),
        ('{"error":{"code":9223372036854775808,"message":"x"},"id":1}', "invalid or missing field `code`"),
        ('{"id":1,"error":5}', "invalid type: number, expected a map"),
        ('{"result":1}', "missing field `error`"),
        ("[]", "expected a JSON-RPC object"),
        ('{"method":5}', "invalid type: number, expected a string"),
        ('{"method":"x","trace":{"tracestate":1}}', "invalid type: number, expected a string"),
    ],
)
def test_the_odd_texts_of_the_reference_are_kept(text: str, reason: str) -> None:
    with pytest.raises(MalformedMessage) as refusal:
        decode(text)
    assert refusal.value.message == reason


@given(IDS, JSON)
def test_a_result_is_the_object_it_says(request_id: int | str, result: object) -> None:
    encoded = encode_result(request_id, json.dumps(result).encode())
    assert json.loads(encoded) == {"id": request_id, "result": result}


@given(IDS, st.text(), st.sampled_from([None, *FailureKind]))
def test_an_error_is_json_whatever_its_text_holds(
    request_id: int | str, message: str, kind: FailureKind | None
) -> None:
    value = json.loads(encode_error(request_id, RequestFailed(message, rpc_code=-32603, kind=kind)))
    assert value["id"] == request_id
    assert value["error"].get("data") == (None if kind is None else {"kind": kind.value})
    assert value["error"]["message"] == message.encode("utf-8", "replace").decode()
    assert "jsonrpc" not in value


def test_a_notification_has_a_method_and_parameters_and_no_more() -> None:
    assert encode_notification("m", b'{"a":1}') == b'{"method":"m","params":{"a":1}}'
