"""The arithmetic and the tables of the benchmarks; nothing here measures anything."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.bench.cold import Imported, parse_import_times
from tests.bench.figures import (
    TIMING_COLUMNS,
    Budget,
    Report,
    Side,
    Table,
    Verdict,
    failure_notes,
    median,
    paired_difference,
    paired_ratio,
    quantile,
    timing_row,
)

VALUES = st.lists(st.floats(min_value=0.001, max_value=1000), min_size=1, max_size=50)


@pytest.mark.parametrize(
    ("values", "fraction", "expected"),
    [
        ([7.0], 0.0, 7.0),
        ([7.0], 0.9, 7.0),
        ([3.0, 1.0, 2.0], 0.5, 2.0),
        ([4.0, 1.0, 2.0, 3.0], 0.5, 2.5),
        ([float(n) for n in range(11)], 0.9, 9.0),
        ([1.0, 2.0], 1.0, 2.0),
    ],
)
def test_a_quantile_is_interpolated(values: list[float], fraction: float, expected: float) -> None:
    assert quantile(values, fraction=fraction) == pytest.approx(expected)


@pytest.mark.parametrize("fraction", [-0.1, 1.1])
def test_a_quantile_outside_the_values_is_refused(fraction: float) -> None:
    with pytest.raises(ValueError, match="quantile"):
        quantile([1.0], fraction=fraction)


def test_nothing_has_no_quantile() -> None:
    with pytest.raises(ValueError, match="0 values"):
        median([])


@given(VALUES, st.floats(min_value=0, max_value=1), st.floats(min_value=0, max_value=1))
def test_quantiles_are_ordered_and_stay_within_the_values(
    values: list[float], left: float, right: float
) -> None:
    low, high = (quantile(values, fraction=fraction) for fraction in sorted((left, right)))
    slack = max(values) * 1e-9
    assert min(values) - slack <= low <= high + slack
    assert high <= max(values) + slack


@given(VALUES, st.floats(min_value=0.1, max_value=10))
def test_what_slows_both_sides_of_a_round_does_not_change_the_ratio(
    values: list[float], factor: float
) -> None:
    assert paired_ratio([value * factor for value in values], values) == pytest.approx(factor)


def test_sides_are_compared_round_by_round() -> None:
    assert paired_ratio([2.0, 20.0, 200.0], [1.0, 10.0, 100.0]) == pytest.approx(2.0)
    assert paired_difference([2.0, 20.0, 30.0], [1.0, 10.0, 28.0]) == pytest.approx(2.0)


def test_a_side_that_was_not_measured_gives_no_ratio() -> None:
    nothing: list[float] | None = None
    assert paired_ratio(nothing, [1.0]) is None
    assert paired_ratio([1.0], []) is None
    assert paired_difference([], [1.0]) is None


def test_sides_of_different_length_are_a_fault() -> None:
    with pytest.raises(ValueError, match=r"longer|shorter"):
        paired_ratio([1.0, 2.0], [1.0])


@pytest.mark.parametrize(
    ("side", "value", "verdict"),
    [
        (Side.AT_MOST, 2.9, Verdict.MET),
        (Side.AT_MOST, 3.0, Verdict.MET),
        (Side.AT_MOST, 3.1, Verdict.NOT_MET),
        (Side.AT_LEAST, 2.9, Verdict.NOT_MET),
        (Side.AT_LEAST, 3.0, Verdict.MET),
        (Side.AT_MOST, None, Verdict.NOT_MEASURED),
    ],
)
def test_a_budget_is_kept_up_to_its_limit(side: Side, value: float | None, verdict: Verdict) -> None:
    assert Budget(what="x", side=side, limit=3.0, value=value).verdict is verdict


def test_a_timing_row_is_in_milliseconds_and_shows_what_failed() -> None:
    row = timing_row("a", [0.001, 0.003, 0.002])
    assert row["n"] == 3
    assert row["p50 ms"] == pytest.approx(2.0)
    assert row["min ms"] == pytest.approx(1.0)
    assert timing_row("b", [])["remark"] == "failed"
    assert failure_notes({"a": None, "b": "exit 1"}) == ("b failed: exit 1",)
    assert set(row) <= set(TIMING_COLUMNS)


def test_a_table_lines_up_and_shows_what_is_missing() -> None:
    table = Table("t", ("what", "ms"), ({"what": "long name", "ms": 1.234}, {"what": "b"}))
    assert table.lines() == ["what         ms", "long name  1.23", "b             -"]


def test_a_report_says_the_same_in_text_and_in_json() -> None:
    report = Report(
        bench="b",
        tables=(Table("t", ("what", "ms"), ({"what": "a", "ms": 1.5},)),),
        budgets=(Budget(what="r", side=Side.AT_MOST, limit=3.0, value=4.0),),
        notes=("n",),
        facts={"rounds": 2},
    )
    data = json.loads(json.dumps(report.to_json()))
    assert data["tables"][0]["rows"] == [{"what": "a", "ms": 1.5}]
    assert data["budgets"][0]["verdict"] == "not_met"
    assert "NOT MET       r: 4 (at most 3)" in report.text()
    assert "note: n" in report.text()


def test_import_times_are_read_with_their_nesting() -> None:
    text = (
        "import time: self [us] | cumulative | imported package\n"
        "import time:       120 |        120 |     _io\n"
        "import time:        30 |        150 |   io\n"
        "something else\n"
    )
    assert parse_import_times(text) == [
        Imported(module="_io", own_us=120, total_us=120),
        Imported(module="io", own_us=30, total_us=150),
    ]
