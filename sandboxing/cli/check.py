"""`sandboxctl check`: policies read strictly and held to the promises that they make about themselves.

The oracle answers for this machine and this workspace; nothing is started. Exit code 1 when anything was
found, 0 otherwise.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import click

from sandboxing.binding.bind import bind_document
from sandboxing.binding.bound import BoundPolicy
from sandboxing.binding.decide import DecisionIndex
from sandboxing.binding.settle import PRIVATE_TMP
from sandboxing.cli.prose import printable, rule_name
from sandboxing.errors import PolicyError, SandboxctlError
from sandboxing.paths.native import PathDialect
from sandboxing.policyfile.document import PolicyDocument
from sandboxing.policyfile.json_positions import JsonDocument, read_json
from sandboxing.policyfile.promises import Anchors, is_kept, promised_places
from sandboxing.policyfile.settings import PolicyTest, TmpPlacement
from sandboxing.run.machine import Machine
from sandboxing.run.policies import find_document

CHECK_VERSION = 1
"""Version of the JSON shape of the result."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong with a policy.

    Attributes:
        code: stable name of the kind of finding.
        position: `file:line:column`, shortened where a part is unknown.
        pointer: JSON pointer into the document.
        message: one line.
        hint: what to do about it, or None.
    """

    code: str
    position: str
    pointer: str
    message: str
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class Checked:
    """The result for one policy.

    Attributes:
        policy: the policy as named by the caller.
        findings: what is wrong.
        kept: how many promises were kept.
        elsewhere: the promises about places that this machine does not have.
    """

    policy: str
    findings: tuple[Finding, ...]
    kept: int = 0
    elsewhere: tuple[str, ...] = ()


def check_command(
    policies: Sequence[str], workspaces: Sequence[str], machine: Machine, *, as_json: bool
) -> int:
    """Check every policy, also after a bad one, and print what was found; returns the exit code."""
    results = [check_policy(policy, workspaces, machine) for policy in policies]
    if as_json:
        click.echo(json.dumps(_json(results), indent=2))
    else:
        for line in (line for result in results for line in _lines(result)):
            click.echo(line)
    return 1 if any(result.findings for result in results) else 0


def check_policy(policy: str, workspaces: Sequence[str], machine: Machine) -> Checked:
    """Decode one policy and hold it to its tests."""
    try:
        document = find_document(policy)
        roots = machine.workspace_roots(workspaces)
        bound = bind_document(
            document, facts=machine.facts, view=machine.view, cwd=roots[0], workspace_roots=roots
        )
    except SandboxctlError as error:
        return Checked(policy=policy, findings=(_refusal(error, policy),))
    return _tested(policy, document, bound, machine)


def _refusal(error: SandboxctlError, policy: str) -> Finding:
    if isinstance(error, PolicyError):
        return Finding(error.code, error.position, error.pointer, error.message, error.hint)
    return Finding(error.code, policy, "", error.message, error.hint)


def _tested(policy: str, document: PolicyDocument, bound: BoundPolicy, machine: Machine) -> Checked:
    index = DecisionIndex(bound)
    anchors = _anchors(bound, machine)
    text = read_json(document.text, file=document.file)
    findings: list[Finding] = []
    elsewhere: list[str] = []
    kept = 0
    for test in document.tests:
        places = promised_places(test, anchors, bound.dialect)
        if not places:
            elsewhere.append(f"{test.expect} {test.access} {test.path}")
            continue
        broken = list(_broken(test, places, index, machine, text))
        findings += broken
        kept += not broken
    return Checked(policy=policy, findings=tuple(findings), kept=kept, elsewhere=tuple(elsewhere))


def _anchors(bound: BoundPolicy, machine: Machine) -> Anchors:
    """Where test paths start; with a private `/tmp` both temporary directories are that one."""
    facts = machine.facts
    private = bound.tmp is TmpPlacement.PRIVATE and bound.dialect is PathDialect.POSIX
    return Anchors(
        workspace_roots=bound.workspace_roots,
        home=facts.home,
        tmpdir=PRIVATE_TMP if private else facts.tmpdir,
        slash_tmp=PRIVATE_TMP if private else facts.slash_tmp,
    )


def _broken(
    test: PolicyTest, places: Sequence[str], index: DecisionIndex, machine: Machine, text: JsonDocument
) -> Iterator[Finding]:
    """A finding for each place where the oracle does not answer as promised."""
    place = text.value_position(test.rule.pointer)
    position = f"{test.rule.source}:{place.line}:{place.column}"
    for path in places:
        try:
            resolved = machine.resolve(path)
        except SandboxctlError as error:
            yield Finding("test-unresolved", position, test.rule.pointer, error.message, error.hint)
            continue
        decision = index.decide(test.access, resolved)
        if is_kept(test, allowed=decision.allowed):
            continue
        verdict = "allowed" if decision.allowed else "denied"
        where = f"`{path}`" if path == resolved else f"`{path}` (`{resolved}`)"
        by = f", by {rule_name(decision.rule)}" if decision.rule is not None else ""
        yield Finding(
            "test-failed",
            position,
            test.rule.pointer,
            f"cannot keep `{test.expect} {test.access} {test.path}`: {test.access} of {where} is {verdict} "
            f"because {decision.reason}{by}",
        )


def _lines(result: Checked) -> Iterator[str]:
    for finding in result.findings:
        yield printable(f"{finding.position}: {finding.message}")
        if finding.hint is not None:
            yield printable(f"  hint: {finding.hint}")
    for promise in result.elsewhere:
        yield printable(f"{result.policy}: not tested, this machine has no such place: {promise}")
    if not result.findings:
        yield printable(f"{result.policy}: good, {result.kept} tests passed")


def _json(results: Sequence[Checked]) -> dict[str, Any]:
    return {
        "version": CHECK_VERSION,
        "good": not any(result.findings for result in results),
        "policies": [
            {
                "policy": result.policy,
                "tests_passed": result.kept,
                "not_tested": list(result.elsewhere),
                "findings": [
                    {
                        "code": finding.code,
                        "position": finding.position,
                        "pointer": finding.pointer,
                        "message": finding.message,
                        "hint": finding.hint,
                    }
                    for finding in result.findings
                ],
            }
            for result in results
        ],
    }
