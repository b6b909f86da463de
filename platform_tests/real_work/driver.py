"""What runs once outside and once in the sandbox: the steps of one build, then the canaries.

It runs by its path under the project's own interpreter, so it imports nothing of ours, and it judges
nothing: it writes down what happened. Used by `run`.
"""

from __future__ import annotations

import errno
import json
import os
import socket
import subprocess
import sys
from typing import Any

OK = "ok"
"""Outcome of a canary that was let through."""

_CONNECT_TIMEOUT_S = 5


def create(path: str) -> str:
    """Make a file; `OK`, or the name of the error."""
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except OSError as error:
        return _name_of(error)
    return OK


def open_for_writing(path: str) -> str:
    """Open a file for writing without changing it; `OK`, or the name of the error."""
    try:
        os.close(os.open(path, os.O_WRONLY))
    except OSError as error:
        return _name_of(error)
    return OK


def connect(port: int) -> str:
    """Reach a listener of the host on the loopback address; `OK`, or the name of the error."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=_CONNECT_TIMEOUT_S):
            return OK
    except OSError as error:
        return _name_of(error)


def run_steps(steps: list[dict[str, Any]], copy: str) -> list[dict[str, Any]]:
    """Run the steps in their order, also after a failure: both runs shall do the same."""
    done = []
    for step in steps:
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        environment |= step["env"]
        sys.stdout.write(f"--- {step['name']}: {' '.join(step['argv'])}\n")
        sys.stdout.flush()
        before = _children_cpu_seconds()
        code = subprocess.run(step["argv"], cwd=copy, env=environment, check=False).returncode
        done.append({"name": step["name"], "code": code, "cpu_seconds": _children_cpu_seconds() - before})
    return done


def _children_cpu_seconds() -> float:
    times = os.times()
    return times.children_user + times.children_system


def _name_of(error: OSError) -> str:
    return errno.errorcode.get(error.errno or 0, type(error).__name__)


def main(request_path: str, answer_path: str) -> None:
    """Do what the request file says and write the answer file."""
    with open(request_path, encoding="utf-8") as file:
        request = json.load(file)
    answer = {
        "steps": run_steps(request["steps"], request["copy"]),
        "canaries": {
            "create": create(request["create"]),
            "open": open_for_writing(request["open"]),
            "connect": connect(request["connect"]),
        },
    }
    with open(answer_path, "w", encoding="utf-8") as file:
        json.dump(answer, file)


if __name__ == "__main__":
    main(*sys.argv[1:])
