"""Which places a policy's own test speaks of."""

from __future__ import annotations

import pytest

from sandboxing.paths.native import PathDialect
from sandboxing.policyfile.promises import Anchors, is_kept, promised_places
from sandboxing.policyfile.settings import Expectation, PolicyTest
from sandboxing.profile.access import Access
from sandboxing.profile.rule_id import RuleId

POSIX = Anchors(workspace_roots=("/w", "/v"), home="/home/u", tmpdir="/var/tmp/x", slash_tmp="/tmp")
WINDOWS = Anchors(workspace_roots=("C:\\w",), home="C:\\Users\\u", tmpdir=None, slash_tmp=None)


def promise(path: str, expect: Expectation = Expectation.MAY) -> PolicyTest:
    return PolicyTest(expect=expect, access=Access.READ, path=path, rule=RuleId("p", "/tests/0"))


@pytest.mark.parametrize(
    ("path", "places"),
    [
        (":workspace_roots", ("/w", "/v")),
        (":workspace_roots/a/b", ("/w/a/b", "/v/a/b")),
        (":tmpdir/a", ("/var/tmp/x/a",)),
        (":slash_tmp", ("/tmp",)),
        ("~", ("/home/u",)),
        ("~/.ssh/x", ("/home/u/.ssh/x",)),
        ("/etc/hosts", ("/etc/hosts",)),
        ("/", ("/",)),
        ("C:\\x", ()),
    ],
)
def test_places_on_posix(path: str, places: tuple[str, ...]) -> None:
    assert promised_places(promise(path), POSIX, PathDialect.POSIX) == places


@pytest.mark.parametrize(
    ("path", "places"),
    [
        (":workspace_roots/a/b", ("C:\\w\\a\\b",)),
        (":tmpdir/a", ()),
        (":slash_tmp/a", ()),
        ("~/.ssh", ("C:\\Users\\u\\.ssh",)),
        ("D:\\x", ("D:\\x",)),
        ("/etc/hosts", ()),
    ],
)
def test_places_on_windows(path: str, places: tuple[str, ...]) -> None:
    assert promised_places(promise(path), WINDOWS, PathDialect.WINDOWS) == places


def test_a_promise_is_kept_by_the_answer_that_it_expects() -> None:
    assert is_kept(promise("/"), allowed=True)
    assert not is_kept(promise("/"), allowed=False)
    assert is_kept(promise("/", Expectation.MAY_NOT), allowed=False)
    assert not is_kept(promise("/", Expectation.MAY_NOT), allowed=True)
