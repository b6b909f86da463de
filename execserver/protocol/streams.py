"""StreamName: the output streams of a process, under their wire names.

Core, adapters and the codec of notifications share it.
"""

from __future__ import annotations

from enum import StrEnum


class StreamName(StrEnum):
    """Where output came from; a process on a terminal has the one stream `pty`."""

    STDOUT = "stdout"
    STDERR = "stderr"
    PTY = "pty"
