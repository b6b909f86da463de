"""The keyword heuristic of the exec-server protocol: does a failed command look as if a sandbox stopped it?

Owns the keywords and the order of the checks. It never reads anything, never names a rule, and its answer is
a guess: a program that merely prints a keyword and fails counts as denied. The exec-server uses it for
`sandboxDenied`; the evidence join uses it as the last and weakest source.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

SIGSYS_EXIT_CODE: Final = 159
"""128 + SIGSYS (31 on x86 and Arm): a seccomp filter killed the command."""

AMBIGUOUS_EXIT_CODES: Final = frozenset({2, 126, 127})
"""Usage error, not executable, not found: ordinary failures of a shell, unless the text says otherwise."""

SANDBOX_TYPE_NONE: Final = "none"
"""The wire's name for a process that no sandbox confines."""

SANDBOX_TYPE_LINUX: Final = "linuxSeccomp"
"""The wire's name for every Linux sandbox; the only type for which SIGSYS is evidence."""


class Reason(StrEnum):
    """What made a command look denied, in the protocol's order of precedence."""

    OPERATION_NOT_PERMITTED = "operation_not_permitted"
    PERMISSION_DENIED = "permission_denied"
    READ_ONLY_FILE_SYSTEM = "read_only_file_system"
    POLICY_DENIED = "policy_denied"
    FAILED_TO_WRITE_FILE = "failed_to_write_file"
    SIGSYS = "sigsys"


# Order matters: the reason is the first keyword of the first section that holds any.
_KEYWORDS: Final = (
    (b"operation not permitted", Reason.OPERATION_NOT_PERMITTED),
    (b"permission denied", Reason.PERMISSION_DENIED),
    (b"read-only file system", Reason.READ_ONLY_FILE_SYSTEM),
    (b"seccomp", Reason.POLICY_DENIED),
    (b"sandbox", Reason.POLICY_DENIED),
    (b"landlock", Reason.POLICY_DENIED),
    (b"failed to write file", Reason.FAILED_TO_WRITE_FILE),
)


@dataclass(frozen=True, slots=True)
class CommandText:
    """What a command wrote, as far as it is still known.

    Attributes:
        stderr: its error output.
        stdout: its standard output; the output of a terminal counts as this.
        aggregated: both in the order in which they arrived.
    """

    stderr: bytes = b""
    stdout: bytes = b""
    aggregated: bytes = b""

    @property
    def sections(self) -> tuple[bytes, bytes, bytes]:
        """The three texts in the order in which they are searched."""
        return (self.stderr, self.stdout, self.aggregated)


def keyword_reason(text: CommandText) -> Reason | None:
    """The reason behind the first keyword found, or None.

    Case is folded for ASCII letters only, as the reference does, so bytes need no decoding.
    """
    for section in text.sections:
        folded = section.lower()
        for keyword, reason in _KEYWORDS:
            if keyword in folded:
                return reason
    return None


def denial_reason(*, sandbox_type: str, exit_code: int, text: CommandText) -> Reason | None:
    """Why the command looks denied, or None when it does not.

    Args:
        sandbox_type: the wire's name of the sandbox that took effect, `none` for none.
        exit_code: the exit code as a shell would report it.
        text: what the command wrote.
    """
    if sandbox_type == SANDBOX_TYPE_NONE or exit_code == 0:
        return None
    # Before the exit codes: a shell that may not execute a program says 126 and "Permission denied".
    reason = keyword_reason(text)
    if reason is not None:
        return reason
    if exit_code in AMBIGUOUS_EXIT_CODES:
        return None
    if sandbox_type == SANDBOX_TYPE_LINUX and exit_code == SIGSYS_EXIT_CODE:
        return Reason.SIGSYS
    return None


def looks_denied(*, sandbox_type: str, exit_code: int, text: CommandText) -> bool:
    """Whether `denial_reason` finds one: the value of the wire's `sandboxDenied`."""
    return denial_reason(sandbox_type=sandbox_type, exit_code=exit_code, text=text) is not None


def looks_denied_elsewhere(*, exit_code: int, text: CommandText) -> bool:
    """The same guess for a command of another executor, whose kind of sandbox is not known here."""
    return exit_code != 0 and keyword_reason(text) is not None
