"""`sandboxctl run`: one command in one sandbox, at home on a terminal.

It keeps the promise of the exit codes: 124 timeout, 125 the sandbox or policy failed, 126 not executable,
127 not found, 128+n a signal, and otherwise the command's own.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

from sandboxing.binding.decide import DecisionIndex
from sandboxing.cli.prose import denial_line, rule_name, say, say_error
from sandboxing.contract.enforcement import Enforcement
from sandboxing.contract.launch import Command
from sandboxing.contract.outcome import (
    EXIT_NOT_EXECUTABLE,
    EXIT_NOT_FOUND,
    EXIT_SETUP_FAILED,
    Denial,
    Outcome,
    OutcomeKind,
)
from sandboxing.denial.error_text import ErrorText, denials_in
from sandboxing.denial.verdict import judge, setup_failed
from sandboxing.errors import LaunchFailed, LaunchFailure, SandboxctlError, SetupFailed
from sandboxing.profile.access import Access
from sandboxing.run.flow import Prepared, prepare_document
from sandboxing.run.host import Bounds, Keyboard
from sandboxing.run.judgement import OrdinaryPermissions
from sandboxing.run.machine import this_machine
from sandboxing.run.missing_names import MissingNames
from sandboxing.run.policies import find_document
from sandboxing.run.report import run_report
from sandboxing.run.report_file import ReportFile

_MOST_DENIAL_LINES = 4
"""With the hint after them, a denied run prints at most five lines."""


class ReportStyle(Enum):
    """How the end of a run is told on standard error."""

    PROSE = "prose"
    JSON = "json"


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options of `run`, as given."""

    policy: str
    workspaces: tuple[str, ...]
    cwd: str | None
    timeout_s: float | None
    report: str | None
    allow_degraded: frozenset[str]
    style: ReportStyle
    keyboard: Keyboard
    argv: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _End:
    """What is told about a run."""

    outcome: Outcome
    code: int
    policy: str | None = None
    enforcement: Enforcement | None = None
    findings: Sequence[str] = ()
    error: SandboxctlError | None = None


def run_command(options: RunOptions) -> int:
    """Run the command and tell how it went; returns the exit code."""
    try:
        report = None if options.report is None else ReportFile.open(options.report)
    except SandboxctlError as error:
        say_error(error)
        return EXIT_SETUP_FAILED
    try:
        end = _run(options)
    except SandboxctlError as error:
        end = _End(outcome=setup_failed(error), code=EXIT_SETUP_FAILED, error=error)
    _tell(end, options, report)
    return end.code


def _run(options: RunOptions) -> _End:
    machine = this_machine()
    roots = machine.workspace_roots(options.workspaces)
    cwd = machine.resolve(options.cwd) if options.cwd is not None else roots[0]
    facts = replace(machine.facts, cwd=roots[0])
    document = find_document(options.policy)
    host = machine.confining_host()
    prepared = prepare_document(
        document,
        backend=host,
        facts=facts,
        view=machine.view,
        workspace_roots=roots,
        allow_degraded=options.allow_degraded,
    )
    command = Command(argv=options.argv, cwd=cwd, env=prepared.environment(machine.environment))
    enforcement = prepared.planned.enforcement
    names = MissingNames.before(prepared.bound)
    try:
        finished = host.run_in_foreground(
            prepared.planned.launch,
            command,
            bounds=Bounds.of(prepared.bound.limits, timeout_s=options.timeout_s),
            keyboard=options.keyboard,
        )
    except LaunchFailed as error:
        outcome = Outcome(kind=OutcomeKind.SETUP_FAILED, error_code=error.code, error=error.message)
        named = _launch_error(error, command, prepared)
        return _End(
            outcome=outcome,
            code=_launch_code(error),
            policy=document.name,
            enforcement=enforcement,
            error=named,
        )
    except SetupFailed as error:
        raise host.explain_failure(error) from error
    denials: Sequence[Denial] = ()
    if finished.exit.shell_code != 0:
        text = ErrorText(text=finished.error_text, cwd=cwd)
        denials = denials_in(text, prepared.bound, OrdinaryPermissions(), facts.dialect)
    outcome = judge(finished.exit, denials)
    return _End(
        outcome=outcome,
        code=finished.exit.shell_code,
        policy=document.name,
        enforcement=enforcement,
        findings=names.findings(),
    )


def _launch_code(error: LaunchFailed) -> int:
    return {
        LaunchFailure.NOT_FOUND: EXIT_NOT_FOUND,
        LaunchFailure.NOT_EXECUTABLE: EXIT_NOT_EXECUTABLE,
    }.get(error.failure, EXIT_SETUP_FAILED)


def _launch_error(error: LaunchFailed, command: Command, prepared: Prepared) -> SandboxctlError:
    if error.failure is LaunchFailure.BAD_CWD:
        return SandboxctlError(f"cannot enter `{command.cwd}`: {os.strerror(error.errno).lower()}")
    program = command.argv[0]
    hint = None
    outside = shutil.which(program, path=command.env.get("PATH"))
    if error.failure is LaunchFailure.NOT_FOUND and outside is not None:
        decision = DecisionIndex(prepared.bound).decide(Access.READ, os.path.realpath(outside))
        if not decision.allowed:
            by = f" by {rule_name(decision.rule)}" if decision.rule is not None else ""
            hint = f"{outside} exists outside; the policy does not show it{by}"
    return SandboxctlError(f"cannot run `{program}`: {os.strerror(error.errno).lower()}", hint=hint)


def _tell(end: _End, options: RunOptions, report_file: ReportFile | None) -> None:
    report = run_report(
        end.outcome,
        argv=options.argv,
        policy=end.policy,
        enforcement=end.enforcement,
        findings=end.findings,
    )
    if report_file is not None:
        try:
            report_file.write(report)
        except OSError as error:
            say(f"cannot write `{options.report}`: {(error.strerror or str(error)).lower()}")
    if options.style is ReportStyle.JSON:
        sys.stderr.write(json.dumps(report) + "\n")
        return
    if end.error is not None:
        say_error(end.error)
    for finding in end.findings:
        say(f"warning: {finding}")
    denials = end.outcome.denials
    for denial in denials[:_MOST_DENIAL_LINES]:
        say(denial_line(denial))
    remedies = [denial.remedy for denial in denials if denial.remedy is not None]
    if remedies:
        say(f"to allow it, {remedies[0]}")
    exit_ = end.outcome.exit
    if exit_ is not None and exit_.limit is not None:
        say(f"the command was ended by the limit {exit_.limit}")
