"""Columns that were released already scaled, read back in the units of the table: the receipt knows by what."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato._arrays import Floats
from sfumato.exceptions import DataError
from sfumato.files.numbers import from_units, to_units
from sfumato.frames.frame import as_polars, is_dataframe, numbers_with_gaps
from sfumato.receipts.body import ReceiptBody


def released_markers(body: ReceiptBody) -> dict[str, tuple[str, ...]]:
    """Return what stands for a missing cell in each released column; a scaled column leaves them empty."""
    names = {str(column["name"]): tuple(column.get("missing_values", ())) for column in body.columns}
    return {name: () if name in body.scale else markers for name, markers in names.items()}


def in_table_units(values: Floats, name: str, body: ReceiptBody) -> Floats:
    """Return released values of a column in the units of the table.

    Parameters
    ----------
    values : array of shape (n,)
        As they stand in the release.
    """
    if name not in body.scale:
        return values
    centre, unit = body.scale[name]
    back = np.asarray(values * unit + centre, dtype=np.float64)
    decimals = next((column["decimals"] for column in body.columns if column["name"] == name), None)
    return back if decimals is None else from_units(to_units(back, decimals), decimals)


def table_in_units(table: Any, body: ReceiptBody) -> Any:
    """Return a released table in the units of the original; as it is if it was not scaled."""
    if not body.scale:
        return table
    if not is_dataframe(table):
        raise DataError("the release was scaled, and an array has no names of columns", hint="give it as a dataframe")
    frame = as_polars(table)
    names = [name for name in frame.columns if name in body.scale]
    columns = zip(names, numbers_with_gaps(frame, names), strict=True)
    series = {name: in_table_units(np.array(values), name, body) for name, values in columns}
    return frame.with_columns(**{name: type(frame[name])(name, values) for name, values in series.items()})
