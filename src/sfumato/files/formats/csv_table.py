"""Whole CSV files as dataframes, for small tables; streams of larger ones come with the release pipeline."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import polars as pl

from sfumato.exceptions import DataError
from sfumato.files.formats.csv_dialect import CsvFile
from sfumato.files.formats.csv_source import CsvSource
from sfumato.files.storage.outputs import write_atomically


def read_csv(file: str | os.PathLike[str]) -> pl.DataFrame:
    """Read a CSV file (gzip too) with its types found over all rows.

    Parameters
    ----------
    file : path
        A `CsvFile` also says how it is written.
    """
    path = Path(file)
    if not path.is_file():
        raise DataError(f"{path}: no such file", hint="check the path")
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


def write_csv(table: Any, path: str | os.PathLike[str]) -> None:
    """Write a dataframe to a CSV file: first beside it, then renamed, so that no half file ever stands there.

    Parameters
    ----------
    path : path
        An existing file is replaced.
    """
    write_atomically(path, table.write_csv)
