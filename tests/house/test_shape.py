"""The rules of `shape` hold for the repository, and each of them sees a planted fault."""

from __future__ import annotations

import pytest

from tests.house.repository import SourceFile, own_python, read_text_files
from tests.house.shape import MAX_LINES, nameless, too_long, undocumented
from tests.house.verdict import expect_none

PYTHON = own_python(read_text_files())


def test_the_repository_is_really_read() -> None:
    paths = {file.path for file in read_text_files()}
    assert {"pyproject.toml", "sandboxing/errors.py", "tests/house/test_shape.py"} <= paths
    assert not [path for path in paths if path.startswith(".git/") or "__pycache__" in path]


def test_no_file_is_too_long() -> None:
    expect_none(too_long(PYTHON))


def test_every_module_name_names_a_subject() -> None:
    expect_none(nameless(PYTHON))


def test_every_module_says_what_it_is_for() -> None:
    expect_none(undocumented(PYTHON))


@pytest.mark.parametrize(("lines", "findings"), [(MAX_LINES, 0), (MAX_LINES + 1, 1)])
def test_one_line_beyond_the_limit_is_seen(lines: int, findings: int) -> None:
    assert len(list(too_long([SourceFile(path="a.py", text="x = 1\n" * lines)]))) == findings


@pytest.mark.parametrize(
    ("path", "findings"),
    [
        ("sandboxing/utils.py", 1),
        ("sandboxing/path_utils.py", 1),
        ("execserver/common/ring.py", 1),
        ("execserver/process_manager.py", 1),
        ("sandboxing/misc/helpers.py", 2),
        ("sandboxing/utility_bill.py", 0),
        ("sandboxing/paths/uri.py", 0),
    ],
)
def test_a_name_without_a_subject_is_seen(path: str, findings: int) -> None:
    assert len(list(nameless([SourceFile(path=path, text="")]))) == findings


@pytest.mark.parametrize(
    ("text", "findings"),
    [("x = 1\n", 1), ('""""""\nx = 1\n', 1), ('"""Owns x."""\nx = 1\n', 0), ("", 0)],
)
def test_a_missing_docstring_is_seen(text: str, findings: int) -> None:
    assert len(list(undocumented([SourceFile(path="a.py", text=text)]))) == findings
