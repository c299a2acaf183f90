"""Tables in one piece, for what needs them whole: a table, labels that came back from a miner, some rows as numbers."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato._arrays import Flags
from sfumato.exceptions import DataError
from sfumato.files.formats.csv_dialect import CsvFile
from sfumato.files.formats.csv_source import CsvSource
from sfumato.files.numbers import is_number, parse_column
from sfumato.files.opening import open_source, require_file
from sfumato.files.source import Source


def read_table(path: str | os.PathLike[str]) -> pl.DataFrame:
    """Read a CSV (gzip too), Parquet or Arrow file, or a folder of Parquet files, whole."""
    source: Source = open_source(path)
    if not source.types:
        return read_csv(path)
    return pl.concat([raw.frame for raw in source.batches()])


def read_csv(file: str | os.PathLike[str]) -> pl.DataFrame:
    """Read a CSV file (gzip too) with its types found over all rows.

    Parameters
    ----------
    file : path
        A `CsvFile` also says how it is written.
    """
    path = Path(file)
    require_file(path)
    source = CsvSource(CsvFile.of(file))
    kind = None
    try:
        return pl.read_csv(
            source.text(),
            infer_schema_length=None,
            separator=source.style.separator,
            quote_char=source.file.mark.decode() or None,
        )
    except (pl.exceptions.PolarsError, OSError) as error:
        kind = type(error).__name__
    # outside the handler, and without the reader's own words: they quote cells of the file
    raise DataError(
        f"{path}: not a readable CSV file ({kind})", hint="check that every row has as many cells as the header"
    )


def without_markers(frame: pl.DataFrame, markers: Mapping[str, Sequence[str]]) -> pl.DataFrame:
    """Return a table with gaps where marks of missing values stand; texts that are numbers then become numbers.

    Parameters
    ----------
    markers : mapping from columns to sequences of str
        What stands for a missing value in each.

    Examples
    --------
    >>> without_markers(pl.DataFrame({"age": ["31", "NA"]}), {"age": ["NA"]})["age"].to_list()
    [31, None]
    """
    done = []
    for name, marks in markers.items():
        cells = frame[name]
        if cells.dtype == pl.String:
            text = cells.str.strip_chars()
            text = pl.select(pl.when(~text.is_in(list(marks))).then(text)).to_series().alias(name)
            numbers = next(
                (cast for kind in (pl.Int64, pl.Float64) if _all_kept(cast := text.cast(kind, strict=False), text)),
                text,
            )
            done.append(numbers.alias(name))
        elif cells.dtype.is_numeric():
            numbers_marked = [float(mark) for mark in marks if is_number(mark)]
            there = ~cells.cast(pl.Float64).is_in(numbers_marked)
            done.append(pl.select(pl.when(there).then(cells)).to_series().alias(name))
    return frame.with_columns(done)


def _all_kept(cast: pl.Series, text: pl.Series) -> bool:
    return cast.null_count() == text.null_count()


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


def frame_bytes(frame: pl.DataFrame) -> bytes:
    """Return a dataframe as bytes, for another process.

    Parameters
    ----------
    frame : polars.DataFrame
    """
    out = io.BytesIO()
    frame.write_ipc(out)
    return out.getvalue()


def frame_of_bytes(data: bytes) -> pl.DataFrame:
    """Return the dataframe of bytes that `frame_bytes` has made.

    Parameters
    ----------
    data : bytes
    """
    return pl.read_ipc(data)


def read_labels(source: Source) -> pl.DataFrame:
    """Read a small table whole."""
    frames = [raw.frame for raw in source.batches()]
    return pl.concat(frames) if frames else pl.DataFrame(schema=dict.fromkeys(source.names, pl.String))


def add_labels(rows: pl.DataFrame, labels: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """Return rows with the labels that stand beside them."""
    return rows.hstack(labels[list(names)])


def label_codes(labels: pl.Series) -> NDArray[np.int64]:
    """Return a number for each label; a missing one is a label, too."""
    return labels.rank("dense").fill_null(0).cast(pl.Int64).to_numpy()


def mark_series(name: str, marked: Flags) -> pl.Series:
    """Return a column that says yes or no, in the words of CSV files as well."""
    return pl.Series(name, np.where(marked, "yes", "no"))


def same_cells(rows: pl.DataFrame, labels: pl.DataFrame, names: Sequence[str]) -> bool:
    """Tell whether columns that both tables have hold the same cells (an apostrophe before a formula is ours)."""
    for name in names:
        left, right = rows[name].cast(pl.String), labels[name].cast(pl.String)
        if not left.str.strip_prefix("'").equals(right.str.strip_prefix("'"), null_equal=True):
            return False
    return True


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
            missing = tuple((markers or {}).get(name, ()))
            part.append(parse_column(batch.frame[name][here], missing, str(source.path), batch.start)[0])
    back = np.argsort(order)
    return pl.DataFrame({name: np.concatenate(part)[back] for name, part in zip(names, parts, strict=True)})


def cells_at(source: Source, names: Sequence[str], rows: NDArray[np.int64]) -> pl.DataFrame:
    """Return some rows of some columns, as they stand in the file.

    Parameters
    ----------
    names : sequence of str
    rows : array of shape (m,)
        Their numbers, in any order.
    """
    parts = [raw.frame[list(names)] for raw in source.batches()]
    return pl.concat(parts)[rows]
