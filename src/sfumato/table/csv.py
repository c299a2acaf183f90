"""Whole CSV files as dataframes, for small tables; streams of larger ones come with the release pipeline."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import polars as pl

from sfumato.exceptions import DataError

__all__ = ["read_csv", "write_csv"]


def read_csv(path: str | os.PathLike[str]) -> pl.DataFrame:
    """Read a CSV file (gzip too) with its types found over all rows.

    Parameters
    ----------
    path : path

    Returns
    -------
    polars.DataFrame
    """
    path = Path(path)
    try:
        return pl.read_csv(path, infer_schema_length=None)
    except FileNotFoundError:
        raise DataError(f"{path}: no such file", hint="check the path") from None
    except pl.exceptions.PolarsError as error:
        raise DataError(f"{path}: not a readable CSV file ({str(error).splitlines()[0]})") from None


def write_csv(table: Any, path: str | os.PathLike[str]) -> None:
    """Write a dataframe to a CSV file: first beside it, then renamed, so that no half file ever stands there.

    Parameters
    ----------
    table : polars.DataFrame
    path : path
        An existing file is replaced.
    """
    path = Path(path)
    part = path.with_name(f".{path.name}.part")
    try:
        with part.open("wb") as file:
            table.write_csv(file)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
