"""Sandbox objects as clients send them."""

from __future__ import annotations

from typing import Any, Final

READ_ONLY_SANDBOX: Final[dict[str, Any]] = {
    "permissions": {
        "type": "managed",
        "file_system": {
            "type": "restricted",
            "entries": [{"path": {"type": "special", "value": {"kind": "root"}}, "access": "read"}],
        },
        "network": "restricted",
    },
    "cwd": "file:///tmp",
    "windowsSandboxLevel": "disabled",
}
