"""One project built and tested twice, outside and in the sandbox, and what differed.

It judges by files that the two runs left and never by what they printed. Used by `__main__`.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from platform_tests.real_work import driver, judgement, junit, prepare, trees, trs
from platform_tests.real_work.projects import JUNIT_FILE, Place, Project, Results, Step

TIMEOUT_S: Final = 900
"""Longest time of one run. The slowest takes a tenth of it on two cores."""

_GRACE_S: Final = 30
"""How much longer than the sandbox's own limit the sandbox program itself may take."""

_SANDBOXCTL: Final = "from sandboxing.cli.entry import main; main()"

_ANSWER: Final = "_answer.json"


@dataclass(frozen=True, slots=True)
class Work:
    """Where things lie.

    Attributes:
        top: the work directory.
        temporary: a directory below /tmp, for workspaces that shall lie there and as a /tmp of the control.
        checkout: the top of the sources of the sandbox.
        home: the home directory of what runs.
        preparing: the environment of preparations.
    """

    top: str
    temporary: str
    checkout: str
    home: str
    preparing: Mapping[str, str]

    def below(self, *names: str) -> str:
        """A path in the work directory."""
        return os.path.join(self.top, *names)


def sandbox_command() -> tuple[str, ...]:
    """How the sandbox program is started: as installed beside our interpreter, else from the checkout."""
    installed = os.path.join(os.path.dirname(sys.executable), "sandboxctl")
    if os.access(installed, os.X_OK):
        return (installed,)
    # -P: started in a workspace, and nothing in there may be imported outside of the sandbox
    return (sys.executable, "-P", "-c", _SANDBOXCTL)


def run_project(project: Project, work: Work) -> judgement.Case:
    """Prepare a project, run it both ways and compare.

    Raises:
        PreparationFailed: it could not even begin.
    """
    for folder in ("copies", "environments", "canaries", "logs"):
        os.makedirs(work.below(folder), exist_ok=True)
    venv = work.below("environments", project.name)
    prepare.make_environment(project, venv, work.preparing)
    shutil.copyfile(driver.__file__, work.below("driver.py"))
    outside = _run_side(project, work, venv, _Where.OUTSIDE)
    inside = _run_side(project, work, venv, _Where.INSIDE)
    return judgement.judge_case(project, outside, inside)


class _Where(Enum):
    OUTSIDE = "outside"
    INSIDE = "inside"


@dataclass(frozen=True, slots=True)
class _Launch:
    """What a side starts and where."""

    argv: tuple[str, ...]
    copy: str
    report: str


def _wrapped(launch: _Launch, where: _Where) -> tuple[str, ...]:
    if where is _Where.OUTSIDE:
        return launch.argv
    return (
        *sandbox_command(),
        *("run", "--policy", "workspace-write", "--workspace", launch.copy),
        *("--timeout", str(TIMEOUT_S), "--report", launch.report, "--", *launch.argv),
    )


def _run_side(project: Project, work: Work, venv: str, where: _Where) -> judgement.Side:
    # both sides build at the same path, one after the other: paths get into what compilers make
    parent = work.temporary if project.place is Place.SLASH_TMP else work.below("copies")
    holder = os.path.join(parent, project.name)
    copy = prepare.fresh_copy(project, work.below("downloads"), holder)
    canary = work.below("canaries", f"{project.name}-{where.value}")
    request = work.below("logs", f"{project.name}-{where.value}.request.json")
    answer = os.path.join(copy, _ANSWER)
    report = work.below("logs", f"{project.name}-{where.value}.report.json")
    argv = (os.path.join(venv, "bin", "python"), work.below("driver.py"), request, answer)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        _write_request(request, project, copy, canary, venv, listener.getsockname()[1])
        started = time.monotonic()
        launch = _Launch(argv=argv, copy=copy, report=report)
        code, log = _start(_wrapped(launch, where), copy, _environment(project, work, venv, where))
        seconds = time.monotonic() - started
    with open(work.below("logs", f"{project.name}-{where.value}.log"), "wb") as file:
        file.write(log)
    result = judgement.Side(
        code=code,
        seconds=seconds,
        answer=_read_json(answer),
        report=_read_json(report),
        outcomes=_outcomes(project, copy),
        tree={path: entry for path, entry in trees.read_tree(copy).items() if path != _ANSWER},
        canary_exists=os.path.exists(canary),
        log=log.decode(errors="replace"),
    )
    os.rename(holder, f"{holder}.{where.value}")
    return result


def _write_request(path: str, project: Project, copy: str, canary: str, venv: str, port: int) -> None:
    request = {
        "copy": copy,
        "steps": [_step(step, copy) for step in project.steps],
        "create": canary,
        "open": os.path.join(venv, "pyvenv.cfg"),
        "connect": port,
    }
    with open(path, "w", encoding="utf-8") as file:
        json.dump(request, file)


def _step(step: Step, copy: str) -> dict[str, Any]:
    return {
        "name": step.name,
        "argv": [argument.replace("{copy}", copy) for argument in step.argv],
        "env": {name: value.replace("{copy}", copy) for name, value in step.env},
    }


def _environment(project: Project, work: Work, venv: str, where: _Where) -> dict[str, str]:
    environment = {
        "PATH": os.pathsep.join((os.path.join(venv, "bin"), "/usr/local/bin", "/usr/bin", "/bin")),
        "HOME": work.home,
        "LANG": "C.UTF-8",
        "PYTHONPATH": work.checkout,  # for the sandbox program; the driver takes it from the steps
    }
    if where is _Where.OUTSIDE:
        # the sandbox has a /tmp of its own; tests with fixed names there would meet what others left
        environment["TMPDIR"] = os.path.join(work.temporary, f"{project.name}.tmp")
        os.mkdir(environment["TMPDIR"])
    return environment


def _start(argv: tuple[str, ...], copy: str, environment: Mapping[str, str]) -> tuple[int, bytes]:
    try:
        done = subprocess.run(
            argv,
            cwd=copy,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=TIMEOUT_S + _GRACE_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        return -1, (error.output or b"") + b"\ntimed out\n"
    return done.returncode, done.stdout


def _read_json(path: str) -> Mapping[str, Any]:
    try:
        with open(path, encoding="utf-8") as file:
            document: Mapping[str, Any] = json.load(file)
    except (OSError, ValueError):
        return {}
    return document


def _outcomes(project: Project, copy: str) -> junit.Outcomes:
    try:
        if project.results is Results.JUNIT:
            with open(os.path.join(copy, JUNIT_FILE), encoding="utf-8") as file:
                return junit.parse(file.read())
        return trs.parse(_trs_files(copy))
    except (OSError, ValueError):
        return {}  # too few tests, says the judgement


def _trs_files(copy: str) -> dict[str, str]:
    documents = {}
    for folder, _folders, files in os.walk(copy):
        for name in files:
            if name.endswith(".trs"):
                path = os.path.join(folder, name)
                with open(path, encoding="utf-8") as file:
                    documents[os.path.relpath(path, copy)] = file.read()
    return documents
