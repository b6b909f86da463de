"""Outcome: how a run ended, in three kinds that are never mistaken for each other.

`setup_failed` is ours or the host's fault, `denied` has a rule and evidence, `command_exited` is the
command's own affair. A run has exactly one outcome, set once.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from sandboxing.profile.access import Access
from sandboxing.profile.rule_id import RuleId

EXIT_TIMEOUT: Final = 124
"""Exit code after a wall-time limit, as timeout(1) uses it."""

EXIT_SETUP_FAILED: Final = 125
"""Exit code when the sandbox or its policy failed before the command, as env(1) and timeout(1) use it."""

EXIT_NOT_EXECUTABLE: Final = 126
"""Exit code when the program was found and could not be run, as a POSIX shell uses it."""

EXIT_NOT_FOUND: Final = 127
"""Exit code when the program was not found, as a POSIX shell uses it."""

EXIT_SIGNAL_BASE: Final = 128
"""Added to a signal's number when a signal ended the command, as a POSIX shell reports it."""


WALL_LIMIT: Final = "wall_s"
OUTPUT_LIMIT: Final = "output_mb"
"""The limits that are held from outside, by their names in a policy file."""


class OutcomeKind(StrEnum):
    """The three ends of a run."""

    SETUP_FAILED = "setup_failed"
    DENIED = "denied"
    COMMAND_EXITED = "command_exited"


class Confidence(StrEnum):
    """How far a denial record can be trusted."""

    PROVEN = "proven"
    LIKELY = "likely"
    GUESS = "guess"


@dataclass(frozen=True, slots=True)
class Exit:
    """How a process ended: by a code or by a signal, never both.

    Attributes:
        code: exit code 0 to 255, or None when a signal ended it.
        signal: signal number, or None.
        limit: the resource limit of ours that ended it, in the policy file's name for it, or None.
    """

    code: int | None
    signal: int | None = None
    limit: str | None = None

    @property
    def timed_out(self) -> bool:
        """Whether the wall-time limit ended it."""
        return self.limit == WALL_LIMIT

    @property
    def shell_code(self) -> int:
        """The code a POSIX shell would report, 124 after a timeout."""
        if self.timed_out:
            return EXIT_TIMEOUT
        if self.signal is not None:
            return EXIT_SIGNAL_BASE + self.signal
        return self.code if self.code is not None else -1


@dataclass(frozen=True, slots=True)
class Denial:
    """One thing that the sandbox refused.

    Attributes:
        operation: what was tried.
        target: the path as the program named it, or an address; control characters still in it.
        resolved: the absolute path it stands for, when it is one.
        rule: the rule that refused it; None when no rule grants it.
        reason: one clause for people.
        errno_name: the error the program saw, such as `EROFS`.
        source: where the evidence came from, such as `error-text`.
        confidence: how far it can be trusted.
        remedy: the smallest grant that would cure it, when there is one.
    """

    operation: Access | str
    target: str
    rule: RuleId | None
    reason: str
    source: str
    confidence: Confidence
    resolved: str | None = None
    errno_name: str | None = None
    remedy: str | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended.

    Attributes:
        kind: which of the three ends.
        exit: how the command ended; None when it never ran.
        denials: what was refused, empty unless `kind` is DENIED.
        error_code: the stable code of the error when `kind` is SETUP_FAILED.
        error: its message.
    """

    kind: OutcomeKind
    exit: Exit | None = None
    denials: tuple[Denial, ...] = ()
    error_code: str | None = None
    error: str | None = None
