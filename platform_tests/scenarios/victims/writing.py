"""Victim: every way to change files in the directory `target`, which holds what `scenarios.writing` lays."""

import sys

assert sys.platform == "linux"

import os
from collections.abc import Mapping

from platform_tests.scenarios.victims.reporting import Operation, done, report


def _open(path: str, flags: int) -> None:
    os.close(os.open(path, flags, 0o644))


def _append(path: str) -> None:
    with open(path, "a", encoding="utf-8") as file:
        file.write("more")


def operations(where: Mapping[str, str]) -> Mapping[str, Operation]:
    """Reading first, then changes, each of something of its own."""
    target, aside = where["target"], where["aside"]

    def at(name: str) -> str:
        return os.path.join(target, name)

    return {
        "read": lambda: _open(at("file"), os.O_RDONLY),
        "list": lambda: done(os.listdir(target)),
        "stat": lambda: done(os.stat(at("file"))),
        "create": lambda: _open(at("new"), os.O_WRONLY | os.O_CREAT | os.O_EXCL),
        "create-unnamed": lambda: _open(target, os.O_WRONLY | os.O_TMPFILE),
        "open-for-writing": lambda: _open(at("file"), os.O_WRONLY),
        "open-for-both": lambda: _open(at("file"), os.O_RDWR),
        "open-truncating": lambda: _open(at("file"), os.O_WRONLY | os.O_TRUNC),
        "append": lambda: _append(at("file")),
        "truncate": lambda: os.truncate(at("file"), 1),
        "mkdir": lambda: os.mkdir(at("new-folder")),
        "mkfifo": lambda: os.mkfifo(at("new-fifo")),
        "rmdir": lambda: os.rmdir(at("empty")),
        "unlink": lambda: os.unlink(at("doomed")),
        "symlink": lambda: os.symlink("file", at("new-symlink")),
        "link": lambda: os.link(at("file"), at("new-link")),
        "rename": lambda: os.rename(at("movable"), at("moved")),
        "replace": lambda: os.replace(at("source"), at("replaced")),
        "rename-folder": lambda: os.rename(at("folder"), at("folder-moved")),
        "chmod": lambda: os.chmod(at("file"), 0o600),
        "chown": lambda: os.chown(at("file"), os.getuid(), os.getgid()),
        "utime": lambda: os.utime(at("file"), (1, 1)),
        "setxattr": lambda: os.setxattr(at("file"), "user.test", b"1"),
        "link-in-from-aside": lambda: os.link(os.path.join(aside, "linked"), at("linked")),
        "rename-in-from-aside": lambda: os.rename(os.path.join(aside, "moving"), at("moving")),
        "rename-out-to-aside": lambda: os.rename(at("leaving"), os.path.join(aside, "leaving")),
        "link-out-to-aside": lambda: os.link(at("file"), os.path.join(aside, "link-to-file")),
    }


if __name__ == "__main__":
    report(operations)
