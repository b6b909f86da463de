"""The caller's entry in the user database, where the system has one. Asked by the registry only."""

import sys

assert sys.platform != "win32"

import os
import pwd


def login_shell_of_caller() -> str:
    """The login shell when it can be executed, else `/bin/sh`."""
    try:
        shell = pwd.getpwuid(os.getuid()).pw_shell
    except KeyError:
        return "/bin/sh"
    return shell if os.path.isabs(shell) and os.access(shell, os.X_OK) else "/bin/sh"
