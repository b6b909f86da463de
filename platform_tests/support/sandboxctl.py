"""The program under test: how to start `sandboxctl run` as somebody, and what came of it.

The only place in the platform tests that knows how the program is started. It judges nothing.
"""

import sys

assert sys.platform == "linux"

import json
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from platform_tests.support.ground import CHECKOUT, Ground

LIMIT_S: Final = 30.0
"""Longest time of one run; the slowest takes a tenth of it."""

_ENTRY: Final = "from sandboxing.cli.entry import main; main()"


@dataclass(frozen=True, slots=True)
class Run:
    """One finished run.

    Attributes:
        code: its exit code as a shell reports it.
        stdout: what the command wrote.
        stderr: what the command and the program wrote.
        report: the report it left, None when there is none.
    """

    code: int
    stdout: str
    stderr: str
    report: Any = None

    @property
    def own_lines(self) -> list[str]:
        """What the program itself said."""
        return [line for line in self.stderr.splitlines() if line.startswith("sandboxctl: ")]


def program() -> tuple[str, ...]:
    """The program as installed beside the interpreter, else from the checkout."""
    installed = shutil.which("sandboxctl", path=os.path.dirname(sys.executable))
    return (installed,) if installed is not None else (sys.executable, "-c", _ENTRY)


def caller_environment(ground: Ground) -> dict[str, str]:
    """The environment of the caller, with which the program finds its own code."""
    return {**ground.environment(), "PYTHONPATH": CHECKOUT}


def run_arguments(
    ground: Ground, argv: Sequence[str], *, policy: str = "workspace-write", options: Sequence[str] = ()
) -> tuple[str, ...]:
    """The whole command line of `sandboxctl run` in the ground's workspace."""
    where = ("--policy", policy, "--workspace", ground.workspace)
    return (*program(), "run", *where, *options, "--", *argv)


def run_sandboxctl(
    ground: Ground,
    argv: Sequence[str],
    *,
    policy: str = "workspace-write",
    options: Sequence[str] = (),
    through: Sequence[str] = (),
    variables: Mapping[str, str] | None = None,
    pass_fds: Sequence[int] = (),
) -> Run:
    """Run a command in a sandbox and wait for its end.

    Args:
        ground: whose workspace, home and identity.
        argv: the command.
        policy: a shipped name or a file.
        options: further options of `run`.
        through: a program that starts sandboxctl, given its command line.
        variables: further variables of the caller.
        pass_fds: descriptors that the program inherits.
    """
    report = ground.at("report.json")
    command = run_arguments(ground, argv, policy=policy, options=("--report", report, *options))
    finished = run_as(
        ground,
        (*through, *command),
        environment={**caller_environment(ground), **(variables or {})},
        pass_fds=pass_fds,
    )
    return Run(
        code=finished.code, stdout=finished.stdout, stderr=finished.stderr, report=_take_report(report)
    )


def run_as(
    ground: Ground,
    argv: Sequence[str],
    *,
    environment: Mapping[str, str] | None = None,
    pass_fds: Sequence[int] = (),
) -> Run:
    """Run any program as the ground's identity in its workspace, without a sandbox."""
    identity = ground.identity
    finished = subprocess.run(
        argv,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=LIMIT_S,
        cwd=ground.workspace,
        env=dict(ground.environment() if environment is None else environment),
        user=identity.user,
        group=identity.group,
        extra_groups=identity.extra_groups,
        umask=0o022,
        pass_fds=pass_fds,
    )
    code = finished.returncode if finished.returncode >= 0 else 128 - finished.returncode
    return Run(code=code, stdout=finished.stdout, stderr=finished.stderr)


def _take_report(path: str) -> Any:  # noqa: ANN401 - JSON
    try:
        with open(path, encoding="utf-8") as file:
            report = json.load(file)
    except FileNotFoundError:
        return None
    os.unlink(path)
    return report
