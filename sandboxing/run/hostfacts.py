"""The host as binding sees it: fixed facts from the environment, and the real file system.

The only module of the library that reads the environment. It follows no link that binding has not asked
for, and it treats what it may not look at as absent.
"""

import os
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from sandboxing.binding.bound import PathKind
from sandboxing.binding.facts import HostFacts
from sandboxing.run.registry import host_dialect

PLATFORM_READ_ROOTS: Final = (
    "/bin",
    "/sbin",
    "/usr",
    "/etc",
    "/lib",
    "/lib32",
    "/lib64",
    "/nix/store",
    "/run/current-system/sw",
)
"""What `:minimal` makes readable on Linux: programs, libraries and system configuration."""

_SMALL_FILE_BYTES: Final = 4096
_SMALL_FILE_FLAGS: Final[int] = os.O_RDONLY | sum(
    getattr(os, name, 0) for name in ("O_CLOEXEC", "O_NOFOLLOW", "O_NONBLOCK")
)
"""Windows has none of the three, and none of what they guard against."""


def current_environment() -> Mapping[str, str]:
    """A copy of this process's environment."""
    return dict(os.environ)


def gather(environment: Mapping[str, str], *, cwd: str | None = None) -> HostFacts:
    """The facts that symbols resolve against.

    Args:
        environment: the launcher's environment.
        cwd: the directory that stands in for a missing policy cwd; the process's own by default.
    """
    dialect = host_dialect()
    tmpdir = environment.get("TMPDIR") or None
    home = environment.get("HOME") or os.path.expanduser("~")
    return HostFacts(
        dialect=dialect,
        cwd=cwd if cwd is not None else os.getcwd(),
        home=home if os.path.isabs(home) else None,
        tmpdir=tmpdir if tmpdir is not None and os.path.isabs(tmpdir) else None,
        slash_tmp="/tmp" if os.path.isdir("/tmp") else None,
        platform_read_roots=PLATFORM_READ_ROOTS,
    )


@dataclass(frozen=True, slots=True)
class HostFileSystem:
    """The real file system, without following the last component."""

    def kind(self, path: str) -> PathKind:
        """What stands at `path` itself."""
        try:
            mode = os.lstat(path).st_mode
        except (OSError, ValueError):
            return PathKind.MISSING
        if stat.S_ISDIR(mode):
            return PathKind.DIRECTORY
        if stat.S_ISREG(mode):
            return PathKind.FILE
        return PathKind.OTHER

    def read_link(self, path: str) -> str | None:
        """The text of the link at `path`, or None."""
        try:
            return os.readlink(path)
        except (OSError, ValueError):
            return None

    def list_directory(self, path: str) -> Iterable[tuple[str, PathKind]] | None:
        """Names and kinds of a directory's children; None when it cannot be listed."""
        try:
            with os.scandir(path) as entries:
                return [(entry.name, _entry_kind(entry)) for entry in entries]
        except OSError:
            return None

    def read_small_file(self, path: str) -> str | None:
        """The text of a small regular file, or None."""
        try:
            descriptor = os.open(path, _SMALL_FILE_FLAGS)
        except OSError:
            return None
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return None
            data = os.read(descriptor, _SMALL_FILE_BYTES + 1)
        finally:
            os.close(descriptor)
        if len(data) > _SMALL_FILE_BYTES:
            return None
        try:
            return data.decode()
        except UnicodeDecodeError:
            return None


def _entry_kind(entry: "os.DirEntry[str]") -> PathKind:
    if entry.is_dir(follow_symlinks=False):
        return PathKind.DIRECTORY
    if entry.is_file(follow_symlinks=False):
        return PathKind.FILE
    return PathKind.OTHER
