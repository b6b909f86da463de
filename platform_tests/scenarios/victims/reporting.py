"""How a victim tells what it met: one JSON object, operation to `ok`, errno name or value.

Victims run in the sandbox and outside of it with a bare interpreter, so this and they use the standard
library alone.
"""

import errno
import json
import sys
from collections.abc import Callable, Mapping

Operation = Callable[[], object]


def done(_value: object) -> None:
    """For an operation whose value nobody asks about."""


def attempt(operation: Operation) -> str:
    """What one operation met."""
    try:
        value = operation()
    except OSError as error:
        return errno.errorcode.get(error.errno or 0, str(error))
    return "ok" if value is None else str(value)


def report(make: Callable[[Mapping[str, str]], Mapping[str, Operation]]) -> None:
    """Try every operation, in order, and print the answers."""
    operations = make(json.loads(sys.argv[1]))
    json.dump({name: attempt(operation) for name, operation in operations.items()}, sys.stdout)
