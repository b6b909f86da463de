"""Command and LaunchSpec: what is to be run, and how, once a plan exists.

Both are plain data that survives a trip to another process as JSON. They hold no descriptors; those
travel beside them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TerminalSize:
    """A terminal's size in character cells."""

    rows: int
    columns: int


@dataclass(frozen=True, slots=True)
class Command:
    """What a caller asks for.

    Attributes:
        argv: program and arguments, not empty; a program without a slash is searched in PATH.
        cwd: absolute native directory, as seen inside the sandbox.
        env: the whole environment of the command.
        arg0: what the program sees as its own name, when not argv[0].
        terminal: size of the terminal to give it, or None for plain descriptors.
        search_path: where to search the program when `env` has no PATH.
    """

    argv: tuple[str, ...]
    cwd: str
    env: Mapping[str, str]
    arg0: str | None = None
    terminal: TerminalSize | None = None
    search_path: str | None = None


@dataclass(frozen=True, slots=True)
class LaunchSpec:
    """What a spawner needs to build one sandbox, before any command is known.

    Attributes:
        backend: the name of the backend whose spawner understands `steps`.
        digest: SHA-256 of `steps` in hex; equal digests mean equal sandboxes.
        steps: the setup steps, encoded by the backend.
        sandbox_type: the wire's name for this kind of sandbox.
        host_paths: host paths that the sandbox holds on to once it is built; a sandbox that was built
            before one of them was replaced is not the same any more.
    """

    backend: str
    digest: str
    steps: bytes
    sandbox_type: str
    host_paths: tuple[str, ...] = ()
