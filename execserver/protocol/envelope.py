"""Envelopes: the four shapes of a message, without the `jsonrpc` member.

Plain values that the codec makes and the server consumes; nothing here reads or writes bytes.
"""

from __future__ import annotations

from dataclasses import dataclass

RequestId = int | str
"""A string, or an integer in the signed 64-bit range; it is echoed with its own JSON type."""


@dataclass(frozen=True, slots=True)
class Request:
    """A call that wants an answer under its id."""

    id: RequestId
    method: str
    params: object


@dataclass(frozen=True, slots=True)
class Notification:
    """A message that is never answered."""

    method: str
    params: object


@dataclass(frozen=True, slots=True)
class Answer:
    """The peer's answer to a request of ours.

    Attributes:
        id: the id of our request.
        failed: whether it carries an error instead of a result.
    """

    id: RequestId
    failed: bool


Message = Request | Notification | Answer
