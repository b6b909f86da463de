"""`sandboxctl doctor`: what this host can enforce, and whether a sandbox really stands here.

It looks at features one by one and then builds a whole sandbox, because only that proves anything. Exit
code 0 when a command ran in it, 1 when not.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import click

from sandboxing.cli.prose import PROGRAM, printable
from sandboxing.contract.capabilities import Capabilities, Feature, Need
from sandboxing.contract.launch import Command
from sandboxing.errors import SandboxctlError, SetupFailed
from sandboxing.policyfile.decode import decode_policy
from sandboxing.run.flow import prepare_document
from sandboxing.run.host import Bounds, ConfiningHost
from sandboxing.run.machine import Machine

DOCTOR_VERSION = 1
"""Version of the JSON shape of the result."""

_TRIAL_POLICY = (
    '{"version": 1, "name": "doctor", "profile": {"type": "managed", "network": "restricted", '
    '"file_system": {"type": "restricted", "entries": ['
    '{"path": {"type": "special", "value": {"kind": "root"}}, "access": "read"}]}}}'
)
_TRIAL_COMMAND = ("true",)
_TRIAL_TIMEOUT_S = 20.0
"""A sandbox takes milliseconds; what takes longer than this will not come."""

_CALLER = "root-caller"
"""The feature that says who asks; a caller who is not root lacks nothing."""

_OUTPUT_BYTES = 64 * 1024
_DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin"


@dataclass(frozen=True, slots=True)
class Trial:
    """How the attempt went.

    Attributes:
        step: the failing step, or None when the sandbox worked.
        message: why it failed, or None.
        hint: the least change that would cure it, when it is known.
    """

    step: str | None = None
    message: str | None = None
    hint: str | None = None

    @property
    def worked(self) -> bool:
        """Whether a command ran in a sandbox."""
        return self.step is None


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Everything that `doctor` found out.

    Attributes:
        capabilities: the features of the host; None when nothing here could confine anything.
        trial: how building a sandbox went.
        versions: versions of what takes part, by name.
    """

    capabilities: Capabilities | None
    trial: Trial
    versions: Mapping[str, str]


def doctor_command(machine: Machine, *, as_json: bool) -> int:
    """Examine the machine and print what was found; returns the exit code."""
    found = diagnose(machine)
    if as_json:
        click.echo(json.dumps(_json(found), indent=2))
    else:
        for line in _lines(found):
            click.echo(printable(line))
    return 0 if found.trial.worked else 1


def diagnose(machine: Machine) -> Diagnosis:
    """Look at every feature, then try a whole sandbox."""
    try:
        host = machine.confining_host()
    except SandboxctlError as error:
        trial = Trial(step="backend", message=error.message, hint=error.hint)
        return Diagnosis(capabilities=None, trial=trial, versions=_versions(capabilities=None))
    capabilities = host.probe()
    return Diagnosis(capabilities=capabilities, trial=_try(host, machine), versions=_versions(capabilities))


def _try(host: ConfiningHost, machine: Machine) -> Trial:
    """One command in one sandbox, from the policy's text to the exit code."""
    document = decode_policy(_TRIAL_POLICY, file="doctor")
    root = machine.facts.dialect.components(machine.facts.cwd)[0]
    command = Command(
        argv=_TRIAL_COMMAND, cwd=root, env={"PATH": machine.environment.get("PATH") or _DEFAULT_PATH}
    )
    try:
        prepared = prepare_document(
            document, backend=host, facts=machine.facts, view=machine.view, workspace_roots=(root,)
        )
        done = host.run_captured(
            prepared.planned.launch,
            command,
            stdin=b"",
            keep=_OUTPUT_BYTES,
            bounds=Bounds(timeout_s=_TRIAL_TIMEOUT_S),
        )
    except SetupFailed as error:
        named = host.explain_failure(error)
        return Trial(step=error.step, message=named.message, hint=named.hint)
    except SandboxctlError as error:
        return Trial(step=error.code, message=error.message, hint=error.hint)
    except OSError as error:
        cause = (error.strerror or str(error)).lower()
        return Trial(step="spawn", message=f"cannot start `a spawner`: {cause}")
    if done.exit.timed_out:
        return Trial(step="run", message=f"cannot finish `{_TRIAL_COMMAND[0]}`: its time was up")
    if done.exit.shell_code != 0:
        said = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        cause = f"it exited with {done.exit.shell_code}" + (f" and said {said}" if said else "")
        return Trial(step="run", message=f"cannot run `{_TRIAL_COMMAND[0]}`: {cause}")
    return Trial()


def _versions(capabilities: Capabilities | None) -> Mapping[str, str]:
    versions = {
        PROGRAM: _installed(PROGRAM),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "kernel": platform.release(),
    }
    landlock = capabilities.feature("landlock") if capabilities is not None else None
    if landlock is not None:
        versions["landlock"] = landlock.detail if landlock.available else "none"
    seccomp = capabilities.feature("seccomp") if capabilities is not None else None
    if seccomp is not None:
        versions["libseccomp"] = seccomp.detail if seccomp.available else "none"
    for binding in ("pyseccomp", "landlockpy"):
        if capabilities is not None:
            versions[binding] = _installed(binding)
    return versions


def _installed(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "not installed"


def _lines(found: Diagnosis) -> list[str]:
    lines: list[str] = []
    if found.capabilities is not None:
        lines.append(f"{found.capabilities.backend} on {found.capabilities.host}")
        for feature in found.capabilities.features:
            lines += _feature_lines(feature)
        lines.append("")
    trial = found.trial
    if trial.worked:
        lines.append(f"a sandbox works here: `{_TRIAL_COMMAND[0]}` ran in one")
    else:
        lines.append(f"no sandbox works here: {trial.message}")
        lines.append(f"  step  {trial.step}")
        if trial.hint is not None:
            lines.append(f"  cure  {trial.hint}")
    lines.append("")
    column = max(map(len, found.versions))
    lines += [f"{name.ljust(column)}  {number}" for name, number in found.versions.items()]
    return lines


def _feature_lines(feature: Feature) -> list[str]:
    if feature.name == _CALLER:
        return [f"  {'caller':<25} {feature.detail}"]
    state = "ok" if feature.available else "missing"
    weight = "" if feature.need is Need.REQUIRED else "  (hardening)"
    lines = [f"  {state:<8} {feature.name:<16} {feature.detail}{weight}"]
    if not feature.available and feature.cure is not None:
        lines.append(f"{' ' * 11}cure: {feature.cure}")
    return lines


def _json(found: Diagnosis) -> dict[str, Any]:
    capabilities, trial = found.capabilities, found.trial
    return {
        "version": DOCTOR_VERSION,
        "works": trial.worked,
        "backend": None if capabilities is None else capabilities.backend,
        "host": None if capabilities is None else capabilities.host,
        "features": [
            {
                "name": feature.name,
                "need": str(feature.need),
                "available": feature.available,
                "detail": feature.detail,
                "cure": None if feature.available else feature.cure,
            }
            for feature in (capabilities.features if capabilities is not None else ())
        ],
        "trial": {"step": trial.step, "message": trial.message, "hint": trial.hint},
        "versions": dict(found.versions),
    }
