"""How outcomes of tests are read and compared, on records written by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from platform_tests.real_work import junit, trs
from platform_tests.real_work.projects import ExpectedDifference

_DOCUMENT = """<?xml version="1.0" encoding="utf-8"?>
<testsuites><testsuite name="pytest" tests="8">
  <testcase classname="t.test_a" name="test_good" time="0.1" />
  <testcase classname="t.test_a" name="test_bad"><failure message="no">trace</failure></testcase>
  <testcase classname="t.test_a" name="test_broken"><error message="fixture">trace</error></testcase>
  <testcase classname="t.test_a" name="test_left"><skipped type="pytest.skip" message="not here" /></testcase>
  <testcase classname="t.test_a" name="test_known"><skipped type="pytest.xfail" message="known" /></testcase>
  <testcase classname="t.test_b" name="test_said"><system-out>words</system-out></testcase>
  <testcase classname="t.test_b" name="test_twice" />
  <testcase classname="t.test_b" name="test_twice"><failure message="no">trace</failure></testcase>
</testsuite></testsuites>
"""

_OUTCOMES = st.dictionaries(
    st.text(min_size=1, max_size=5),
    st.lists(st.sampled_from(["passed", "failure", "skipped"]), min_size=1, max_size=2).map(
        lambda outcomes: tuple(sorted(outcomes))
    ),
    max_size=6,
)


def _excuse(project: str = "p", test: str = "t::a") -> ExpectedDifference:
    return ExpectedDifference(
        project=project, test=test, outside=("passed",), inside=("failure",), reason="needs the network"
    )


def test_each_kind_of_outcome_is_told_apart() -> None:
    assert junit.parse(_DOCUMENT) == {
        "t.test_a::test_good": ("passed",),
        "t.test_a::test_bad": ("failure",),
        "t.test_a::test_broken": ("error",),
        "t.test_a::test_left": ("skipped",),
        "t.test_a::test_known": ("xfailed",),
        "t.test_b::test_said": ("passed",),
        "t.test_b::test_twice": ("failure", "passed"),
    }


def test_counts_add_up_to_the_reported_tests() -> None:
    assert junit.count(junit.parse(_DOCUMENT)) == {
        "error": 1,
        "failure": 2,
        "passed": 3,
        "skipped": 1,
        "xfailed": 1,
    }


def test_addresses_in_parameters_do_not_tell_tests_apart() -> None:
    first = '<t><testcase classname="c" name="test_x[&lt;object at 0x7f0012ab34cd&gt;]"/></t>'
    assert junit.parse(first) == junit.parse(first.replace("0012ab", "9912ff"))


def test_a_cut_off_document_is_an_error() -> None:
    with pytest.raises(ValueError, match="cannot read `junit`"):
        junit.parse(_DOCUMENT[:200])


@given(_OUTCOMES)
def test_a_record_does_not_differ_from_itself(outcomes: dict[str, tuple[str, ...]]) -> None:
    assert junit.differences(outcomes, dict(outcomes)) == []


@given(_OUTCOMES, _OUTCOMES)
def test_differences_are_exactly_the_ids_with_other_outcomes(
    outside: dict[str, tuple[str, ...]], inside: dict[str, tuple[str, ...]]
) -> None:
    found = {difference.test: difference for difference in junit.differences(outside, inside)}
    for test in outside.keys() | inside.keys():
        assert (test in found) == (outside.get(test) != inside.get(test))
    assert all(found[test].outside == outside.get(test, junit.ABSENT) for test in found)
    assert all(found[test].inside == inside.get(test, junit.ABSENT) for test in found)


def test_a_test_that_did_not_run_is_a_difference() -> None:
    (difference,) = junit.differences({"t::a": ("passed",)}, {})
    assert str(difference) == "t::a: outside passed, inside absent"


def test_only_the_exact_expected_difference_is_excused() -> None:
    excused = junit.Difference(test="t::a", outside=("passed",), inside=("failure",))
    worse = junit.Difference(test="t::a", outside=("passed",), inside=("error",))
    assert junit.judge([excused], "p", [_excuse()]) == ([], [])
    assert junit.judge([worse], "p", [_excuse()]) == ([worse], [_excuse()])


def test_an_excuse_that_did_not_come_true_is_reported() -> None:
    assert junit.judge([], "p", [_excuse()]) == ([], [_excuse()])


def test_excuses_of_other_projects_do_not_count() -> None:
    difference = junit.Difference(test="t::a", outside=("passed",), inside=("failure",))
    assert junit.judge([difference], "p", [_excuse(project="other")]) == ([difference], [])


def test_automake_results_are_read_for_each_test_of_a_file() -> None:
    several = ":test-result: PASS one\n:test-result: FAIL two\n:global-test-result: FAIL\n"
    alone = ":test-global-result: x\n:global-test-result: XFAIL\n"
    assert trs.parse({"a.trs": several, "b.trs": alone}) == {
        "a.trs": ("failure", "passed"),
        "b.trs": ("xfailed",),
    }


def test_an_automake_file_without_a_result_is_an_error() -> None:
    with pytest.raises(ValueError, match="no test result"):
        trs.parse({"a.trs": ":recheck: no\n"})
