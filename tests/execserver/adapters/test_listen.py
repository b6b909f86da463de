"""Listen addresses: literal ones only."""

from __future__ import annotations

import pytest

from execserver.adapters.listen import Listen, StandardStreams, WebSocketAddress, parse_listen
from execserver.errors import ListenRefused


@pytest.mark.parametrize(
    ("text", "listen"),
    [
        ("stdio", StandardStreams()),
        ("stdio://", StandardStreams()),
        ("ws://127.0.0.1:0", WebSocketAddress(host="127.0.0.1", port=0)),
        ("ws://0.0.0.0:9000/", WebSocketAddress(host="0.0.0.0", port=9000)),  # noqa: S104 - parsed, not bound
        ("ws://[::1]:80", WebSocketAddress(host="::1", port=80)),
    ],
)
def test_addresses_are_read(text: str, listen: Listen) -> None:
    assert parse_listen(text) == listen


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ws://localhost:0",
        "wss://127.0.0.1:0",
        "http://127.0.0.1:0",
        "ws://127.0.0.1",
        "ws://127.0.0.1:99999",
        "ws://127.0.0.1:0/path",
        "ws://127.0.0.1:0?x=1",
        "ws://user@127.0.0.1:0",
        "ws://[::1",
        "127.0.0.1:0",
    ],
)
def test_anything_else_is_refused_by_name(text: str) -> None:
    with pytest.raises(ListenRefused) as refusal:
        parse_listen(text)
    assert refusal.value.message.startswith(f"cannot listen on `{text}`")
    assert refusal.value.hint


def test_loopback_is_known_from_the_rest() -> None:
    assert WebSocketAddress(host="::1", port=0).is_loopback
    assert not WebSocketAddress(host="0.0.0.0", port=0).is_loopback  # noqa: S104 - asked about, not bound
