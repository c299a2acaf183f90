"""Confidential cells as doubles, with the missing ones marked; a cell that is no number is named by its place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from sfumato._arrays import Flags, Floats
from sfumato.core.rows import RowRange, Rows
from sfumato.core.secret import Hidden
from sfumato.exceptions import DataError


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
