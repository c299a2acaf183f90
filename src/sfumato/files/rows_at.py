"""Some rows of a table that may be larger than memory, as numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.files.numbers import parse_column
from sfumato.files.source import Source


def numbers_at(
    source: Source, names: Sequence[str], rows: NDArray[np.int64], markers: Mapping[str, Sequence[str]] | None = None
) -> pl.DataFrame:
    """Read a table once and return the given rows of some columns as doubles; missing cells are NaN.

    Parameters
    ----------
    names : sequence of str
        Columns of numbers.
    rows : array of shape (m,)
        Absolute numbers of different rows, in any order; the result has this order.
    markers : mapping from columns to sequences of str, optional
        What stands for a missing number besides an empty cell.
    """
    order = np.argsort(rows)
    wanted = rows[order]
    parts: list[list[NDArray[np.float64]]] = [[] for _ in names]
    for batch in source.batches(names):
        here = wanted[np.searchsorted(wanted, batch.start) : np.searchsorted(wanted, batch.stop)] - batch.start
        for name, part in zip(names, parts, strict=True):
            part.append(
                parse_column(
                    batch.frame[name][here], tuple((markers or {}).get(name, ())), str(source.path), batch.start
                )[0]
            )
    back = np.argsort(order)
    return pl.DataFrame({name: np.concatenate(part)[back] for name, part in zip(names, parts, strict=True)})
