"""A process that performs one file operation: one JSON request on stdin, one JSON answer on stdout.

Started as `python -I -m execserver.adapters.files_worker` inside a sandbox, so that the kernel holds the
policy. It trusts its request, which only our own server writes. Exit 0 with an answer, 2 without one.
"""

from __future__ import annotations

import json
import sys
from typing import Final

from execserver.adapters.file_operations import error_to_json, operation_from_json, result_to_json
from execserver.adapters.files import perform

EXIT_BAD_REQUEST: Final = 2
"""The request could not be read; nothing was done."""


def answer(request: bytes) -> bytes | None:
    """Perform the request; the answer, or None when it is no request."""
    try:
        value = json.loads(request)
        if not isinstance(value, dict):
            return None
        operation = operation_from_json(value)
    except ValueError:
        return None
    try:
        outcome = result_to_json(perform(operation))
    except OSError as error:
        outcome = error_to_json(error)
    return json.dumps(outcome, separators=(",", ":")).encode("ascii")


def main() -> int:
    """Read, perform, answer; the exit code."""
    reply = answer(sys.stdin.buffer.read())
    if reply is None:
        return EXIT_BAD_REQUEST
    sys.stdout.buffer.write(reply)
    sys.stdout.buffer.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
