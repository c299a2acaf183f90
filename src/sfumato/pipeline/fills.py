"""What stands for a missing cell while the method is fitted: the median of its column."""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np

from sfumato._arrays import Floats
from sfumato.core.rows import Rows
from sfumato.core.summaries import Summary
from sfumato.files.numbers import from_units, to_units
from sfumato.files.schema import Schema

_BINS = 1 << 16


class Medians(Summary):
    """Medians of columns with missing cells, exact to 1/65536 of each column's range.

    Counts in equal bins over the range are exact, so the result does not depend on batches or their order.

    Parameters
    ----------
    low, high : arrays of shape (d,)
        Range of each column, missing cells left out.

    Examples
    --------
    >>> from sfumato.core.rows import RowRange
    >>> medians = Medians(np.array([0.0]), np.array([65536.0]))
    >>> medians.add(np.array([[0.0, 7.0, np.nan, 65536.0]]), RowRange(0, 4))
    >>> medians.medians().tolist()
    [7.5]
    """

    learnt: ClassVar[tuple[str, ...]] = ("_counts",)

    def __init__(self, low: Floats, high: Floats) -> None:
        self._low, self._high = low, high
        width = high / _BINS - low / _BINS
        self._width = np.where(width > 0, width, 1.0)
        self._counts = np.zeros((len(low), _BINS), dtype=np.int64)

    def fresh(self) -> Self:
        return type(self)(self._low, self._high)

    @property
    def ranges(self) -> tuple[Floats, Floats]:
        """Smallest and largest value of each column."""
        return self._low, self._high

    def add(self, tile: Floats, rows: Rows) -> None:  # noqa: ARG002  # one shape for all summaries
        for values, low, width, counts in zip(tile, self._low, self._width, self._counts, strict=True):
            present = values[~np.isnan(values)]
            bins = np.minimum((present - low) / width, _BINS - 1).astype(np.int64)
            counts += np.bincount(bins, minlength=_BINS)

    def merge(self, other: Self) -> None:
        self._counts += other._counts

    def medians(self) -> Floats:
        """Return the middle of the bin in which each column's median lies."""
        totals = self._counts.cumsum(axis=1)
        places = [int(np.searchsorted(total, (total[-1] + 1) // 2)) for total in totals]
        middle: Floats = np.clip(self._low + (np.array(places) + 0.5) * self._width, self._low, self._high)
        return middle


def median_fills(medians: Floats, schema: Schema, *, apart: bool = False) -> Floats:
    """Return medians as values that the columns could hold: rounded to their decimals.

    Parameters
    ----------
    apart : bool
        Whether a missing cell must be told from every value: then a quarter of a step is added, which no value has.
    """
    out = medians.copy()
    for i, column in enumerate(schema.numbers):
        if column.decimals is not None:
            rounded = float(from_units(to_units(out[i : i + 1], column.decimals), column.decimals)[0])
            out[i] = min(max(rounded, column.low), column.high)
        if apart and column.missing:
            step = 10.0**-column.decimals if column.decimals is not None else (column.high - column.low) * 2.0**-30
            out[i] += 0.25 * step
    return out
