"""The proof on real work as a command: well-known projects build and test in the sandbox as outside of it.

It prepares, runs and prints; what counts as the same is decided in `judgement`. Started by people and by
the continuous integration, as root and as an ordinary user.
"""

from __future__ import annotations

import sys

assert sys.platform != "win32"

import argparse
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

CHECKOUT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

if __package__ in {None, ""}:  # started by its path
    sys.path[0] = CHECKOUT

from platform_tests.real_work.judgement import Case
from platform_tests.real_work.prepare import PreparationFailed, download
from platform_tests.real_work.projects import PROJECTS, Project
from platform_tests.real_work.run import Work, run_project
from platform_tests.real_work.table import summary

_LOG_LINES = 40


@dataclass(frozen=True, slots=True)
class Options:
    """The options, as given."""

    only: tuple[str, ...]
    work: str | None
    keep: bool
    as_uid: int | None
    prepared: bool


def options_of(arguments: Sequence[str]) -> Options:
    """Read the command line; ends the process when it is wrong."""
    parser = argparse.ArgumentParser(prog="python -m platform_tests.real_work", description=__doc__)
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        choices=[project.name for project in PROJECTS],
        help="this project",
    )
    parser.add_argument("--work", help="new work directory, not below /tmp; by default one in /var/tmp")
    parser.add_argument("--keep", action="store_true", help="leave the work directory")
    parser.add_argument("--as-uid", type=int, help="as root: do everything but the downloads as this user")
    parser.add_argument("--prepared", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.work is not None and os.path.commonpath(("/tmp", os.path.realpath(given.work))) == "/tmp":
        parser.error("--work: /tmp is private in the sandbox, which would hide the virtual environments")
    if given.work is not None and not given.prepared and os.path.isdir(given.work) and os.listdir(given.work):
        parser.error("--work: the directory is not empty, and it would be removed in the end")
    if given.as_uid is not None and os.geteuid() != 0:
        parser.error("--as-uid: only root can become somebody else")
    return Options(
        only=tuple(given.only),
        work=given.work,
        keep=given.keep,
        as_uid=given.as_uid,
        prepared=given.prepared,
    )


def chosen(options: Options) -> tuple[Project, ...]:
    """The projects that were asked for."""
    return tuple(project for project in PROJECTS if not options.only or project.name in options.only)


def main(arguments: Sequence[str]) -> int:
    """Run everything and print the summary; 0 only when all holds."""
    options = options_of(arguments)
    if options.work is None:
        top = tempfile.mkdtemp(prefix="real-work-", dir="/var/tmp")
    else:
        top = os.path.realpath(options.work)
        os.makedirs(top, exist_ok=True)
    try:
        if not options.prepared:
            os.makedirs(os.path.join(top, "home"), exist_ok=True)
            os.makedirs(os.path.join(top, "downloads"), exist_ok=True)
            _say(f"work directory {top}")
            download(chosen(options), os.path.join(top, "downloads"), dict(os.environ))
        if options.as_uid is not None:
            return _as_user(options, options.as_uid, top)
        return _prove(options, top)
    except PreparationFailed as error:
        _say(f"FAILED: {error}")
        return 1
    finally:
        if not options.keep and not options.prepared:
            shutil.rmtree(top, ignore_errors=True)


def _as_user(options: Options, uid: int, top: str) -> int:
    for folder, folders, files in os.walk(top):
        for path in (folder, *(os.path.join(folder, name) for name in (*folders, *files))):
            os.chown(path, uid, uid, follow_symlinks=False)
    only = [argument for name in options.only for argument in ("--only", name)]
    keep = ["--keep"] if options.keep else []
    environment = {**os.environ, "HOME": os.path.join(top, "home"), "PYTHONPATH": CHECKOUT}
    done = subprocess.run(
        [sys.executable, "-m", "platform_tests.real_work", "--prepared", "--work", top, *only, *keep],
        cwd=top,
        env=environment,
        user=uid,
        group=uid,
        extra_groups=[],
        check=False,
    )
    return done.returncode


def _prove(options: Options, top: str) -> int:
    home = os.path.join(top, "home")
    preparing: Mapping[str, str] = {**os.environ, "HOME": home}
    cases = []
    with tempfile.TemporaryDirectory(
        prefix="real-work-", dir="/tmp", ignore_cleanup_errors=True
    ) as temporary:
        work = Work(top=top, temporary=temporary, checkout=CHECKOUT, home=home, preparing=preparing)
        for project in chosen(options):
            _say(f"{project.name} {project.version}")
            case = run_project(project, work)
            cases.append(case)
            _tell(case)
    _say(f"\nas uid {os.geteuid()}:\n\n{summary(cases)}")
    return 1 if any(case.problems for case in cases) else 0


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _tell(case: Case) -> None:
    for problem in case.problems:
        _say(f"  {problem}")
    if case.problems:
        for name, side in (("outside", case.outside), ("inside", case.inside)):
            _say(f"  --- end of what was printed {name}")
            for line in side.log.splitlines()[-_LOG_LINES:]:
                _say(f"  {line}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
