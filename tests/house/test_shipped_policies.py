"""Every rule of the shipped policies gives its reason, and a rule without one is seen."""

from __future__ import annotations

import json

import pytest

from tests.house.repository import SourceFile, read_text_files
from tests.house.shipped_policies import without_reason
from tests.house.verdict import expect_none


def _policy(rule: dict[str, object]) -> SourceFile:
    document = {"version": 1, "profile": {"file_system": {"entries": [rule]}}}
    return SourceFile(path="policies/planted.json", text=json.dumps(document))


def test_every_shipped_rule_says_why() -> None:
    expect_none(without_reason(read_text_files()))


@pytest.mark.parametrize("why", [{}, {"why": ""}, {"why": "  "}, {"why": 7}])
def test_a_rule_without_a_reason_is_seen(why: dict[str, object]) -> None:
    findings = list(without_reason([_policy({"path": {}, "access": "read", **why})]))
    assert ["/profile/file_system/entries/0" in finding.rule for finding in findings] == [True]


def test_a_rule_with_a_reason_passes() -> None:
    assert (
        list(without_reason([_policy({"path": {}, "access": "read", "why": "compilers live there"})])) == []
    )
