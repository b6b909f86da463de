"""What `explain`, `check` and `doctor` say about this host, compared with what a command really meets.

It needs user namespaces and Landlock, as `run` does.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from sandboxing.policyfile.shipped import load_shipped, shipped_names
from sandboxing.profile.access import Access
from sandboxing.run.answer import answer
from sandboxing.run.explain import explain
from sandboxing.run.machine import this_machine

ROOT = Path(__file__).resolve().parents[2]
START = "import sys; sys.path.insert(0, sys.argv.pop(1)); from sandboxing.cli.entry import main; main()"

PLACES = ("src/a", ".git/config", "../home/.ssh/key", "../home/note", "../beside/a", "out", "in")

TRY_ALL = """
for path in "$@"; do
  if cat "$path" >/dev/null 2>&1; then echo read yes; else echo read no; fi
  if (: >>"$path") 2>/dev/null; then echo write yes; else echo write no; fi
done
exit 0
"""

pytestmark = pytest.mark.kernel


def environment(workspace: Path) -> dict[str, str]:
    """The caller's environment: a home of its own beside the workspace."""
    return {"PATH": os.environ["PATH"], "HOME": str(workspace.parent / "home"), "COLUMNS": "100"}


def sandboxctl(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run the command line in a process of its own, as people do."""
    return subprocess.run(
        [sys.executable, "-c", START, str(ROOT), *arguments],
        cwd=cwd,
        env=environment(cwd),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.fixture
def workspace() -> Iterator[Path]:
    """A repository beside a home with a secret; not below /tmp, which is the command's own."""
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="sandboxctl-explain.") as name:
        root = Path(os.path.realpath(name))
        project = root / "project"
        for file in ("project/src/a", "project/.git/config", "home/.ssh/key", "home/note", "beside/a"):
            (root / file).parent.mkdir(parents=True, exist_ok=True)
            (root / file).write_text("content\n", encoding="utf-8")
        (project / "out").symlink_to(root / "beside" / "a")
        (project / "in").symlink_to("src/a")
        yield project


@pytest.mark.parametrize("policy", shipped_names())
def test_what_is_said_of_a_path_is_what_a_command_meets(workspace: Path, policy: str) -> None:
    here = this_machine()
    facts = replace(here.facts, cwd=str(workspace), home=environment(workspace)["HOME"], tmpdir=None)
    machine = replace(here, facts=facts, environment=environment(workspace))
    explanation = explain(load_shipped(policy), machine, (str(workspace),))
    said = [
        f"{access} {'yes' if answer(explanation, machine, place, access).decision.allowed else 'no'}"
        for place in PLACES
        for access in (Access.READ, Access.WRITE)
    ]
    met = sandboxctl("run", "--policy", policy, "--", "sh", "-c", TRY_ALL, "sh", *PLACES, cwd=workspace)
    assert met.returncode == 0, met.stderr
    assert met.stdout.splitlines() == said


def test_the_exit_code_is_the_answer(workspace: Path) -> None:
    codes = [
        sandboxctl("explain", "--path", place, "--access", "write", cwd=workspace).returncode
        for place in ("src/a", ".git/config")
    ]
    assert codes == [0, 1]


@pytest.mark.parametrize("policy", shipped_names())
def test_every_shipped_policy_can_be_explained_and_would_run(workspace: Path, policy: str) -> None:
    result = sandboxctl("explain", policy, "--plan", cwd=workspace)
    assert (result.returncode, result.stderr) == (0, "")
    assert "would be refused" not in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 100


def test_every_shipped_policy_keeps_its_promises_here(workspace: Path) -> None:
    result = sandboxctl("check", *shipped_names(), cwd=workspace)
    assert (result.returncode, result.stderr) == (0, ""), result.stdout


def test_doctor_builds_a_sandbox(workspace: Path) -> None:
    result = sandboxctl("doctor", "--json", cwd=workspace)
    told = json.loads(result.stdout)
    assert (result.returncode, told["works"]) == (0, True), told["trial"]
    assert told["versions"]["landlock"].startswith("ABI ")


def test_a_current_directory_that_is_gone_is_an_error_and_no_crash(workspace: Path) -> None:
    gone = workspace / "gone"
    gone.mkdir()
    inside = f'rmdir {gone}; exec "$@"'
    result = subprocess.run(
        ["sh", "-c", inside, "sh", sys.executable, "-c", START, str(ROOT), "explain"],
        cwd=gone,
        env=environment(workspace),
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 125
    assert result.stderr == "sandboxctl: cannot find `current directory`: no such file or directory\n"
