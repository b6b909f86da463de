"""Ground: a small piece of the host's file system that one test owns, with workspace, home and outside.

It lies in /var/tmp, because a sandbox hides the host's /tmp. Everything in it belongs to the identity that
the test runs as, so that nothing but the sandbox can be the cause of a refusal. Made by the fixtures.
"""

import sys

assert sys.platform == "linux"

import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from platform_tests.support.identity import Identity

_PARENT: Final = "/var/tmp"
_VICTIMS: Final = ("platform_tests", "scenarios", "victims")
CHECKOUT: Final = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
"""The top of the sources."""

BASE_PYTHON: Final[str] = getattr(sys, "_base_executable", sys.executable)
"""The interpreter without its virtual environment, which may lie where a sandbox shows nothing."""

_BOOT: Final = (
    "import runpy, sys; sys.path.insert(0, sys.argv.pop(1)); "
    "runpy.run_module(sys.argv.pop(1), run_name='__main__', alter_sys=True)"
)


@dataclass(frozen=True, slots=True)
class Ground:
    """One test's files.

    Attributes:
        path: the directory.
        identity: who owns everything in it.
    """

    path: str
    identity: Identity

    def at(self, *names: str) -> str:
        """A path in it."""
        return os.path.join(self.path, *names)

    @property
    def workspace(self) -> str:
        """What the shipped policies may write."""
        return self.at("ws")

    @property
    def outside(self) -> str:
        """What they may only read."""
        return self.at("outside")

    @property
    def home(self) -> str:
        """The home directory of the identity."""
        return self.at("home")

    @property
    def temporary(self) -> str:
        """The caller's TMPDIR."""
        return self.at("temporary")

    def folder(self, relative: str) -> str:
        """Make a directory, and those above it."""
        path = self.path
        for name in relative.split("/"):
            path = os.path.join(path, name)
            if not os.path.isdir(path):
                os.mkdir(path)
                self._give(path)
        return path

    def file(self, relative: str, text: str, *, mode: int = 0o644) -> str:
        """Make a file, and the directories above it."""
        path = os.path.join(self.folder(os.path.dirname(relative)), os.path.basename(relative))
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        self._give(path)
        os.chmod(path, mode)
        return path

    def link(self, relative: str, target: str) -> str:
        """Make a symbolic link."""
        path = os.path.join(self.folder(os.path.dirname(relative)), os.path.basename(relative))
        os.symlink(target, path)
        self._give(path)
        return path

    def policy(self, document: Mapping[str, Any]) -> str:
        """Write a policy, `{ground}` in it replaced by where this ground is; returns its path."""
        is_wire_profile = "type" in document
        heading = {} if is_wire_profile else {"version": 1, "name": "under-test"}
        text = json.dumps({**heading, **document})
        return self.file("policies/under-test.json", text.replace("{ground}", self.path))

    def victim(self, name: str, arguments: Mapping[str, object]) -> tuple[str, ...]:
        """The command that runs a victim program, in or out of the sandbox."""
        module = ".".join((*_VICTIMS, name))
        return (
            BASE_PYTHON,
            "-I",
            "-S",
            "-B",
            "-c",
            _BOOT,
            self.at("victims"),
            module,
            json.dumps({"ground": self.path, **arguments}),
        )

    def environment(self) -> dict[str, str]:
        """A small environment for whoever runs here."""
        return {
            "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
            "HOME": self.home,
            "TMPDIR": self.temporary,
            "LANG": "C.UTF-8",
            "TERM": "xterm",
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    def listing(self, relative: str = "") -> tuple[str, ...]:
        """Every name below a directory, sorted."""
        top = self.at(relative)
        found: list[str] = []
        for folder, folders, files in os.walk(top):
            found.extend(os.path.relpath(os.path.join(folder, name), top) for name in (*folders, *files))
        return tuple(sorted(found))

    def _give(self, path: str) -> None:
        if self.identity.switched:
            os.chown(path, self.identity.uid, self.identity.gid, follow_symlinks=False)


@contextmanager
def ground_for(identity: Identity) -> Iterator[Ground]:
    """A ground that is removed afterwards."""
    path = tempfile.mkdtemp(prefix="sandboxctl-ground-", dir=_PARENT)
    try:
        os.chmod(path, 0o755)
        ground = Ground(path=path, identity=identity)
        ground._give(path)  # noqa: SLF001 - its own maker
        for name in ("ws", "outside", "home", "temporary"):
            ground.folder(name)
        shutil.copytree(
            os.path.join(CHECKOUT, *_VICTIMS),
            ground.at("victims", *_VICTIMS),
            ignore=shutil.ignore_patterns("__pycache__"),
        )
        yield ground
    finally:
        shutil.rmtree(path)
