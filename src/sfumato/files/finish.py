"""The last step before a row is written: rounding, bounds, missing cells, types, and whom kept columns give away."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato._arrays import Flags, Floats, Integers
from sfumato.exceptions import DataError
from sfumato.files.formulas import neutralise
from sfumato.files.numbers import PLAIN_DECIMALS, from_units, is_number, text_of_units, to_units
from sfumato.files.schema import NumberColumn, Schema
from sfumato.files.source import RawBatch

ReleasedColumn = tuple[NumberColumn, Floats]  # whole units if the column counts decimals, otherwise the values

_LARGEST = 2.0**62
_COUNTED = 2.0**50
_MOST_COMBINATIONS = 1 << 20  # of kept values that are counted; of more a random part is
_FEW_PEOPLE = 5  # who share a combination hide one another no more if they are fewer


def finish_column(values: Floats, column: NumberColumn, *, invertible: bool) -> Floats:
    """Return released values as whole units of the column's decimals, inside its bounds and its type.

    Parameters
    ----------
    values : array of shape (n,)
    invertible : bool
        Whether the owner will want to undo it: then nothing is clipped.
    """
    if not np.isfinite(values).all():
        raise DataError(
            f"a perturbed value of column {column.name!r} is not a finite number",
            hint="use smaller parameters or another unit",
        )
    if column.decimals is None:
        units = values
    else:
        units = to_units(values, column.decimals)
        if np.abs(units).max(initial=0.0) > _LARGEST:
            raise DataError(
                f"a perturbed value of column {column.name!r} is too large for its decimals",
                hint="use smaller parameters or another unit",
            )
    if not invertible:
        low, high = _limits(column)
        units = np.clip(units, low, high)
    return units + 0.0  # no minus zero


def _limits(column: NumberColumn) -> tuple[float, float]:
    low, high = -math.inf, math.inf
    if column.dtype is not None and column.dtype.is_integer() and column.dtype not in (pl.Int64, pl.UInt64):
        ends = pl.select(low=column.dtype.min(), high=column.dtype.max())  # type: ignore[attr-defined]
        low, high = float(ends["low"].item()), float(ends["high"].item())
    elif column.dtype == pl.UInt64:
        low = 0.0
    if column.rules.bounds is not None:
        lowest, highest = column.rules.bounds
        if column.decimals is not None:  # inwards: the rounded value must keep the bound
            scale = 10.0**column.decimals
            lowest, highest = math.ceil(lowest * scale - 1e-9), math.floor(highest * scale + 1e-9)
        low, high = max(low, lowest), min(high, highest)
    return low, high


def numbers_of(units: Floats, column: NumberColumn) -> Floats:
    """Return released values as doubles."""
    return units if column.decimals is None else from_units(units, column.decimals)


def released_cells(units: Sequence[Floats], masks: Sequence[Flags | None], columns: Sequence[NumberColumn]) -> Floats:
    """Return released numbers in the form in which they are hashed: the same for every format they are read from.

    Parameters
    ----------
    units : sequence of arrays of shape (n,)
        Whole units of the decimals of each column, or values where it counts none.
    masks : sequence of arrays or None
        Missing cells.

    Returns
    -------
    array of shape (columns, n)
    """
    out = np.stack(units)
    for cells, mask, column in zip(out, masks, columns, strict=True):
        values = numbers_of(cells, column)
        if column.dtype == pl.Float32:
            cells[...] = values.astype(np.float32)
        else:  # beyond what doubles count exactly, the value itself is what a reader sees
            cells[...] = np.where(np.abs(cells) < _COUNTED, cells, values)
        # a released value that happens to be a marker is read back as a missing cell
        markers = [float(one) for one in column.rules.missing_values if is_number(one)]
        if markers:
            cells[np.isin(values, markers)] = np.nan
        if mask is not None:
            cells[mask] = np.nan
    return out


def new_columns(schema: Schema, names: Sequence[str]) -> tuple[NumberColumn, ...]:
    """Return the columns of a method whose released columns are new ones: the most decimals of the old ones."""
    known = [column.decimals for column in schema.numbers if column.decimals is not None]
    decimals = max(known, default=6)
    rules = type(schema.numbers[0].rules)()
    return tuple(NumberColumn(name, None, "float64", decimals, min(1, decimals), 0, 0.0, 0.0, rules) for name in names)


def output_types(columns: Sequence[NumberColumn], *, invertible: bool) -> dict[str, pl.DataType]:
    """Return the type of each released column in a typed file."""
    types: dict[str, pl.DataType] = {}
    for column in columns:
        if column.dtype is None:
            types[column.name] = pl.Int64() if column.kind == "integer" else pl.Float64()
        elif column.dtype.is_integer() and invertible:
            types[column.name] = pl.Int64()  # undoing it needs the values that leave a smaller type
        else:
            types[column.name] = column.dtype
    return types


_PLAIN_TYPES = {False: pl.Int64(), True: pl.Float64()}  # without decimals, and with them
_PLAIN_UNITS = 1e12  # a thousandth of what is written without an exponent: perturbed values leave the range


def plain_numbers(columns: Sequence[NumberColumn]) -> frozenset[str]:
    """Return the columns whose numbers a CSV writer writes as they must be: all present, and no exponent.

    Whole numbers, and doubles of one to four decimals of which at least one is always written: their shortest text
    is the text of their units. A perturbed value would have to be a thousand times larger than all of its column to
    be written with an exponent.
    """
    plain = []
    for column in columns:
        if column.missing or column.decimals is None:
            continue
        largest = max(abs(column.low), abs(column.high)) * 10.0**column.decimals
        short = 0 < largest < _PLAIN_UNITS and column.fewest == 1 and column.decimals <= PLAIN_DECIMALS
        if column.decimals == 0 or short:
            plain.append(column.name)
    return frozenset(plain)


def assemble(
    raw: RawBatch,
    order: Sequence[str],
    released: Sequence[ReleasedColumn],
    masks: Sequence[Flags | None],
    *,
    as_text: bool,
    types: dict[str, pl.DataType],
    numbers: Collection[str] = (),
    exchanged: bool = False,
) -> tuple[pl.DataFrame, int]:
    """Return released rows as they go into the file, and how many formula-like cells were neutralised.

    Parameters
    ----------
    raw : RawBatch
        The original rows; their kept columns and their missing cells are used.
    order : sequence of str
        The released columns.
    masks : sequence of arrays or None
        Missing cells of each released column.
    as_text : bool
        Whether the file is a CSV file.
    types : dict
        See `output_types`.
    numbers : collection of str
        Columns that stay numbers in a CSV file, too; see `plain_numbers`.
    exchanged : bool
        Whether missing cells are those of other rows: then they are empty, or what stands for a missing value. What
        the row itself had there does not come along.
    """
    done: dict[str, pl.Series] = {}
    for (column, units), mask in zip(released, masks, strict=True):
        text = as_text and column.name not in numbers
        dtype = _PLAIN_TYPES[bool(column.decimals)] if as_text else types[column.name]
        series = _series(column, units, as_text=text, dtype=dtype)
        if mask is not None:
            missing = pl.Series(mask)
            original = raw.frame[column.name]
            if exchanged:
                marker = next(iter(column.rules.missing_values), None) if as_text else None
                blank: Any = pl.lit(marker, dtype=pl.String) if as_text else pl.lit(None)
            elif as_text:
                blank = original if original.dtype == pl.String else pl.lit(None, dtype=pl.String)
            else:
                blank = original.cast(series.dtype, strict=False) if original.dtype != pl.String else pl.lit(None)
            chosen = pl.select(pl.when(missing).then(blank).otherwise(series)).to_series()
            series = chosen.cast(series.dtype)
        done[column.name] = series.alias(column.name)
    neutralised = 0
    for name in order:
        if name not in done:
            series = raw.frame[name]
            if as_text:
                series, count = neutralise(series)
                neutralised += count
            done[name] = series
    return pl.DataFrame([done[name] for name in order]), neutralised


def _series(column: NumberColumn, units: Floats, *, as_text: bool, dtype: pl.DataType) -> pl.Series:
    if as_text and column.decimals is not None:
        return text_of_units(units, column.decimals, column.fewest)
    if as_text:
        return pl.Series(units).cast(pl.String)
    values = pl.Series(numbers_of(units, column))
    if isinstance(dtype, pl.Decimal):
        return text_of_units(units, column.decimals or 0, 0).cast(dtype)
    return values.cast(dtype)


class KeptCombinations:
    """Rows by their combination of kept values, counted in any order and in bounded memory.

    Of more than a million combinations those are counted whose hash ends in zeros, as many as it takes: a fair share.

    Examples
    --------
    >>> seen = KeptCombinations.of(pl.DataFrame({"town": ["A", "A", "B"], "job": [1, 1, 1]}))
    >>> seen.alone, seen.among_few
    (1, 3)
    """

    def __init__(self) -> None:
        self._hashes: NDArray[np.uint64] = np.empty(0, dtype=np.uint64)
        self._counts: Integers = np.empty(0, dtype=np.int64)
        self._zeros = 0

    @classmethod
    def of(cls, rows: pl.DataFrame) -> KeptCombinations:
        """Count some rows.

        Parameters
        ----------
        rows : polars.DataFrame
            Their kept columns.
        """
        seen = cls()
        hashes = rows.hash_rows(seed=0).to_numpy() if rows.width else np.empty(0, dtype=np.uint64)
        seen._hashes, seen._counts = np.unique(hashes, return_counts=True)
        seen._thin()
        return seen

    def merge(self, other: KeptCombinations) -> None:
        """Add the counts of other rows."""
        hashes = np.concatenate([self._hashes, other._hashes])
        counts = np.concatenate([self._counts, other._counts])
        self._zeros = max(self._zeros, other._zeros)
        self._hashes, where = np.unique(hashes, return_inverse=True)
        self._counts = np.bincount(where, weights=counts, minlength=len(self._hashes)).astype(np.int64)
        self._thin()

    @property
    def alone(self) -> int:
        """Rows with a combination of their own; about, if there are more than a million combinations."""
        return int(np.count_nonzero(self._counts == 1)) << self._zeros

    @property
    def among_few(self) -> int:
        """Rows that share theirs with fewer than four others, those who are alone included."""
        return int(self._counts[self._counts < _FEW_PEOPLE].sum()) << self._zeros

    def _thin(self) -> None:
        while True:
            fits = (self._hashes & np.uint64((1 << self._zeros) - 1)) == 0
            self._hashes, self._counts = self._hashes[fits], self._counts[fits]
            if len(self._hashes) <= _MOST_COMBINATIONS:
                return
            self._zeros += 1


def singled_out(seen: KeptCombinations, rows: int, columns: tuple[str, ...]) -> str | None:
    """Return a warning about people whom kept columns single out; None if there are none.

    Parameters
    ----------
    rows : int
        All rows.
    columns : tuple of str
        The kept ones.
    """
    if not seen.among_few:
        return None
    return (
        f"the kept columns ({', '.join(columns[:5])}{' ...' if len(columns) > 5 else ''}) single people out: of "
        f"{rows:,} rows {seen.alone:,} have a combination of their own, and {seen.among_few:,} share theirs with "
        f"fewer than {_FEW_PEOPLE - 1} others. Whoever knows these values finds their row. Keep fewer columns, "
        "or let them be perturbed."
    )


def scaled_cells(name: str, values: Floats, decimals: int, *, as_text: bool) -> pl.Series:
    """Return scaled values as a column of so many decimals; missing cells stay empty.

    Parameters
    ----------
    values : array of shape (n,)
        NaN is a missing cell.

    Examples
    --------
    >>> scaled_cells("age", np.array([0.5, np.nan]), 3, as_text=True).to_list()
    ['0.5', None]
    """
    missing = np.isnan(values)
    units = to_units(np.where(missing, 0.0, values), decimals) + 0.0
    cells = text_of_units(units, decimals, 1) if as_text else pl.Series(from_units(units, decimals))
    return cells.set(pl.Series(missing), None).alias(name)
