"""`sandboxctl explain`: what a policy means here and what would hold it, or the answer about one path.

It starts nothing. Exit codes: 0, or with a path 0 when the access is allowed and 1 when it is denied, and 125
when the policy cannot be read or has no meaning here.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from enum import Enum
from typing import Any

import click

from sandboxing.cli.explain_text import WIDEST, answer_lines, explanation_lines
from sandboxing.cli.prose import say_error
from sandboxing.contract.outcome import EXIT_SETUP_FAILED
from sandboxing.errors import SandboxctlError
from sandboxing.policyfile.settings import NetworkRules
from sandboxing.profile.access import Access
from sandboxing.run.answer import Answer, answer
from sandboxing.run.explain import ExplainedRule, Explanation, explain
from sandboxing.run.machine import Machine
from sandboxing.run.policies import find_document
from sandboxing.run.report import caveat_json, rule_json

EXPLANATION_VERSION = 1
"""Version of the JSON shape: fields are added to it, never renamed, and the number changes when one means
something else."""


class Format(Enum):
    """How an explanation is printed."""

    TEXT = "text"
    JSON = "json"


@dataclass(frozen=True, slots=True)
class ExplainOptions:
    """The options of `explain`, as given."""

    policy: str
    workspaces: tuple[str, ...]
    path: str | None
    access: Access
    format: Format
    with_plan: bool


def explain_command(options: ExplainOptions, machine: Machine) -> int:
    """Print the explanation or the answer; returns the exit code."""
    try:
        document = find_document(options.policy)
        explanation = explain(document, machine, machine.workspace_roots(options.workspaces))
        if options.path is None:
            _print_explanation(explanation, options)
            return 0
        answered = answer(explanation, machine, options.path, options.access)
    except SandboxctlError as error:
        say_error(error)
        return EXIT_SETUP_FAILED
    _print_answer(answered, explanation, options)
    return 0 if answered.decision.allowed else 1


def _print_explanation(explanation: Explanation, options: ExplainOptions) -> None:
    if options.format is Format.JSON:
        click.echo(json.dumps(explanation_json(explanation), indent=2))
        return
    for line in explanation_lines(explanation, width=_width(), with_plan=options.with_plan):
        click.echo(line)


def _print_answer(answered: Answer, explanation: Explanation, options: ExplainOptions) -> None:
    if options.format is Format.JSON:
        click.echo(json.dumps(answer_json(answered, explanation), indent=2))
        return
    for line in answer_lines(answered, explanation, width=_width()):
        click.echo(line)


def _width() -> int:
    return shutil.get_terminal_size((WIDEST, 24)).columns


def explanation_json(explanation: Explanation) -> dict[str, Any]:
    """The explanation as its public JSON shape.

    `filesystem.rules` and `protected_names` hold one object a rule, `network` one of the same shape: `rule`
    is its origin, `written` its place in the policy's words, `spelled` that as native path, `bound_to` what
    it leads to (null without an effect here, with the `reason`), `hold` null where no plan could be made.
    `refusal` says why a run would not start. `backend`, `host` and `plan` are null without a backend.
    """
    document, bound, planned = explanation.document, explanation.bound, explanation.planned
    enforcement = planned.enforcement if planned is not None else None
    return {
        "version": EXPLANATION_VERSION,
        "policy": {
            "name": document.name,
            "description": document.description,
            "file": document.file,
            "kind": str(document.kind),
        },
        "cwd": bound.cwd,
        "workspace_roots": list(bound.workspace_roots),
        "tmp": str(bound.tmp),
        **_standing_json(explanation),
        "filesystem": {
            "regime": str(bound.filesystem),
            "rules": [_rule_json(rule) for rule in explanation.filesystem],
        },
        "protected_names": [_rule_json(rule) for rule in explanation.protected],
        "network": _rule_json(explanation.network) | {"managed": _managed_json(document.network)},
        "environment": {
            "inherit": bound.environment.inherit,
            "exclude": list(bound.environment.exclude),
            "include_only": list(bound.environment.include_only),
            "set": dict(explanation.environment.set),
            "dropped": list(explanation.environment.dropped),
        },
        "limits": [
            {
                "name": limit.name,
                "value": limit.value,
                "unit": limit.unit or None,
                "scope": limit.scope,
                "mechanisms": list(limit.mechanisms),
            }
            for limit in explanation.limits
        ],
        "caveats": [caveat_json(caveat) for caveat in enforcement.caveats] if enforcement else [],
        "hardening": list(enforcement.hardening) if enforcement else [],
        "missing_hardening": (
            [caveat_json(caveat) for caveat in enforcement.missing_hardening] if enforcement else []
        ),
        "plan": list(planned.plan.lines()) if planned is not None else None,
    }


def answer_json(answered: Answer, explanation: Explanation) -> dict[str, Any]:
    """The answer as its public JSON shape.

    `enforced` is the deciding rule with what holds it, null when no rule covers the path. `inside` is what
    the mounts alone give: a mode, `own` where the sandbox shows something of its own, null when unknown.
    """
    decision, deciding = answered.decision, answered.deciding
    return {
        "version": EXPLANATION_VERSION,
        "policy": explanation.document.name,
        "access": str(answered.access),
        "path": {"given": answered.given, "resolved": answered.resolved},
        "answer": "allowed" if decision.allowed else "denied",
        "mode": str(decision.mode),
        "reason": decision.reason,
        "rule": rule_json(decision.rule),
        "enforced": None if deciding is None else _rule_json(deciding),
        "losers": [_rule_json(rule) for rule in answered.losing],
        "inside": "own" if answered.own else (str(answered.inside) if answered.inside is not None else None),
        **_standing_json(explanation),
    }


def _standing_json(explanation: Explanation) -> dict[str, Any]:
    """What holds a run here, and why none would start."""
    capabilities, refusal = explanation.capabilities, explanation.refusal
    return {
        "backend": None if capabilities is None else capabilities.backend,
        "host": None if capabilities is None else capabilities.host,
        "refusal": (
            None
            if refusal is None
            else {"code": refusal.code, "message": refusal.message, "hint": refusal.hint}
        ),
    }


def _rule_json(rule: ExplainedRule) -> dict[str, Any]:
    return {
        "rule": rule_json(rule.rule),
        "access": str(rule.access),
        "written": rule.written,
        "spelled": rule.spelled,
        "bound_to": rule.bound_to,
        "links": [{"path": link.path, "target": link.target} for link in rule.links],
        "kind": None if rule.kind is None else str(rule.kind),
        "origin": None if rule.origin is None else str(rule.origin),
        "tier": str(rule.tier),
        "reason": rule.reason,
        "hold": None if rule.hold is None else str(rule.hold),
        "mechanisms": list(rule.mechanisms),
        "caveats": [caveat_json(caveat) for caveat in rule.caveats],
    }


def _managed_json(network: NetworkRules | None) -> dict[str, Any] | None:
    if network is None:
        return None
    return {
        "rule": rule_json(network.rule),
        "mode": str(network.mode),
        "domains": {pattern: str(verdict) for pattern, verdict in network.domains},
        "unix_sockets": {path: str(verdict) for path, verdict in network.unix_sockets},
        "ports": list(network.ports),
        "allow_local_binding": network.allow_local_binding,
    }
