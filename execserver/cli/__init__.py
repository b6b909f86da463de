"""The command line of the exec-server."""

from execserver.cli.command import main

__all__ = ["main"]
