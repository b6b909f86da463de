"""The codec: bytes to messages, and answers to bytes.

Decoding is strict and raises nothing but `MalformedMessage`. Encoding splices finished JSON pieces, because
answers and output chunks are the hot path. The connection uses both; neither knows which methods exist.
"""

from __future__ import annotations

from typing import Final, TypeGuard

import orjson

from execserver.errors import MalformedMessage, RequestFailed
from execserver.protocol.envelope import Answer, Message, Notification, Request, RequestId
from execserver.protocol.strict_json import parse

_I64: Final = range(-(2**63), 2**63)


def decode(document: str | bytes) -> Message:
    """Read one message.

    Raises:
        MalformedMessage: the bytes are not one well-formed message within the limits.
    """
    value = parse(document)
    if not isinstance(value, dict):
        raise MalformedMessage("expected a JSON-RPC object")
    if "method" in value:
        return _call(value)
    if "result" in value and "id" in value:
        return Answer(id=_request_id(value["id"]), failed=False)
    return _failure(value)


def _call(value: dict[str, object]) -> Request | Notification:
    method = value["method"]
    if not isinstance(method, str):
        raise MalformedMessage(f"invalid type: {unexpected(method)}, expected a string")
    _check_trace(value.get("trace"))
    params = value.get("params")
    if "id" in value:
        return Request(id=_request_id(value["id"]), method=method, params=params)
    return Notification(method=method, params=params)


def _failure(value: dict[str, object]) -> Answer:
    for member in ("error", "id"):
        if member not in value:
            raise MalformedMessage(f"missing field `{member}`")
    error = value["error"]
    if not isinstance(error, dict):
        raise MalformedMessage(f"invalid type: {unexpected(error)}, expected a map")
    code, message = error.get("code"), error.get("message")
    if not _is_i64(code):
        raise MalformedMessage("invalid or missing field `code`")
    if not isinstance(message, str):
        raise MalformedMessage("invalid or missing field `message`")
    return Answer(id=_request_id(value["id"]), failed=True)


def _request_id(value: object) -> RequestId:
    if isinstance(value, str):
        return value
    if _is_i64(value):
        return value
    raise MalformedMessage("request id is neither a string nor a 64-bit integer")


def _is_i64(value: object) -> TypeGuard[int]:
    # bool is an int in Python and is not one in JSON.
    return isinstance(value, int) and not isinstance(value, bool) and value in _I64


def _check_trace(trace: object) -> None:
    if trace is None:
        return
    if not isinstance(trace, dict):
        raise MalformedMessage(f"invalid type: {unexpected(trace)}, expected a trace context")
    for member in ("traceparent", "tracestate"):
        text = trace.get(member)
        if text is not None and not isinstance(text, str):
            raise MalformedMessage(f"invalid type: {unexpected(text)}, expected a string")


def unexpected(value: object) -> str:
    """A value of a wrong type, in the words of the reference's error texts."""
    match value:
        case None:
            return "null"
        case bool():
            return f"boolean `{str(value).lower()}`"
        case int() | float():
            return "number"
        case str():
            return f"string {orjson.dumps(value).decode()}"
        case list():
            return "sequence"
        case _:
            return "map"


def encode_result(request_id: RequestId, result: bytes) -> bytes:
    """A result message; `result` is a finished JSON value."""
    return b'{"id":%b,"result":%b}' % (orjson.dumps(request_id), result)


def encode_error(request_id: RequestId, error: RequestFailed) -> bytes:
    """An error message."""
    body: dict[str, object] = {"code": int(error.rpc_code)}
    if error.kind is not None:
        body["data"] = {"kind": error.kind.value}
    body["message"] = _sendable(error.message)
    return b'{"error":%b,"id":%b}' % (orjson.dumps(body), orjson.dumps(request_id))


def encode_notification(method: str, params: bytes) -> bytes:
    """A notification; `params` is a finished JSON object."""
    return b'{"method":%b,"params":%b}' % (orjson.dumps(method), params)


def _sendable(text: str) -> str:
    """File names that are not UTF-8 carry surrogates, which JSON cannot."""
    return text.encode("utf-8", "replace").decode("utf-8")
