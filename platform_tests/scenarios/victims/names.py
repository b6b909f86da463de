"""Victim: attempts to remove, move or replace the directory `name` and the file `file` by their names."""

import sys

assert sys.platform == "linux"

import os
import shutil
from collections.abc import Mapping

from platform_tests.scenarios.victims.reporting import Operation, report


def _remove_tree(path: str) -> None:
    shutil.rmtree(path)


def operations(where: Mapping[str, str]) -> Mapping[str, Operation]:
    """What does not empty the directory comes first."""
    name, spare, file = where["name"], where["spare"], where["file"]
    return {
        "chmod-folder": lambda: os.chmod(name, 0o700),
        "utime-folder": lambda: os.utime(name, (1, 1)),
        "replace-by-folder": lambda: os.rename(spare, name),
        "rename-folder": lambda: os.rename(name, name + ".moved"),
        "rename-folder-back": lambda: os.rename(name + ".moved", name),
        "remove-content": lambda: os.unlink(os.path.join(name, "config")),
        "rmdir": lambda: os.rmdir(name),
        "unlink-file": lambda: os.unlink(file),
        "create-file-again": lambda: os.close(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL)),
        "replace-file": lambda: os.replace(where["spare_file"], file),
        "rename-file": lambda: os.rename(file, file + ".moved"),
    }


if __name__ == "__main__":
    report(operations)
