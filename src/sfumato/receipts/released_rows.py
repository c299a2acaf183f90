"""Whether a file belongs to a receipt: what is aligned, joined or undone with another's receipt comes out as rubbish.

A receipt knows its release in two ways. The digest of the file knows every byte. The hash of the released rows knows
every released number and its place, in whatever file, format or dataframe it stands, so that a copy that was saved
anew is still known, and one that was edited or sorted is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sfumato._arrays import Floats, Integers
from sfumato.core.keys import Key
from sfumato.core.numbers import number_table
from sfumato.core.rows import RowNumbers, RowRange
from sfumato.core.stream import table_hasher
from sfumato.exceptions import DataError, ReceiptError
from sfumato.files.coded import CodedColumns
from sfumato.files.finish import released_cells
from sfumato.files.numbers import is_number, to_units
from sfumato.files.schema import ColumnRules, NumberColumn, known_type
from sfumato.files.storage.workspace import file_digest
from sfumato.frames.frame import all_columns, as_polars, is_dataframe, numbers_with_gaps
from sfumato.receipts.body import ReceiptBody, rows_hasher

SAVED_ANEW = (
    "the file was saved anew since it was released: its perturbed columns are the released ones, row by row, "
    "and its other columns were not checked"
)
NOT_CHECKED = (
    "the receipt holds no hash of the released rows (they were not written by sfumato, or by an earlier version), so "
    "it could not be checked that they are the released ones and in their order"
)


def is_released_file(path: Path, key: Key, body: ReceiptBody) -> bool:
    """Tell whether a file is the released one, byte for byte."""
    return body.released_digest != "" and file_digest(path, key.derive("released")) == body.released_digest


class ReleasedRows:
    """The released numbers as they are read back, in any blocks, against the receipt."""

    def __init__(self, key: Key, body: ReceiptBody) -> None:
        self._body = body
        self._columns = _released_columns(body)
        self.names = tuple(column.name for column in self._columns)
        self._hasher = rows_hasher(key, bytes.fromhex(body.identity), self.names)
        self._lanes, self._rows = (0, 0), 0

    def add(self, columns: Sequence[Floats], original_rows: Integers) -> None:
        """Take some released rows.

        Parameters
        ----------
        columns : sequence of arrays of shape (n,)
            In the order of `names`; missing cells are NaN.
        original_rows : array of shape (n,)
            The number of the original row of each.
        """
        if not len(original_rows):
            return
        units = [
            values if column.decimals is None else to_units(values, column.decimals)
            for values, column in zip(columns, self._columns, strict=True)
        ]
        cells = released_cells(units, [np.isnan(values) for values in columns], self._columns)
        first, second = self._hasher.sums(cells, RowNumbers(original_rows + self._body.first_row))
        self._lanes = (self._lanes[0] + first, self._lanes[1] + second)
        self._rows += len(original_rows)

    @property
    def digest(self) -> str:
        """The hash of the rows that were taken, hexadecimal."""
        return self._hasher.digest(self._lanes, self._rows).hex()

    @property
    def known(self) -> bool:
        """Whether the receipt can tell."""
        return self._body.released_rows != ""

    def require(self, what: str) -> str | None:
        """Raise unless the rows are the released ones; return what could not be known, if anything.

        Parameters
        ----------
        what : str
            How errors call the file or table.
        """
        if self.known:
            if self.digest == self._body.released_rows:
                return None
        elif not self._body.released_digest:
            return NOT_CHECKED
        raise ReceiptError(
            f"{what}: not the release of this receipt: its numbers or the order of its rows differ",
            hint="give the released file as it was written, and the key and the receipt of that release",
        )


def require_original_numbers(table: Any, key: Key, body: ReceiptBody) -> str | None:
    """Raise if a table is not the one that was released; return what could not be known, if anything.

    Parameters
    ----------
    table : dataframe or array
        With all columns that were perturbed; an array has no other.
    """
    names = [str(entry["name"]) for entry in body.columns]
    columns = _columns_of(table, names, body, "the original")
    if body.record_id is not None:
        # the fingerprint of such a table belongs to persons, not to places
        return "with record ids a receipt does not know the order of the original: it was taken as it stands"
    rows = RowRange(0, len(columns[0]))
    fills = [np.nan] * len(names) if body.fills is None else body.fills
    cells = np.stack([np.where(np.isnan(one), fill, one) for one, fill in zip(columns, fills, strict=True)])
    hasher = table_hasher(key, names)
    if hasher.digest(hasher.sums(cells, rows), cells.shape[1]).hex() != body.fingerprint:
        raise DataError(
            "the original is not the table that was released with this receipt, or it has changed since",
            hint="give the original as it was when it was released, with its rows in their order",
        )
    return None


def require_released_numbers(table: Any, key: Key, body: ReceiptBody, order: Integers) -> str | None:
    """Raise if a table is not the release of a receipt; return what could not be known, if anything.

    Parameters
    ----------
    table : dataframe or array
        With all released columns of numbers; an array has no other.
    order : array of shape (n,)
        See `release_order`.
    """
    seen = ReleasedRows(key, body)
    if not seen.known:
        return NOT_CHECKED
    seen.add(_columns_of(table, seen.names, body, "the release"), order)
    return seen.require("the release")


def _columns_of(table: Any, names: Sequence[str], body: ReceiptBody, what: str) -> list[Floats]:
    """Return columns as doubles, with NaN for missing cells and for what stands for them."""
    if is_dataframe(table):
        lacking = [name for name in names if name not in all_columns(table)]
        if lacking:
            raise DataError(
                f"{what} has no column {lacking[0]!r}, without which nothing tells whether it belongs to the receipt",
                hint="give it whole; columns=[...] chooses what is audited",
            )
        counted = CodedColumns.load(body.coded)
        columns = [np.array(column) for column in numbers_with_gaps(_numbered(table, names, counted), names)]
    else:
        array = number_table(table, what, finite=False)
        if array.shape[1] != len(names):
            raise DataError(
                f"{what} has {array.shape[1]} columns, and the receipt knows {len(names)}",
                hint="give a dataframe, whose columns have names",
            )
        columns = [np.array(column) for column in array.T]
    markers = {str(entry["name"]): entry["missing_values"] for entry in body.columns}
    for name, column in zip(names, columns, strict=True):
        numbers = [float(one) for one in markers.get(name, ()) if is_number(one)]
        if numbers:
            column[np.isin(column, numbers)] = np.nan
    return columns


def _numbered(table: Any, names: Sequence[str], counted: CodedColumns) -> Any:
    """Return a dataframe with numbers in the place of what a release has counted."""
    if not counted.codes and not counted.commas:
        return table
    return counted.encode(as_polars(table)[list(names)], "the table", as_text=False)


def _released_columns(body: ReceiptBody) -> tuple[NumberColumn, ...]:
    entries = {str(entry["name"]): entry for entry in body.columns}
    after = [name for name in body.released_columns if name not in body.kept]
    if set(after) == set(entries):
        after = list(entries)
    most = max((entry["decimals"] for entry in body.columns if entry["decimals"] is not None), default=6)
    columns = []
    for name in after:
        entry = entries.get(name)
        decimals = most if entry is None else entry["decimals"]
        dtype = None if entry is None else known_type(entry["type"])
        columns.append(NumberColumn(name, dtype, "float64", decimals, 0, 0, 0.0, 0.0, ColumnRules()))
    return tuple(columns)
