"""A line of error text is a denial only when the policy, and nothing else, made it come true."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from sandboxing.binding.bound import (
    BoundPolicy,
    BoundRule,
    FilesystemKind,
    NetworkMode,
    PathKind,
)
from sandboxing.contract.outcome import Denial
from sandboxing.denial.error_text import ErrorText, denials_in
from sandboxing.paths.native import PathDialect
from sandboxing.profile.access import Access, AccessMode
from sandboxing.profile.rule_id import RuleId

_ROOT = RuleId(source="p.json", pointer="/0")
_WORK = RuleId(source="p.json", pointer="/1")
_KEYS = RuleId(source="p.json", pointer="/2")


@dataclass(frozen=True)
class _Host:
    """A host without links on which everything is allowed, but for some paths."""

    forbidden: frozenset[str] = field(default_factory=frozenset)

    def resolve(self, path: str) -> str:
        return path

    def would_allow(self, path: str, access: Access) -> bool:
        del access
        return path not in self.forbidden


def _rule(rule: RuleId, access: AccessMode, path: str) -> BoundRule:
    return BoundRule(rule=rule, access=access, path=path, spelled=path, kind=PathKind.DIRECTORY)


_POLICY = BoundPolicy(
    name="p",
    filesystem=FilesystemKind.RESTRICTED,
    rules=(
        _rule(_ROOT, AccessMode.READ, "/"),
        _rule(_WORK, AccessMode.WRITE, "/w"),
        _rule(_KEYS, AccessMode.DENY, "/home/me/.ssh"),
    ),
    network=NetworkMode.RESTRICTED,
    network_rule=RuleId(source="p.json", pointer="/network"),
    cwd="/w",
    workspace_roots=("/w",),
)


def _found(text: str, host: _Host | None = None) -> tuple[Denial, ...]:
    return denials_in(ErrorText(text=text, cwd="/w/sub"), _POLICY, host or _Host(), PathDialect.POSIX)


@pytest.mark.parametrize(
    "line",
    [
        "touch: cannot touch '/etc/x': Read-only file system",
        "sh: 1: cannot create /etc/x: Read-only file system",
        "bash: line 1: /etc/x: Read-only file system",
        "OSError: [Errno 30] Read-only file system: '/etc/x'",
        "mkdir: cannot create directory \u2018/etc/x\u2019: Read-only file system",
        "Error: EROFS: read-only file system, open '/etc/x'",
        "cp: cannot create regular file '../../etc/x': Read-only file system",
    ],
)
def test_a_refused_write_names_the_path_and_the_rule(line: str) -> None:
    (denial,) = _found(line)
    assert (denial.operation, denial.resolved, denial.rule) == (Access.WRITE, "/etc/x", _ROOT)
    assert denial.errno_name == "EROFS"


def test_a_refused_read_names_the_rule_that_hides_the_file() -> None:
    (denial,) = _found("cat: /home/me/.ssh/id_rsa: Permission denied")
    assert (denial.operation, denial.rule) == (Access.READ, _KEYS)


@pytest.mark.parametrize(
    "line",
    [
        "cat: /etc/shadow: Permission denied",  # readable under the policy: the file's own mode refused it
        "touch: cannot touch '/w/x': Read-only file system",  # writable under the policy
        "ssh: git@host: Permission denied (publickey).",
        "testGetaddrinfo (test.support) ... ok",
        "everything is fine with /etc/x",
        "x: \0: Permission denied",
        "",
    ],
)
def test_what_the_policy_did_not_cause_is_no_denial(line: str) -> None:
    assert _found(line) == ()


def test_what_the_host_would_refuse_anyway_is_not_blamed_on_the_policy() -> None:
    line = "touch: cannot touch '/etc/x': Read-only file system"
    assert _found(line, _Host(forbidden=frozenset({"/etc/x"}))) == ()


def test_the_same_refusal_is_told_once() -> None:
    line = "touch: cannot touch '/etc/x': Read-only file system\n"
    assert len(_found(line * 50)) == 1


@pytest.mark.parametrize(
    "line",
    [
        "curl: (6) Could not resolve host: example.org",
        "socket.gaierror: [Errno -3] Temporary failure in name resolution",
        "Error: getaddrinfo EAI_AGAIN example.org",
        "connect: Network is unreachable",
    ],
)
def test_a_network_that_leads_nowhere_is_a_guess_at_the_network_rule(line: str) -> None:
    (denial,) = _found(line)
    assert (denial.operation, denial.rule, str(denial.confidence)) == (
        "connect",
        _POLICY.network_rule,
        "guess",
    )
