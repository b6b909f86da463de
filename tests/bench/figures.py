"""Numbers of a benchmark and how they are shown: quantiles, paired ratios, budgets, tables, JSON.

Pure: it measures nothing and reads no clock. Every benchmark beside it builds a Report; `__main__` prints it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

Cell: TypeAlias = str | float | int | None


def quantile(values: Sequence[float], fraction: float) -> float:
    """The value below which `fraction` of the values lie, interpolated between neighbours.

    Args:
        values: at least one, in any order.
        fraction: from 0 for the least to 1 for the greatest.

    Raises:
        ValueError: there are no values, or the fraction is outside its range.
    """
    if not values or not 0 <= fraction <= 1:
        raise ValueError(f"cannot take quantile {fraction} of {len(values)} values")
    ordered = sorted(values)
    position = fraction * (len(ordered) - 1)
    below = int(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (position - below)


def median(values: Sequence[float]) -> float:
    """The middle value; errors as of `quantile`."""
    return quantile(values, fraction=0.5)


def paired_ratio(numerators: Sequence[float] | None, denominators: Sequence[float] | None) -> float | None:
    """The median of the ratios of values that were measured in the same round.

    What slows the whole machine down for a while slows both sides of a pair, and so falls out.

    Returns:
        None when one side was not measured.

    Raises:
        ValueError: the sides have different lengths.
    """
    if not numerators or not denominators:
        return None
    return median([top / bottom for top, bottom in zip(numerators, denominators, strict=True)])


def paired_difference(left: Sequence[float] | None, right: Sequence[float] | None) -> float | None:
    """The median of the differences of values measured in the same round; None as of `paired_ratio`."""
    if not left or not right:
        return None
    return median([one - other for one, other in zip(left, right, strict=True)])


class Side(Enum):
    """On which side of its limit a budget has to stay."""

    AT_MOST = "at most"
    AT_LEAST = "at least"


class Verdict(Enum):
    """What became of a budget in one run."""

    MET = "met"
    NOT_MET = "NOT MET"
    NOT_MEASURED = "not measured"


@dataclass(frozen=True, slots=True)
class Budget:
    """One promise about speed, and what this run says about it.

    Attributes:
        what: the quantity, in words, with its unit.
        side: which side of the limit is good.
        limit: the limit.
        value: what was measured, or None.
    """

    what: str
    side: Side
    limit: float
    value: float | None

    @property
    def verdict(self) -> Verdict:
        """Whether the promise was kept."""
        if self.value is None:
            return Verdict.NOT_MEASURED
        kept = self.value <= self.limit if self.side is Side.AT_MOST else self.value >= self.limit
        return Verdict.MET if kept else Verdict.NOT_MET

    def line(self) -> str:
        """One line of prose."""
        value = "-" if self.value is None else f"{self.value:.3g}"
        return f"{self.verdict.value:12}  {self.what}: {value} ({self.side.value} {self.limit:.3g})"

    def to_json(self) -> dict[str, Cell]:
        """The same as data."""
        return {
            "what": self.what,
            "side": self.side.value,
            "limit": self.limit,
            "value": self.value,
            "verdict": self.verdict.name.lower(),
        }


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under headings; the first column names the row.

    Attributes:
        title: what the rows are.
        columns: the headings, which are also the keys in JSON.
        rows: one mapping from heading to cell each; a missing cell is shown as a dash.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[Mapping[str, Cell], ...]

    def lines(self) -> list[str]:
        """The table as aligned text: names to the left, numbers to the right."""
        texts = [self.columns, *(tuple(_text(row.get(name)) for name in self.columns) for row in self.rows)]
        widths = [max(len(row[at]) for row in texts) for at in range(len(self.columns))]
        return [
            "  ".join(
                cell.ljust(width) if at == 0 else cell.rjust(width)
                for at, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in texts
        ]


def _text(cell: Cell) -> str:
    match cell:
        case None:
            return "-"
        case float():
            return f"{cell:.2f}" if abs(cell) < 100 else f"{cell:.0f}"
        case _:
            return str(cell)


@dataclass(frozen=True, slots=True)
class Report:
    """Everything one benchmark found.

    Attributes:
        bench: its name.
        tables: the measurements.
        budgets: the promises they are held against.
        notes: what a reader has to know, such as a rival that is not installed.
        facts: the machine and the settings of the run.
    """

    bench: str
    tables: tuple[Table, ...]
    budgets: tuple[Budget, ...] = ()
    notes: tuple[str, ...] = ()
    facts: Mapping[str, Cell] = field(default_factory=dict)

    def text(self) -> str:
        """The report for a terminal."""
        lines = [f"{self.bench}: " + ", ".join(f"{key} {_text(value)}" for key, value in self.facts.items())]
        for table in self.tables:
            lines += ["", table.title, *table.lines()]
        if self.budgets:
            lines += ["", "budgets", *(budget.line() for budget in self.budgets)]
        if self.notes:
            lines += ["", *(f"note: {note}" for note in self.notes)]
        return "\n".join(lines) + "\n"

    def to_json(self) -> dict[str, object]:
        """The report as data."""
        return {
            "bench": self.bench,
            "facts": dict(self.facts),
            "tables": [
                {"title": table.title, "rows": [dict(row) for row in table.rows]} for table in self.tables
            ],
            "budgets": [budget.to_json() for budget in self.budgets],
            "notes": list(self.notes),
        }


def failed_row(name: str) -> dict[str, Cell]:
    """The row of something that could not be measured; the reason goes into the report's notes."""
    return {"what": name, "n": 0, "remark": "failed"}


def failure_notes(failures: Mapping[str, str | None]) -> tuple[str, ...]:
    """A note for each name with a reason."""
    return tuple(f"{name} failed: {reason}" for name, reason in failures.items() if reason is not None)


def timing_row(name: str, seconds: Sequence[float]) -> dict[str, Cell]:
    """A row of milliseconds under TIMING_COLUMNS."""
    if not seconds:
        return failed_row(name)
    return {
        "what": name,
        "n": len(seconds),
        "p50 ms": median(seconds) * 1000,
        "p90 ms": quantile(seconds, fraction=0.9) * 1000,
        "min ms": min(seconds) * 1000,
        "remark": "",
    }


TIMING_COLUMNS = ("what", "n", "p50 ms", "p90 ms", "min ms", "remark")
"""The columns that `timing_row` fills."""
