"""Where to listen: the text of `--listen` as a value.

Only literal addresses, so that what is bound never depends on a name service. Used by the command line.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from execserver.errors import ListenRefused

DEFAULT_LISTEN: Final = "ws://127.0.0.1:0"
"""A free port, reachable from this machine only."""


@dataclass(frozen=True, slots=True)
class WebSocketAddress:
    """An address to bind; port 0 lets the system choose."""

    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can connect."""
        return ipaddress.ip_address(self.host).is_loopback


@dataclass(frozen=True, slots=True)
class StandardStreams:
    """One connection over stdin and stdout."""


Listen = WebSocketAddress | StandardStreams


def parse_listen(text: str) -> Listen:
    """Read `ws://IP:PORT`, `stdio` or `stdio://`.

    Raises:
        ListenRefused: anything else, host names included.
    """
    if text in {"stdio", "stdio://"}:
        return StandardStreams()
    try:
        parts = urlsplit(text)
        port = parts.port
        host = str(ipaddress.ip_address(parts.hostname or ""))
    except ValueError:
        raise _refusal(text) from None
    is_plain = parts.scheme == "ws" and parts.path in {"", "/"} and not (parts.query or parts.fragment)
    if not is_plain or port is None or parts.username is not None:
        raise _refusal(text)
    return WebSocketAddress(host=host, port=port)


def _refusal(text: str) -> ListenRefused:
    return ListenRefused(
        f"cannot listen on `{text}`: not an address this server knows",
        hint="use ws://IP:PORT with a literal IPv4 or bracketed IPv6 address, or stdio",
    )
