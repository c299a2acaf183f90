"""Cells that are more, or other, than one value: lists, records, bytes and spans of time.

They can be kept or dropped. They cannot be counted or exchanged, and a file of text cannot hold them.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from sfumato.exceptions import DataError

_OTHER = (pl.Binary, pl.Duration, pl.Object, pl.Unknown)


def is_one_value(dtype: pl.DataType) -> bool:
    """Tell whether cells of a type are single values: numbers, texts, flags, dates and times.

    Examples
    --------
    >>> is_one_value(pl.Date()), is_one_value(pl.List(pl.Int64)), is_one_value(pl.Duration())
    (True, False, False)
    """
    return not (dtype.is_nested() or dtype in _OTHER)


def can_be_counted(dtype: pl.DataType) -> bool:
    """Tell whether equal cells of a type can be found and spelled: single values, and records of them."""
    if isinstance(dtype, pl.Struct):
        return all(is_one_value(field.dtype) for field in dtype.fields)  # type: ignore[arg-type]
    return is_one_value(dtype)


def require_text(types: Mapping[str, pl.DataType], what: str) -> None:
    """Raise for columns that a CSV or Excel file cannot hold.

    Parameters
    ----------
    types : mapping from columns to types
    what : str
        How errors call the file.
    """
    for name, dtype in types.items():
        if not is_one_value(dtype):
            raise DataError(
                f"{what}: column {name!r} holds {dtype}, which a file of text cannot hold",
                hint=f"drop it with identifier=[{name!r}], or write a Parquet or Arrow file",
            )
