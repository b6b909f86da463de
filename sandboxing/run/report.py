"""The report of one run as a stable JSON shape: outcome, enforcement, denials.

Field names are public; they are added to, never renamed. It formats; it decides nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from sandboxing.contract.enforcement import Caveat, Enforcement, RuleEnforcement
from sandboxing.contract.outcome import Denial, Exit, Outcome
from sandboxing.profile.rule_id import RuleId

REPORT_VERSION: Final = 1


def rule_json(rule: RuleId | None) -> dict[str, Any] | None:
    """A rule's origin."""
    if rule is None:
        return None
    return {"source": rule.source, "pointer": rule.pointer, "line": rule.line, "why": rule.why}


def caveat_json(caveat: Caveat) -> dict[str, Any]:
    """A named gap."""
    return {"code": caveat.code, "text": caveat.text}


def enforcement_json(enforcement: Enforcement) -> dict[str, Any]:
    """What a plan enforces, rule by rule."""
    return {
        "backend": enforcement.backend,
        "rules": [_row(row) for row in enforcement.rules],
        "caveats": [caveat_json(caveat) for caveat in enforcement.caveats],
        "hardening": list(enforcement.hardening),
        "missing_hardening": [caveat_json(caveat) for caveat in enforcement.missing_hardening],
    }


def _row(row: RuleEnforcement) -> dict[str, Any]:
    return {
        "rule": rule_json(row.rule),
        "access": str(row.access),
        "bound_to": row.bound_to,
        "hold": str(row.hold),
        "mechanisms": list(row.mechanisms),
        "caveats": [caveat_json(caveat) for caveat in row.caveats],
    }


def denial_json(denial: Denial) -> dict[str, Any]:
    """One refusal and the evidence for it."""
    return {
        "operation": str(denial.operation),
        "target": denial.target,
        "resolved": denial.resolved,
        "rule": rule_json(denial.rule),
        "reason": denial.reason,
        "errno": denial.errno_name,
        "source": denial.source,
        "confidence": str(denial.confidence),
        "remedy": denial.remedy,
    }


def _exit_json(end: Exit | None) -> dict[str, Any] | None:
    if end is None:
        return None
    return {
        "code": end.code,
        "signal": end.signal,
        "limit": end.limit,
        "shell_code": end.shell_code,
    }


def run_report(
    outcome: Outcome,
    *,
    argv: Sequence[str],
    policy: str | None,
    enforcement: Enforcement | None,
    findings: Sequence[str] = (),
) -> dict[str, Any]:
    """The report of one run.

    Args:
        outcome: how it ended.
        argv: what was to be run.
        policy: the policy's name, when one could be loaded.
        enforcement: what was enforced, when a plan could be made.
        findings: what a check after the run found, one sentence each.
    """
    return {
        "version": REPORT_VERSION,
        "argv": list(argv),
        "policy": policy,
        "outcome": str(outcome.kind),
        "exit": _exit_json(outcome.exit),
        "error": None if outcome.error is None else {"code": outcome.error_code, "message": outcome.error},
        "denials": [denial_json(denial) for denial in outcome.denials],
        "findings": list(findings),
        "enforcement": None if enforcement is None else enforcement_json(enforcement),
    }
