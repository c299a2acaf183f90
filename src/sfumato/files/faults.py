"""What is wrong with the columns of a table, all of it at once: looked for after something has been refused.

A release refuses at the first cell that it cannot take, and is fast for it. Whoever must mend the table wants to know
everything in one go: this reads it once more, to the end. No value of a cell is told, but for the usual marks of a
missing value.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from sfumato.files.coded import MARKERS, Seen, sort_columns
from sfumato.files.schema import LARGEST_WHOLE, ColumnRules
from sfumato.files.source import Source

_NOT_FINITE = ("inf", "-inf", "nan")


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong with a column.

    Attributes
    ----------
    name : str
        The column.
    what : str
        What is wrong, without the value of any cell.
    cure : "drop", "exchange" or "mend"
        What its owner can say: drop it (or keep it as it is), let its values be exchanged, or mend the file.
    markers : tuple of str
        What stands for a missing value there, if that is all that is wrong.
    """

    name: str
    what: str
    cure: str
    markers: tuple[str, ...] = ()


@dataclass
class _Column:
    """What has been seen of a column so far."""

    markers: tuple[str, ...]
    seen: Seen = field(default_factory=Seen)
    rows: int = 0
    missing: int = 0
    texts: int = 0
    first_text: int = -1
    infinite: int = 0
    first_infinite: int = -1
    largest: float = 0.0
    whole: bool = True

    def look(self, cells: pl.Series, start: int, *, coded: bool) -> None:
        self.rows += len(cells)
        self.seen.add(cells, coded=coded)
        text = cells.str.strip_chars() if cells.dtype == pl.String else cells
        missing = text.is_null()
        if text.dtype == pl.String:
            missing |= ((text == "") | text.is_in(list(self.markers))).fill_null(value=False)
        elif text.dtype.is_float():
            missing |= text.is_nan().fill_null(value=False)
        self.missing += int(missing.sum())
        if coded or not (text.dtype == pl.String or text.dtype.is_numeric()):
            return
        numbers = text.cast(pl.Float64, strict=False)
        wrong = numbers.is_null() & ~missing
        if wrong.any() and self.first_text < 0:
            self.first_text = start + (wrong.arg_max() or 0)
        self.texts += int(wrong.sum())
        infinite = ~numbers.is_finite().fill_null(value=True) & ~missing
        if infinite.any() and self.first_infinite < 0:
            self.first_infinite = start + (infinite.arg_max() or 0)
        self.infinite += int(infinite.sum())
        present = numbers.filter(~missing & ~wrong & ~infinite)
        if len(present):
            self.largest = max(self.largest, float(present.abs().max() or 0.0))  # type: ignore[arg-type]
            self.whole = self.whole and bool((present == present.round()).all())


def column_faults(
    source: Source,
    names: Sequence[str],
    rules: Mapping[str, ColumnRules],
    *,
    exchanged: bool,
    kinds: Mapping[str, str] | None = None,
    orders: Mapping[str, Sequence[str]] | None = None,
) -> list[Fault]:
    """Read a table to its end, and return what is wrong with each column, in the order of the columns.

    Parameters
    ----------
    names : sequence of str
        The columns that are to be perturbed.
    rules : mapping from columns to ColumnRules
        What the owner says of them.
    exchanged : bool
        Whether the method takes texts, flags and dates.
    kinds : mapping from columns to str, optional
        What the owner says they hold.
    orders : mapping from columns to sequences of str, optional
        Categories that the owner has put in order.
    """
    orders = orders or {}
    said = {name for name in names if (kinds or {}).get(name) in {"category", "ordered", "date"} or name in orders}
    typed = {name for name, dtype in source.types.items() if not dtype.is_numeric()}
    columns = {name: _Column(rules[name].missing_values) for name in names}
    for raw in source.batches(tuple(names)):
        frame = raw.frame if raw.text is None else raw.text.cells()
        for name, column in columns.items():
            column.look(frame[name], raw.start, coded=name in typed or (exchanged and name in said))
    free: Collection[str] = ()
    counted: Collection[str] = ()
    marked: Collection[str] = ()
    if exchanged:
        seen = {name: column.seen for name, column in columns.items()}
        found = sort_columns(source, seen, kinds or {}, dict.fromkeys(orders, ()))
        free, counted, marked = found.free, {*found.codes, *found.commas}, found.markers
    faults = []
    for name, column in columns.items():
        if name in free:
            faults.append(Fault(name, "free text or an identifier: its values are hardly shared", "drop"))
        elif name in orders:
            faults += _unordered(name, column, orders[name])
        elif name not in counted:
            found_here = _faults(name, column, source.types.get(name))
            faults += [one for one in found_here if not (one.markers and name in marked)]  # exchanged as gaps
    return faults


def _unordered(name: str, column: _Column, order: Sequence[str]) -> list[Fault]:
    """Return that values are not in the order that is given for them, if so."""
    levels = [] if column.seen.different is None else column.seen.different.cast(pl.String).to_list()
    lacking = sum(level not in order for level in levels)
    return [Fault(name, f"{lacking} of its values are not in the order that is given", "mend")] if lacking else []


def _faults(name: str, column: _Column, dtype: pl.DataType | None) -> list[Fault]:
    """Return what is wrong with a column that is taken for one of numbers."""
    if column.rows and column.missing == column.rows:
        return [Fault(name, "no value at all", "drop")]
    if dtype is not None and not dtype.is_numeric():
        return [Fault(name, f"holds {dtype}, not numbers", "exchange")]
    if column.seen.is_text:
        return [Fault(name, "holds text, not numbers", "exchange")]
    out = []
    if column.texts:
        known = tuple(sorted(column.seen.texts - set(column.markers)))
        marks = known if known and set(known) <= set(MARKERS) else ()
        what = f"{column.texts:,} cell(s) are no numbers, the first in row {column.first_text + 1:,}"
        out.append(Fault(name, what, "mend", marks))
    if column.infinite:
        what = f"{column.infinite:,} cell(s) are not finite, the first in row {column.first_infinite + 1:,}"
        out.append(Fault(name, what, "mend", _NOT_FINITE))
    if (column.whole or isinstance(dtype, pl.Decimal)) and column.largest > LARGEST_WHOLE:
        out.append(Fault(name, "numbers beyond 2^53, whose digits a double cannot keep", "drop"))
    return out
