"""The denial heuristic: the protocol's order of checks, and the behaviour table measured on the reference."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandboxing.denial.heuristic import (
    CommandText,
    Reason,
    denial_reason,
    keyword_reason,
    looks_denied,
    looks_denied_elsewhere,
)

LINUX = "linuxSeccomp"

CASES = [
    (LINUX, 1, b"/bin/sh: 1: cannot create new: Read-only file system\n", b"ws", True),
    (LINUX, 0, b"cannot create new: Read-only file system\n", b"", False),
    (LINUX, 1, b"the sandbox is here\n", b"", True),
    (LINUX, 1, b"", b"seccomp\n", True),
    (LINUX, 127, b"/bin/sh: 1: nosuchcmd_zz: not found\n", b"", False),
    (LINUX, 1, b"", b"", False),
    (LINUX, 2, b"cat: ../other/secret: Permission denied\n", b"", True),
    (LINUX, 126, b"sh: ./x: Permission denied\n", b"", True),
    (LINUX, 2, b"usage: x\n", b"", False),
    (LINUX, 126, b"", b"", False),
    (LINUX, 159, b"Bad system call\n", b"", True),
    ("macosSeatbelt", 159, b"Bad system call\n", b"", False),
    (LINUX, 137, b"Killed\n", b"", False),
    (LINUX, 1, b"Keine Berechtigung\n", b"", False),
    (LINUX, 6, b"curl: (6) Could not resolve host\n", b"", False),
    (LINUX, 101, b"FAILED TO WRITE FILE a.txt\n", b"", True),
    (LINUX, 1, b"", b"LandLock refused\n", True),
    ("none", 1, b"Permission denied\n", b"", False),
    ("none", 159, b"", b"", False),
]


@pytest.mark.parametrize(("sandbox_type", "exit_code", "stderr", "stdout", "denied"), CASES)
def test_the_behaviour_table_of_the_reference_holds(
    sandbox_type: str,
    exit_code: int,
    stderr: bytes,
    stdout: bytes,
    *,
    denied: bool,
) -> None:
    text = CommandText(stderr=stderr, stdout=stdout, aggregated=stdout + stderr)
    assert looks_denied(sandbox_type=sandbox_type, exit_code=exit_code, text=text) is denied


def test_a_keyword_split_over_two_streams_is_found_in_the_aggregate() -> None:
    text = CommandText(stderr=b"denied", stdout=b"permission ", aggregated=b"permission denied")
    assert keyword_reason(text) is Reason.PERMISSION_DENIED


def test_the_error_output_is_searched_before_the_standard_output() -> None:
    text = CommandText(stderr=b"sandbox", stdout=b"Operation not permitted")
    assert denial_reason(sandbox_type=LINUX, exit_code=1, text=text) is Reason.POLICY_DENIED


@given(st.binary(), st.binary(), st.integers(min_value=-1, max_value=255))
def test_an_unconfined_or_successful_command_is_never_denied(out: bytes, err: bytes, code: int) -> None:
    text = CommandText(stderr=err, stdout=out, aggregated=out + err)
    assert not looks_denied(sandbox_type="none", exit_code=code, text=text)
    assert not looks_denied(sandbox_type=LINUX, exit_code=0, text=text)


@given(st.binary(), st.sampled_from(["sandbox", "SECCOMP", "Permission Denied"]), st.integers(1, 255))
def test_a_keyword_anywhere_in_the_error_output_of_a_failed_command_means_denied(
    noise: bytes, keyword: str, code: int
) -> None:
    text = CommandText(stderr=noise + keyword.encode() + noise)
    assert looks_denied(sandbox_type=LINUX, exit_code=code, text=text)
    assert looks_denied_elsewhere(exit_code=code, text=text)
