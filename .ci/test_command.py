"""Prints the test command that README.md documents, so that CI runs what readers are told to run.

It runs nothing. Used by `.ci/run` and by the workflow.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

MARKED_BLOCK = re.compile(
    r"<!-- test command -->\s*^(?P<fence>```+)[^\n]*\n(?P<command>.*?)^(?P=fence)", re.MULTILINE | re.DOTALL
)


def main() -> int:
    """Print the command; exit code 1 when the README does not mark exactly one."""
    readme = Path(__file__).resolve().parents[1] / "README.md"
    commands = [match["command"] for match in MARKED_BLOCK.finditer(readme.read_text(encoding="utf-8"))]
    if len(commands) != 1:
        print(
            f"cannot find the test command in `{readme.name}`: {len(commands)} marked blocks", file=sys.stderr
        )
        return 1
    lines = (line.removeprefix("$ ").rstrip() for line in commands[0].splitlines())
    print("\n".join(line for line in lines if line))
    return 0


if __name__ == "__main__":
    sys.exit(main())
