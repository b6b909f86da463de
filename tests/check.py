"""Every check of this project in one command: `python -m tests.check`.

It decides nothing itself; each tool has its settings in pyproject.toml. Run by developers before a
change leaves their machine; `.ci/run` runs the same commands from nothing.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True, slots=True)
class Step:
    """One tool run.

    Attributes:
        name: what to call it in the report.
        argv: the command, run in the repository's root.
    """

    name: str
    argv: tuple[str, ...]


def _tool(name: str) -> str:
    """A console script of the environment that runs this module, whatever PATH says."""
    scripts = Path(sys.executable).parent
    return shutil.which(name, path=str(scripts)) or str(scripts / name)


LINT = (
    Step("ruff", (_tool("ruff"), "check", ".")),
    Step("ruff format", (_tool("ruff"), "format", "--check", ".")),
    *(
        Step(f"mypy {system}", (sys.executable, "-m", "mypy", "--platform", system))
        for system in ("linux", "darwin", "win32")
    ),
    Step("import contracts", (_tool("lint-imports"), "--no-logo")),
)
"""The checks that read code."""

TESTS = (Step("tests", (sys.executable, "-m", "pytest")),)
"""The checks that run it."""


def run(steps: tuple[Step, ...]) -> list[str]:
    """Run every step, also after a failure, and return the names of those that failed."""
    failed: list[str] = []
    for step in steps:
        print(f"--- {step.name}", flush=True)
        started = time.monotonic()
        if subprocess.run(step.argv, cwd=ROOT, check=False).returncode != 0:
            failed.append(step.name)
        print(f"--- {step.name}: {time.monotonic() - started:.1f} s", flush=True)
    return failed


def main(arguments: list[str]) -> int:
    """Run all checks, or with `--lint` only those that read code; exit code 1 when one failed."""
    failed = run(LINT if arguments == ["--lint"] else LINT + TESTS)
    print(f"failed: {', '.join(failed)}" if failed else "all checks passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
