"""The public Python API: run a command in a sandbox and get its output, outcome and report.

`run` blocks, `run_async` does not; both may be called from programs with threads. For many commands of one
long-lived program, the exec-server is the better tool.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from sandboxing.contract.enforcement import Enforcement
from sandboxing.contract.launch import Command
from sandboxing.contract.outcome import Outcome
from sandboxing.denial.error_text import ErrorText, denials_in
from sandboxing.denial.verdict import judge
from sandboxing.errors import SetupFailed
from sandboxing.policyfile.document import PolicyDocument
from sandboxing.run.flow import prepare_document
from sandboxing.run.host import Bounds
from sandboxing.run.judgement import OrdinaryPermissions
from sandboxing.run.machine import this_machine
from sandboxing.run.missing_names import MissingNames
from sandboxing.run.policies import find_document
from sandboxing.run.report import run_report

OUTPUT_KEPT: Final = 64 * 1024 * 1024
"""Bytes kept of each stream; more is read and dropped, unless the policy's output limit ends the command."""


@dataclass(frozen=True, slots=True)
class RunResult:
    """What came of a run.

    Attributes:
        outcome: how it ended; its exit's `shell_code` is what a shell would report.
        stdout: standard output, up to the limit.
        stderr: standard error, up to the limit.
        truncated: whether the limit cut either.
        enforcement: what was enforced, rule by rule.
        findings: what the check after the run found.
        report: all of it but the output, in the shape of `sandboxctl run --report`.
    """

    outcome: Outcome
    stdout: bytes
    stderr: bytes
    truncated: bool
    enforcement: Enforcement
    findings: tuple[str, ...]
    report: Mapping[str, Any]


def run(
    argv: Sequence[str],
    *,
    policy: str | PolicyDocument = "workspace-write",
    workspaces: Sequence[str] = (),
    cwd: str | None = None,
    environment: Mapping[str, str] | None = None,
    stdin: bytes = b"",
    timeout_s: float | None = None,
) -> RunResult:
    """Run a command in a sandbox and wait for its end.

    Args:
        argv: program and arguments.
        policy: a shipped policy's name, a policy file's path, or a decoded policy.
        workspaces: workspace roots; the current directory when empty.
        cwd: where the command starts; the first workspace by default.
        environment: what the command's environment is made from; this process's own by default.
        stdin: what the command reads.
        timeout_s: seconds of wall time.

    Raises:
        PolicyError: the policy is wrong.
        SandboxUnavailable: this host cannot hold what the policy demands.
        SetupFailed: the sandbox could not be built.
        LaunchFailed: the program could not be started.
    """
    machine = this_machine()
    roots = machine.workspace_roots(workspaces)
    start = machine.resolve(cwd) if cwd is not None else roots[0]
    caller = environment if environment is not None else machine.environment
    facts = replace(machine.facts, cwd=roots[0])
    document = policy if isinstance(policy, PolicyDocument) else find_document(policy)
    host = machine.confining_host()
    prepared = prepare_document(document, backend=host, facts=facts, view=machine.view, workspace_roots=roots)
    names = MissingNames.before(prepared.bound)
    try:
        captured = host.run_captured(
            prepared.planned.launch,
            Command(
                argv=tuple(argv),
                cwd=start,
                env=prepared.environment(caller),
            ),
            stdin=stdin,
            keep=OUTPUT_KEPT,
            bounds=Bounds.of(prepared.bound.limits, timeout_s=timeout_s),
        )
    except SetupFailed as error:
        raise host.explain_failure(error) from error
    text = ErrorText(text=captured.stderr.decode(errors="replace"), cwd=start)
    failed = captured.exit.shell_code != 0
    denials = denials_in(text, prepared.bound, OrdinaryPermissions(), facts.dialect) if failed else ()
    outcome = judge(captured.exit, denials)
    findings = names.findings()
    return RunResult(
        outcome=outcome,
        stdout=captured.stdout,
        stderr=captured.stderr,
        truncated=captured.truncated,
        enforcement=prepared.planned.enforcement,
        findings=findings,
        report=run_report(
            outcome,
            argv=argv,
            policy=document.name,
            enforcement=prepared.planned.enforcement,
            findings=findings,
        ),
    )


async def run_async(
    argv: Sequence[str],
    *,
    policy: str | PolicyDocument = "workspace-write",
    workspaces: Sequence[str] = (),
    cwd: str | None = None,
    environment: Mapping[str, str] | None = None,
    stdin: bytes = b"",
    timeout_s: float | None = None,
) -> RunResult:
    """`run` for a program with an event loop; the same arguments, errors and result."""
    return await asyncio.to_thread(
        run,
        argv,
        policy=policy,
        workspaces=workspaces,
        cwd=cwd,
        environment=environment,
        stdin=stdin,
        timeout_s=timeout_s,
    )
