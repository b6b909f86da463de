"""Victim: reads the file and lists the folder behind each name of its arguments but `ground`."""

import sys

assert sys.platform == "linux"

import os
from collections.abc import Mapping

from platform_tests.scenarios.victims.reporting import Operation, report


def _look(path: str) -> None:
    if os.path.isdir(path):
        os.listdir(path)
        return
    with open(path, "rb") as file:
        file.read(1)


def _looking(path: str) -> Operation:
    return lambda: _look(path)


def operations(where: Mapping[str, str]) -> Mapping[str, Operation]:
    """One look for each name."""
    return {name: _looking(path) for name, path in where.items() if name != "ground"}


if __name__ == "__main__":
    report(operations)
