"""From an exit and its evidence to one outcome. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from sandboxing.contract.outcome import Denial, Exit, Outcome, OutcomeKind
from sandboxing.errors import SandboxctlError


def judge(end: Exit, denials: Sequence[Denial]) -> Outcome:
    """The outcome of a command that ran: denied only when it failed by itself and a refusal explains it."""
    failed = end.shell_code != 0 and end.limit is None
    if failed and denials:
        return Outcome(kind=OutcomeKind.DENIED, exit=end, denials=tuple(denials))
    return Outcome(kind=OutcomeKind.COMMAND_EXITED, exit=end)


def setup_failed(error: SandboxctlError) -> Outcome:
    """The outcome of a command that never ran."""
    return Outcome(kind=OutcomeKind.SETUP_FAILED, error_code=error.code, error=error.message)
