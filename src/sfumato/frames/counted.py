"""A table of every kind of column as numbers, for whoever tries releases in memory: previews, comparisons, searches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from sfumato._arrays import Floats
from sfumato.core.secret import Hidden
from sfumato.exceptions import DataError
from sfumato.files.coded import MARKERS
from sfumato.files.codes import codes_of, names_people
from sfumato.frames.coded import Coding, add_gaps
from sfumato.frames.frame import as_polars
from sfumato.frames.kinds import guess_number

_COUNTED = {"category", "ordered", "date"}  # kinds of which every value has a number


@dataclass(frozen=True, repr=False)
class Counted(Hidden):
    """A table as numbers.

    Attributes
    ----------
    numbers : polars.DataFrame
        The columns; texts, flags and dates by their codes, missing cells by a number that no value has.
    coding : Coding
        How they became numbers.
    kinds : dict from columns to str
        What `AtomExchange` is told: "continuous", "count" or "category".
    free : tuple of str
        Columns of free text and identifiers, which are not among the numbers.
    """

    numbers: pl.DataFrame
    coding: Coding
    kinds: dict[str, str]
    free: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""
        return tuple(self.numbers.columns)

    @property
    def categories(self) -> tuple[int, ...]:
        """Places of the columns whose numbers stand for categories."""
        return tuple(i for i, name in enumerate(self.names) if self.kinds.get(name) == "category")

    @property
    def gaps(self) -> tuple[float | None, ...]:
        """For each column the number that stands for a missing cell; None where none is missing."""
        dates = {name: one.gap for name, one in self.coding.codes.items()}
        return tuple({**dates, **self.coding.gaps}.get(name) for name in self.names)

    def cells(self, values: Floats) -> pl.DataFrame:
        """Return numbers of these columns as the cells that they stand for.

        Parameters
        ----------
        values : array of shape (n, d)
        """
        done = []
        for name, column, gap in zip(self.names, values.T, self.gaps, strict=True):
            if name in self.coding.codes:
                done.append(self.coding.codes[name].decode(column))
                continue
            cells = pl.Series(name, column).fill_nan(None)
            if gap is not None:
                cells = pl.select(pl.when(cells != gap).then(cells)).to_series().alias(name)
            whole = bool((cells.drop_nulls() == cells.drop_nulls().round()).all())
            done.append(cells.cast(pl.Int64) if whole else cells)
        return pl.DataFrame(done)


def numbers_in(cells: pl.Series) -> pl.Series | None:
    """Return a column as numbers if it holds some, and marks of missing ones, and nothing else; otherwise None.

    Examples
    --------
    >>> numbers_in(pl.Series(["1,5", *["2,5"] * 20, "?"])).head(2).to_list()
    [1.5, 2.5]
    >>> numbers_in(pl.Series(["1", *["2"] * 20, "two"])) is None
    True
    >>> numbers_in(pl.Series(["NA", "NA", "2"])).to_list()
    [None, None, 2]
    """
    if cells.dtype != pl.String:
        if not cells.dtype.is_numeric():
            return None
        return cells.fill_nan(None) if cells.dtype.is_float() else cells
    text = cells.str.strip_chars()
    text = pl.select(pl.when(text != "").then(text)).to_series().alias(cells.name)
    odd = text.filter(text.cast(pl.Float64, strict=False).is_null() & text.is_not_null())
    commas = odd.str.contains(r"^[+-]?\d+,\d+$")
    present = len(text) - text.null_count()
    if commas.any():
        text = text.str.replace(",", ".", literal=True)
        odd = odd.filter(~commas)
    if len(odd) == present or not set(odd.unique()) <= set(MARKERS):
        return None
    values = text.cast(pl.Float64, strict=False).fill_nan(None)
    whole = values.drop_nulls()
    return values.cast(pl.Int64) if bool((whole == whole.round()).all() and (whole.abs() < 2**53).all()) else values


def count_table(
    table: Any,
    names: Sequence[str],
    kinds: Mapping[str, str] | None = None,
    orders: Mapping[str, Sequence[str]] | None = None,
) -> Counted:
    """Return some columns of a table as numbers; free text and identifiers are left out, and named.

    Parameters
    ----------
    table : dataframe
    kinds : mapping from columns to str, optional
        What their owner says: "continuous", "count", "category", "ordered" or "date".
    orders : mapping from columns to sequences of str, optional
        Ordered categories, from the lowest.

    Examples
    --------
    >>> table = pl.DataFrame({"job": ["cook", "clerk", None] * 9, "age": [31, 46, None] * 9})
    >>> counted = count_table(table, ["job", "age"])
    >>> counted.numbers.row(2), counted.kinds
    ((2.0, 46.25), {'job': 'category', 'age': 'count'})
    >>> counted.cells(counted.numbers.to_numpy()).row(0)
    ('cook', 31)
    """
    said, ranks = dict(kinds or {}), dict(orders or {})
    coding, told, done, free = Coding(), {}, [], []
    frame: pl.DataFrame = as_polars(table)
    for name in names:
        cells, own = frame[name], said.get(name)
        values = None if own in _COUNTED or name in ranks else numbers_in(cells)
        if values is not None:
            held = values.drop_nulls()
            if not len(held) or (own is None and names_people(held.unique(), len(held))):
                free.append(name)
                continue
            if len(held) < len(values):
                add_gaps(coding, name, values)
                values = values.cast(pl.Float64).fill_null(coding.gaps[name])
            whole = bool((held == held.round()).all()) if held.dtype.is_float() else True
            told[name] = own or guess_number(held.to_numpy().astype(np.float64), integer=whole).kind
            done.append(values)
            continue
        cells = _counted_cells(cells, own)
        missing = cells.null_count()
        kind = own if own in _COUNTED else None
        order = ranks.get(name, ())
        codes = codes_of(cells, gaps=missing > 0, rows=len(cells) - missing, kind=kind, order=order)
        if codes is None:
            free.append(name)
            continue
        coding.codes[name], told[name] = codes, codes.kind
        done.append(pl.Series(name, codes.encode(cells)))
    return Counted(pl.DataFrame(done), coding, told, tuple(free))


def require_no_free_text(counted: Counted) -> None:
    """Raise for free text and identifiers, all at once."""
    free = list(counted.free)
    if free:
        raise DataError(
            f"free text or identifiers, which are not released unless somebody says so: {', '.join(map(repr, free))}",
            hint=f"drop them with identifier={free!r}, or release them unchanged with keep={free!r}",
        )


def _counted_cells(cells: pl.Series, kind: str | None) -> pl.Series:
    """Return cells as they are counted: an empty text is a missing one, and dates and ranks are read as text."""
    if kind in {"ordered", "date"} and (cells.dtype.is_numeric() or cells.dtype == pl.Boolean):
        cells = cells.cast(pl.String)
    if cells.dtype == pl.String:
        return pl.select(pl.when(cells != "").then(cells)).to_series().alias(cells.name)
    return cells.fill_nan(None) if cells.dtype.is_float() else cells
