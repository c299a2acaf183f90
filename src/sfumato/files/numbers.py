"""Confidential cells as doubles, with the missing ones marked, and the decimals they are rounded to.

A cell that is no number is named by its place. A released value is a whole number of units of 10^-decimals; the double
next to it is a single division of two exactly held numbers, so that the text of a CSV file and the double of a Parquet
file are the same value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato._arrays import Flags, Floats
from sfumato.core.rows import RowRange, Rows
from sfumato.core.secret import Hidden
from sfumato.exceptions import DataError

_LARGEST_POWER = 22  # 10^22 is the largest power of ten that a double holds exactly
_EXACT = 2.0**50  # three bits below 2^53: perturbed values leave the range of the data
_DIGITS = 15
_POINT, _END, _RETURN, _POWER, _SMALL = ord("."), ord("\n"), ord("\r"), ord("e"), 32
_FEW_ROWS = 200  # of a column that are spelled one by one
PLAIN_DECIMALS, _PLAIN_UNITS = 4, 1e15  # where doubles are written without an exponent


def most_decimals(decimals: int, largest: float) -> int | None:
    """Return the decimals that doubles up to `largest` can keep exactly, at most `decimals`; None if none do.

    Examples
    --------
    >>> most_decimals(2, 1e6), most_decimals(17, 1.0)
    (2, 15)
    """
    for kept in range(min(decimals, _LARGEST_POWER), -1, -1):
        if largest * 10.0**kept <= _EXACT:
            break
    else:
        kept = 0
    if kept == _LARGEST_POWER and decimals > _LARGEST_POWER:
        return None  # a column of tiny numbers: counting decimals would round it away
    return kept


def to_units(values: Floats, decimals: int) -> Floats:
    """Return values as whole numbers of units, rounded half to even."""
    return np.rint(values * 10.0**decimals)


def from_units(units: Floats, decimals: int) -> Floats:
    """Return the doubles nearest to whole numbers of units."""
    values: Floats = units / 10.0**decimals
    return values


def decimals_of_text(cells: pl.Series) -> tuple[int, int]:
    """Return the fewest and the most decimals of numbers written as text (missing cells left out).

    Examples
    --------
    >>> decimals_of_text(pl.Series(["1.50", "2", "-3.125", "1e-4"]))
    (0, 4)
    """
    if len(cells) == 0:
        return 0, 0
    powers = cells.str.contains("[eE]")
    if powers.any():
        counts = [_decimals(text) for text in cells.filter(powers)]
        cells = cells.filter(~powers)
        fewest, most = decimals_of_text(cells) if len(cells) else (min(counts), max(counts))
        return min(fewest, *counts), max(most, *counts)
    behind = (cells.str.len_bytes() - cells.str.find(".", literal=True) - 1).fill_null(0)
    low, high = behind.min(), behind.max()
    assert isinstance(low, int)
    assert isinstance(high, int)
    return low, high


def _decimals(text: str) -> int:
    exponent = Decimal(text.strip()).as_tuple().exponent
    return max(0, -int(exponent)) if isinstance(exponent, int) else 0


def decimals_of_block(
    block: bytes, separator: str, n_columns: int, wanted: Sequence[int], mark: bytes = b'"'
) -> list[tuple[int, int]] | None:
    r"""Return the fewest and the most decimals of some columns of plain numbers in a block of a CSV file.

    They are counted from the places of the points: no cell is cut out. None if that cannot be told.

    Parameters
    ----------
    block : bytes
        Whole records, each with all its separators.
    wanted : sequence of int
        Places of columns whose cells are known to be numbers.
    mark : bytes
        What quotes a cell; empty if nothing does.

    Examples
    --------
    >>> decimals_of_block(b"1.50,x.y,2\n2.5,z,3\n", ",", 3, [0, 2])
    [(1, 2), (0, 0)]
    >>> decimals_of_block(b"1e-3,2\n", ",", 2, [0]) is None
    True
    """
    if mark and mark in block:
        return None
    letters = np.frombuffer(block, dtype=np.uint8)
    ends = np.flatnonzero((letters == _END) | (letters == ord(separator)))
    if not block.endswith(b"\n"):
        ends = np.append(ends, len(letters))
    if len(ends) % n_columns:
        return None
    if b"e" in block or b"E" in block:
        powers = np.flatnonzero((letters | _SMALL) == _POWER)
        if np.isin(np.unique(np.searchsorted(ends, powers) % n_columns), list(wanted)).any():
            return None
    points = np.flatnonzero(letters == _POINT)
    if len(points) == len(ends):
        behind = ends - points
        behind -= 1
        single = bool((behind >= 0).all() and (points[1:] > ends[:-1]).all())
    else:
        single = False
    if not single:
        behind = _decimals_behind(ends, points)
    table = behind.reshape(-1, n_columns)
    if b"\r" in block:
        last = letters[np.maximum(ends[n_columns - 1 :: n_columns] - 1, 0)] == _RETURN
        table[:, -1] -= last & (table[:, -1] > 0)
    return [(int(table[:, column].min()), int(table[:, column].max())) for column in wanted]


def _decimals_behind(ends: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return the decimals of each cell where some have none (and texts may have several points)."""
    before = np.searchsorted(points, ends)  # points up to the end of each cell
    starts = np.append(0, ends[:-1] + 1)
    last = points[np.maximum(before - 1, 0)] if len(points) else np.zeros(len(ends), dtype=ends.dtype)
    inside = (before > 0) & (last >= starts)
    return np.where(inside, ends - last - 1, 0)


def decimals_of_doubles(values: NDArray[np.floating], known: int) -> int:
    """Return the decimals that doubles need, beginning with `known`, up to the 15 digits they hold.

    Examples
    --------
    >>> decimals_of_doubles(np.array([0.5, 12.25, 3.0]), 0)
    2
    """
    if len(values) == 0:
        return known
    largest = float(np.abs(values).max())
    doubles = values.astype(np.float64)
    for decimals in range(known, _DIGITS + 1):
        if largest * 10.0**decimals > _EXACT:
            return decimals
        back = from_units(to_units(doubles, decimals), decimals)
        if bool((back.astype(values.dtype) == values).all()):
            return decimals
    return 300 if largest * 10.0**_LARGEST_POWER <= _EXACT else _DIGITS


def text_of_units(units: Floats, decimals: int, fewest: int) -> pl.Series:
    """Return whole numbers of units as text with the column's decimals; zeros beyond `fewest` decimals are left out.

    Examples
    --------
    >>> text_of_units(np.array([1250.0, -5.0, 300.0]), 2, 1).to_list()
    ['12.5', '-0.05', '3.0']
    """
    whole = pl.Series("units", units.astype(np.int64))
    if decimals == 0:
        return whole.cast(pl.String)
    if len(units) <= _FEW_ROWS:  # of thousands of columns: a query for each would take most of the time
        return pl.Series([_text_of(unit, decimals, fewest) for unit in whole.to_list()], dtype=pl.String)
    if fewest <= 1 and decimals <= PLAIN_DECIMALS and np.abs(units).max(initial=0.0) < _PLAIN_UNITS:
        # the shortest text of the nearest double has the same digits, and is much faster
        text = pl.Series(from_units(units, decimals)).cast(pl.String)
        return text if fewest == 1 else text.str.strip_suffix(".0")
    step = 10**decimals
    size = pl.col("units").abs()
    behind = (size % step).cast(pl.String).str.zfill(decimals)
    if fewest < decimals:
        kept = behind.str.slice(0, fewest) + behind.str.slice(fewest).str.strip_chars_end("0")
        behind = pl.when(kept == "").then(pl.lit("")).otherwise(pl.lit(".") + kept)
    else:
        behind = pl.lit(".") + behind
    sign = pl.when(pl.col("units") < 0).then(pl.lit("-")).otherwise(pl.lit(""))
    return whole.to_frame().select(text=sign + (size // step).cast(pl.String) + behind)["text"]


def _text_of(unit: int, decimals: int, fewest: int) -> str:
    size, behind = divmod(abs(unit), 10**decimals)
    digits = f"{behind:0{decimals}d}"
    kept = digits[:fewest] + digits[fewest:].rstrip("0")
    return f"{'-' if unit < 0 else ''}{size}{'.' if kept else ''}{kept}"


@dataclass(frozen=True, repr=False)
class NumberBatch(Hidden):
    """Confidential columns of some rows: what summaries and kernels see.

    Attributes
    ----------
    rows : Rows
        Absolute numbers, or record ids.
    columns : list of arrays of shape (n,)
        Missing cells are NaN, or filled.
    masks : list of arrays or None
        Which cells are missing; None where none is.
    start : int
        Absolute number of the first row.
    """

    rows: Rows
    columns: list[Floats]
    masks: list[Flags | None]
    start: int

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def numbered(self) -> RowRange:
        """The absolute row numbers, whatever the noise is keyed by."""
        return RowRange(self.start, self.start + len(self))

    def tile(self, start: int, stop: int) -> Floats:
        """Return rows start..stop-1 as a new array of shape (columns, rows)."""
        out = np.empty((len(self.columns), stop - start))
        for target, column in zip(out, self.columns, strict=True):
            target[...] = column[start:stop]
        return out


def parse_column(
    cells: pl.Series, markers: Sequence[str], what: str, start: int
) -> tuple[Floats, Flags | None, pl.Series | None]:
    """Return a column as doubles, its missing cells, and the text of the others (None for typed columns).

    Parameters
    ----------
    cells : polars.Series
        Text, or numbers.
    markers : sequence of str
        What stands for a missing value besides an empty cell.
    what : str
        How errors call the file.
    start : int
        Absolute number of the first row, for errors.
    """
    if cells.dtype == pl.Float64 and not markers and not cells.null_count():
        doubles = cells.to_numpy(writable=True)
        if np.isfinite(doubles).all():  # the common case, and by far the fastest
            return doubles, None, None
    missing = cells.is_null()
    text: pl.Series | None = None
    if cells.dtype == pl.String:
        text = cells
        if markers:
            missing |= cells.is_in(list(markers)).fill_null(value=False)
        values = cells.cast(pl.Float64, strict=False)
        if values.null_count() > int(missing.sum()):
            text = cells.str.strip_chars()
            missing |= (text == "").fill_null(value=False)
            if markers:
                missing |= text.is_in(list(markers)).fill_null(value=False)
            values = text.cast(pl.Float64, strict=False)
    else:
        values = cells.cast(pl.Float64)
        if cells.dtype.is_float():
            missing |= cells.is_nan().fill_null(value=False)
        if markers:
            numbers = [float(marker) for marker in markers if is_number(marker)]
            missing |= values.is_in(numbers).fill_null(value=False)
    wrong = values.is_null() & ~missing
    if wrong.any():
        _refuse(cells, wrong, what, start)
    doubles = values.fill_null(float("nan")).to_numpy(writable=True)
    mask: Flags | None = missing.to_numpy() if missing.any() else None
    if mask is not None:
        doubles[mask] = np.nan
        text = None if text is None else text.filter(~missing)
    infinite = ~np.isfinite(doubles)
    if mask is not None:
        infinite &= ~mask
    if infinite.any():
        row = start + int(np.argmax(infinite))
        raise DataError(
            f"{what}: column {cells.name!r}, row {row + 1}: not a finite number",
            hint='if it stands for a missing value, name it: missing_values = ["inf", "nan"]',
        )
    return doubles, mask, text


def _refuse(cells: pl.Series, wrong: pl.Series, what: str, start: int) -> None:
    count = int(wrong.sum())
    if count == len(cells) - cells.null_count():
        raise DataError(
            f"{what}: column {cells.name!r} holds text, and nothing says what to do with it",
            hint=f"drop it with identifier=[{cells.name!r}], or release it unchanged with keep=[{cells.name!r}]",
        )
    first = wrong.arg_max()
    assert first is not None
    raise DataError(
        f"{what}: column {cells.name!r}, row {start + first + 1}: text in a column of numbers "
        f"({count} such cell(s) near there)",
        hint="mend the cell; if it stands for a missing value, name it in the policy: missing_values = [...]",
    )


def is_number(text: str) -> bool:
    """Tell whether a text is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True
