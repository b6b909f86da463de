"""The rules of `host_questions` hold for the repository, and each of them sees a planted fault."""

from __future__ import annotations

import pytest

from tests.house.host_questions import HOMES, forbidden_arguments, misplaced_questions, stray_assertions
from tests.house.repository import SourceFile, own_python, read_text_files
from tests.house.verdict import expect_none

SYSCALLS = "sandboxing/backends/linux/syscalls/libc.py"
PYTHON = own_python(read_text_files())


def test_only_the_registry_asks_which_system_this_is() -> None:
    expect_none(misplaced_questions(PYTHON))


def test_product_code_asserts_nothing_but_its_platform() -> None:
    expect_none(stray_assertions(PYTHON))


def test_no_call_runs_python_after_fork_or_a_shell() -> None:
    expect_none(forbidden_arguments(PYTHON))


@pytest.mark.parametrize("name", HOMES)
@pytest.mark.parametrize(
    "form", ["import {m}\nx = {m}.{n}\n", "from {m} import {n}\n", "import {m} as m\nm.{n}\n"]
)
def test_a_question_outside_its_home_is_seen(name: str, form: str) -> None:
    module, _, attribute = name.partition(".")
    text = form.format(m=module, n=attribute)
    assert len(list(misplaced_questions([SourceFile(path="sandboxing/denial/join.py", text=text)]))) == 1


@pytest.mark.parametrize(
    ("path", "text", "findings"),
    [
        ("sandboxing/run/registry.py", "import sys\nx = sys.platform\n", 0),
        ("sandboxing/run/registry.py", "import os\nx = os.environ\n", 1),
        ("sandboxing/run/hostfacts.py", "import os\nx = os.environ\n", 0),
        ("sandboxing/cli/main.py", "import os\nx = os.environ\n", 0),
        ("sandboxing/cli/main.py", "import sys\nx = sys.platform\n", 1),
        ("sandboxing/launch/spawner.py", "import os\nos.fork()\n", 0),
        ("sandboxing/run/session.py", "import os\nos.fork()\n", 1),
        ("sandboxing/launch/spawner.py", "import os\nx = os.environ\n", 1),
        ("sandboxing/run/session.py", 'import sys\nassert sys.platform == "linux"\n', 0),
        ("tests/sandboxing/test_run.py", "import sys\nx = sys.platform\n", 0),
        (SYSCALLS, 'import sys\nassert sys.platform == "linux"\n', 0),
        (
            SYSCALLS,
            'import sys\nif sys.platform == "linux":\n    pass\n',
            1,
        ),
        ("sandboxing/denial/join.py", 'import sys\nassert sys.platform == "linux"\n', 1),
    ],
)
def test_each_question_has_its_own_home(path: str, text: str, findings: int) -> None:
    assert len(list(misplaced_questions([SourceFile(path=path, text=text)]))) == findings


@pytest.mark.parametrize(
    ("path", "text", "findings"),
    [
        ("sandboxing/launch/pod.py", 'assert sys.platform == "linux"\n', 0),
        ("sandboxing/launch/pod.py", "assert allowed\n", 1),
        ("sandboxing/launch/pod.py", "def f(x):\n    assert x is not None\n", 1),
        ("tests/test_pod.py", "assert allowed\n", 0),
    ],
)
def test_an_assertion_in_product_code_is_seen(path: str, text: str, findings: int) -> None:
    assert len(list(stray_assertions([SourceFile(path=path, text=text)]))) == findings


@pytest.mark.parametrize(
    ("text", "findings"),
    [
        ("Popen(argv, preexec_fn=setup)\n", 1),
        ("run(text, shell=True)\n", 1),
        ("run(text, shell=wanted)\n", 1),
        ("run(argv, shell=False)\n", 0),
        ("run(argv)\n", 0),
        ("ShellInfo(shell=found)\n", 0),
    ],
)
def test_a_forbidden_argument_is_seen(text: str, findings: int) -> None:
    assert len(list(forbidden_arguments([SourceFile(path="a.py", text=text)]))) == findings
