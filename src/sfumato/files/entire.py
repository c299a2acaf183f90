"""Tables in one piece, for what needs them whole."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.files.formats.csv_table import read_csv
from sfumato.files.opening import open_source
from sfumato.files.source import Source


def read_table(path: str | os.PathLike[str]) -> pl.DataFrame:
    """Read a CSV (gzip too), Parquet or Arrow file, or a folder of Parquet files, whole."""
    source: Source = open_source(path)
    if not source.types:
        return read_csv(path)
    return pl.concat([raw.frame for raw in source.batches()])


def number_frame(names: Sequence[str], values: NDArray[np.float64]) -> pl.DataFrame:
    """Return an array of shape (n, d) as a dataframe with named columns.

    Parameters
    ----------
    values : array of shape (n, d)

    Examples
    --------
    >>> number_frame(["a", "b"], np.zeros((3, 2))).shape
    (3, 2)
    """
    return pl.DataFrame({name: np.ascontiguousarray(values[:, i]) for i, name in enumerate(names)})


def cells_at(source: Source, names: Sequence[str], rows: NDArray[np.int64]) -> pl.DataFrame:
    """Return some rows of some columns, as they stand in the file.

    Parameters
    ----------
    names : sequence of str
    rows : array of shape (m,)
        Their numbers, in any order.
    """
    parts = [raw.frame.select(list(names)) for raw in source.batches()]
    return pl.concat(parts)[rows]
