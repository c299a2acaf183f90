"""What a reproduced paper consists of: tables of printed and own numbers, claims, figures."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

Status = Literal["matched", "trend", "unreachable", "missed"]


@dataclass(frozen=True)
class Bar:
    """Where a number must lie, both ends included.

    Examples
    --------
    >>> Bar(0.8, 2.8).holds(1.0), Bar(0.8, 2.8).holds(3.0)
    (True, False)
    >>> Bar.around(50.0, share=0.1)
    Bar(low=45.0, high=55.0)
    """

    low: float = -math.inf
    high: float = math.inf

    @classmethod
    def around(cls, value: float, *, share: float = 0.0, absolute: float = 0.0) -> Bar:
        """Return the interval around a value, by a share of it plus an absolute amount."""
        half = abs(value) * share + absolute
        return cls(value - half, value + half)

    @classmethod
    def factor(cls, value: float, factor: float) -> Bar:
        """Return the interval from a value divided by a factor to the value times it."""
        return cls(value / factor, value * factor)

    def holds(self, value: float) -> bool:
        """Say whether a number lies in the interval; NaN never does."""
        return self.low <= value <= self.high

    def __str__(self) -> str:
        if self.low == -math.inf:
            return "any" if self.high == math.inf else f"<= {self.high:.5g}"
        if self.high == math.inf:
            return f">= {self.low:.5g}"
        return f"{self.low:.5g} .. {self.high:.5g}"


ANY = Bar()


@dataclass(frozen=True)
class Cell:
    """One number of a table, beside the paper's.

    Attributes
    ----------
    printed : float or None
        The paper's number; None where it prints none, or none that can be read.
    ours : float or None
        The measured number; None where there is nothing to measure.
    bar : Bar
        Where ours must lie.
    status : str
        "matched" (near the print), "trend" (inside the bar, not near the print), "unreachable" (the print
        cannot be reached, ours is inside the bar), "missed" (outside the bar).
    note : str
        Reason of "unreachable", or a remark.
    """

    printed: float | None
    ours: float | None
    bar: Bar
    status: Status
    note: str = ""

    @property
    def judged(self) -> bool:
        """Whether there is a print or a bar to compare with; the others are shown for comparison only."""
        return self.printed is not None or self.bar != ANY

    @property
    def ratio(self) -> float | None:
        """Ours divided by the paper's, None where that says nothing."""
        if self.printed is None or self.ours is None or self.printed == 0:
            return None
        return self.ours / self.printed


def judge(
    printed: float | None,
    ours: float,
    *,
    bar: Bar = ANY,
    near: Bar | None = None,
    unreachable: str = "",
    note: str = "",
) -> Cell:
    """Return the cell with its status.

    Parameters
    ----------
    bar : Bar
        Outside it the cell is missed.
    near : Bar, optional
        Inside it the cell is matched; None takes the bar itself.
    unreachable : str
        Why the printed number cannot be reached; used when ours is inside the bar and not near the print.
    note : str
        A remark for a cell whose print is not unreachable.

    Examples
    --------
    >>> judge(2.0, 2.1, bar=Bar(1, 3), near=Bar(1.8, 2.2)).status
    'matched'
    >>> judge(2.0, 2.9, bar=Bar(1, 3), near=Bar(1.8, 2.2)).status
    'trend'
    >>> judge(2.0, 3.1, bar=Bar(1, 3)).status
    'missed'
    """
    status: Status
    if not bar.holds(ours):
        status = "missed"
    elif (bar if near is None else near).holds(ours):
        status = "matched"
    else:
        status = "unreachable" if unreachable else "trend"
    return Cell(printed, ours, bar, status, unreachable if status == "unreachable" else note)


@dataclass(frozen=True)
class Row:
    """A labelled row of cells, one for each column of its table."""

    label: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Table:
    """A table of the paper, or the list of claims that must hold (one column).

    Attributes
    ----------
    name : str
        The paper's name of it ("Table 2").
    title : str
    unit : str
        Unit of the numbers, "" for none.
    columns : tuple of str
    rows : tuple of Row
    bar : str
        The bar in words.
    notes : tuple of str
    digits : int
        Significant digits to show.
    """

    name: str
    title: str
    unit: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    bar: str = ""
    notes: tuple[str, ...] = ()
    digits: int = 3

    def cells(self) -> Iterator[tuple[str, str, Cell]]:
        """Yield row label, column and cell."""
        for row in self.rows:
            for column, cell in zip(self.columns, row.cells, strict=True):
                yield row.label, column, cell


@dataclass(frozen=True)
class Series:
    """Points of a panel; `mark` is "line", "dot" or "cross"; `group` colours dots by cluster."""

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    mark: Literal["line", "dot", "cross"] = "dot"
    group: tuple[int, ...] = ()


@dataclass(frozen=True)
class Panel:
    """One pair of axes."""

    title: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]


@dataclass(frozen=True)
class Figure:
    """A figure: panels side by side, as plain data."""

    name: str
    title: str
    panels: tuple[Panel, ...]
    note: str = ""


@dataclass(frozen=True)
class Reproduction:
    """A paper, reproduced.

    Attributes
    ----------
    paper, title, citation : str
    quick : bool
    protocol : tuple of str
        What was done, one sentence each.
    tables : tuple of Table
    figures : tuple of Figure
    """

    paper: str
    title: str
    citation: str
    quick: bool
    protocol: tuple[str, ...]
    tables: tuple[Table, ...]
    figures: tuple[Figure, ...] = ()

    def counts(self) -> dict[Status, int]:
        """Return how many cells have each status."""
        out: dict[Status, int] = {"matched": 0, "trend": 0, "unreachable": 0, "missed": 0}
        for table in self.tables:
            for _, _, cell in table.cells():
                out[cell.status] += cell.judged
        return out

    def missed(self) -> list[str]:
        """Return one line for each number outside its bar."""
        return [
            f"{self.paper} {table.name}, {row}, {column}: {cell.ours:.5g}, allowed {cell.bar}"
            for table in self.tables
            for row, column, cell in table.cells()
            if cell.status == "missed" and cell.ours is not None
        ]


def points(label: str, rows: Sequence[Sequence[float]], *, mark: Literal["line", "dot", "cross"] = "dot") -> Series:
    """Return a series from rows of (x, y), rounded to what a plot can show."""
    return Series(label, tuple(round(float(r[0]), 4) for r in rows), tuple(round(float(r[1]), 4) for r in rows), mark)
