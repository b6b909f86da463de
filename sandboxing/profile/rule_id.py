"""RuleId: where a rule came from, carried unchanged through every floor.

It never decides anything. Denials, explanations and enforcement reports quote it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RuleId:
    """The origin of one rule.

    Attributes:
        source: the policy's display name: a file path, a shipped name, `wire`, or `built-in`.
        pointer: RFC 6901 JSON pointer into that document, or a stable name for built-in rules.
        line: 1-based line of the rule in the document, when the document is text.
        why: the author's reason for the rule, when one is given.
    """

    source: str
    pointer: str
    line: int | None = None
    why: str | None = None

    def __str__(self) -> str:
        if self.line is None:
            return f"{self.source}#{self.pointer}"
        return f"{self.source}:{self.line} ({self.pointer})"
