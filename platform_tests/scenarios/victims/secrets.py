"""Victim: every way to reach the content of `secret` and of what lies in `vault`, both in `top`."""

import sys

assert sys.platform == "linux"

import os
import subprocess
from collections.abc import Mapping

from platform_tests.scenarios.victims.reporting import Operation, done, report


def _read(path: str) -> None:
    with open(path, encoding="utf-8") as file:
        if file.read() != "secret":
            raise FileNotFoundError(2, "other content")


def _read_from(folder: str, name: str) -> None:
    descriptor = os.open(folder, os.O_PATH | os.O_DIRECTORY)
    try:
        os.close(os.open(name, os.O_RDONLY, dir_fd=descriptor))
    finally:
        os.close(descriptor)


def _reopen(path: str) -> None:
    descriptor = os.open(path, os.O_PATH)
    try:
        os.close(os.open(f"/proc/self/fd/{descriptor}", os.O_RDONLY))
    finally:
        os.close(descriptor)


def _enter(folder: str) -> None:
    before = os.getcwd()
    os.chdir(folder)
    os.chdir(before)


def _cat(path: str) -> str | None:
    run = subprocess.run(["cat", path], capture_output=True, check=False)
    if run.returncode == 0:
        return None
    return "EACCES" if b"Permission denied" in run.stderr else run.stderr.decode()


def operations(where: Mapping[str, str]) -> Mapping[str, Operation]:
    """Reads first, then attempts to move the cover away."""
    top = where["top"]
    # in the sandbox pid 1 started this program; its link stands for every way out through a process
    init = 1 if os.getppid() == 1 else os.getpid()
    file, folder = os.path.join(top, "secret"), os.path.join(top, "vault")
    return {
        "read": lambda: _read(file),
        "read-by-child": lambda: _cat(file),
        "read-through-symlink": lambda: _read(os.path.join(top, "link-to-secret")),
        "read-through-self-root": lambda: _read(f"/proc/self/root{file}"),
        "read-through-self-cwd": lambda: _read_from("/proc/self/cwd", os.path.relpath(file)),
        "read-through-init-root": lambda: _read(f"/proc/{init}/root{file}"),
        "read-through-path-descriptor": lambda: _reopen(file),
        "open-for-writing": lambda: os.close(os.open(file, os.O_WRONLY)),
        "open-truncating": lambda: os.close(os.open(file, os.O_WRONLY | os.O_TRUNC)),
        "execute": lambda: os.access(file, os.R_OK),
        "chmod": lambda: os.chmod(file, 0o644),
        "enter-folder": lambda: _enter(folder),
        "list-folder": lambda: done(os.listdir(folder)),
        "read-in-folder": lambda: _read(os.path.join(folder, "key")),
        "stat-in-folder": lambda: done(os.stat(os.path.join(folder, "key"))),
        "read-in-folder-from-descriptor": lambda: _read_from(folder, "key"),
        "read-through-symlinked-folder": lambda: _read(os.path.join(top, "link-to-vault", "key")),
        "create-in-folder": lambda: os.close(os.open(os.path.join(folder, "new"), os.O_CREAT | os.O_WRONLY)),
        "chmod-folder": lambda: os.chmod(folder, 0o755),
        "link": lambda: os.link(file, os.path.join(top, "hard-link")),
        "rename": lambda: os.rename(file, os.path.join(top, "moved")),
        "rename-folder": lambda: os.rename(folder, os.path.join(top, "moved-vault")),
        "unlink": lambda: os.unlink(os.path.join(top, where["second"])),
        "rename-parent": lambda: os.rename(top, top + "-moved"),
        "rename-parent-back": lambda: os.rename(top + "-moved", top),
    }


if __name__ == "__main__":
    report(operations)
