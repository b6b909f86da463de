"""Wording shared by the commands: messages on standard error, names made safe to print.

Every path and message that did not come from this program passes `printable`, so that no command can steer
the terminal of whoever reads about it.
"""

from __future__ import annotations

import sys

from sandboxing.contract.outcome import Denial
from sandboxing.errors import PolicyError, SandboxctlError
from sandboxing.profile.rule_id import RuleId

PROGRAM = "sandboxctl"


def printable(text: str) -> str:
    """The text with control characters, and what is not text at all, written as escapes."""
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape", "surrogatepass").decode()
        for character in text
    )


def say(message: str) -> None:
    """One line on standard error, under the program's name."""
    sys.stderr.write(f"{PROGRAM}: {printable(message)}\n")


def say_error(error: SandboxctlError) -> None:
    """An error and its hint, at most two lines."""
    if isinstance(error, PolicyError):
        pointer = f" at {error.pointer}" if error.pointer else ""
        say(f"{error.position}: {error.message}{pointer}")
    else:
        say(error.message)
    if error.hint is not None:
        say(f"hint: {error.hint}")


def rule_name(rule: RuleId) -> str:
    """A rule as people look it up: document, line, pointer."""
    place = f"{rule.source}:{rule.line}" if rule.line is not None else rule.source
    return f"{place} {rule.pointer}"


def denial_line(denial: Denial) -> str:
    """One line: what was denied, where, by which rule, and why the rule exists."""
    target = denial.resolved if denial.resolved is not None else denial.target
    by = f"by {rule_name(denial.rule)}" if denial.rule is not None else "no rule grants it"
    why = f" ({denial.rule.why})" if denial.rule is not None and denial.rule.why else ""
    error = f" [{denial.errno_name}]" if denial.errno_name else ""
    return f"denied: {denial.operation} {target}: {by}{why}{error}"
