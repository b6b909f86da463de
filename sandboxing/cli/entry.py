"""The `sandboxctl` program's first lines: what has to be right before anything else is imported or opened.

It imports the commands only when it runs, and nothing else itself. Only the console script calls it.
"""

import os
import sys
from contextlib import suppress


def main() -> None:
    """Run the command line of this process and exit with its code."""
    _open_standard_streams()
    _forget_modules_of_the_current_directory()

    from sandboxing.cli.commands import sandboxctl

    sandboxctl.main(prog_name="sandboxctl")


def _open_standard_streams() -> None:
    # a closed one would become whatever is opened next, and a command would get that as its stream
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:  # noqa: PLR2004 - the standard streams
        os.set_inheritable(descriptor, True)  # noqa: FBT003 - the standard library's own interface
    os.close(descriptor)


def _forget_modules_of_the_current_directory() -> None:
    # the interpreter has made relative entries of PYTHONPATH absolute before we could see them
    given = os.environ.get("PYTHONPATH", "")
    relative = [entry for entry in given.split(os.pathsep) if not os.path.isabs(entry)] if given else []
    forgotten: set[str] = set()
    with suppress(FileNotFoundError):  # a current directory that is gone holds no modules
        forgotten = {os.path.abspath(entry) for entry in relative}
    sys.path[:] = [entry for entry in sys.path if os.path.isabs(entry) and entry not in forgotten]
