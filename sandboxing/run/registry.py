"""The one place that asks which operating system this is.

It picks a host and nothing else; every caller above it is the same on every system.
"""

import sys

from sandboxing.errors import SandboxUnavailable
from sandboxing.paths.native import PathDialect
from sandboxing.run.host import ConfiningHost


def host_dialect() -> PathDialect:
    """How native paths are spelled here."""
    return PathDialect.WINDOWS if sys.platform == "win32" else PathDialect.POSIX


def host_label() -> str:
    """This system's name as the exec-server protocol says it: `linux`, `macos` or `windows`."""
    return {"darwin": "macos", "win32": "windows"}.get(sys.platform, "linux")


def confining_host() -> ConfiningHost:
    """The host that confines commands on this system.

    Raises:
        SandboxUnavailable: there is none, or something it cannot do without is missing.
    """
    if sys.platform == "linux":
        from sandboxing.backends.linux.backend import LinuxBackend
        from sandboxing.run.linux_host import LinuxHost

        return LinuxHost(backend=LinuxBackend.create())
    raise SandboxUnavailable(
        f"cannot confine `a command`: there is no backend for {host_label()} yet",
        hint="run on Linux 5.12 or newer, for example in a virtual machine",
    )


def login_shell(environment: dict[str, str]) -> str:
    """The caller's login shell, or the one that every system of this kind has."""
    if sys.platform != "win32":
        from sandboxing.run.account import login_shell_of_caller

        return login_shell_of_caller()
    else:  # noqa: RET505 - the type checker prunes a branch, not what follows one
        return environment.get("COMSPEC", r"C:\Windows\System32\cmd.exe")
