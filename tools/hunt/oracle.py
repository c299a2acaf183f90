"""What a release must be, checked with other readers: Python's csv and pyarrow, none of sfumato's code."""

from __future__ import annotations

import csv
import gzip
import io
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from pyarrow import feather

from tools.hunt.tables import SECRET, Column, Table

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def read_cells(path: Path, separator: str) -> tuple[list[str], list[list[Any]]]:
    """Return the header and the columns of a file; cells of text files are text."""
    if path.name.endswith((".parquet", ".arrow")):
        table = (pq.read_table if path.suffix == ".parquet" else feather.read_table)(path)
        return table.column_names, [table.column(i).to_pylist() for i in range(table.num_columns)]
    raw = path.read_bytes()
    raw = gzip.decompress(raw) if path.name.endswith(".gz") else raw
    rows = list(csv.reader(io.StringIO(raw.decode(), newline=""), delimiter=separator, strict=True))
    return rows[0], [list(column) for column in zip(*rows[1:], strict=True)]


def wrong_with(table: Table, target: Path, around: list[Path], said: str) -> list[str]:
    """Return everything that is wrong with a release; nothing if all is well.

    Parameters
    ----------
    target : Path
        The released file.
    around : list of Path
        Other files that must not hold anything secret.
    said : str
        What was printed.
    """
    faults = []
    text = not target.name.endswith((".parquet", ".arrow"))
    separator = table.separator if not table.ending.endswith((".parquet", ".arrow")) else ","
    header, released = read_cells(target, separator)
    wanted = [column for column in table.columns if column.role != "drop"]
    if header != [column.name for column in wanted]:
        return [f"columns are {header}"]
    for column, cells in zip(wanted, released, strict=True):
        if len(cells) != table.rows:
            return [f"{len(cells)} rows of {table.rows}"]
        check = _number_faults if column.role == "confidential" else _kept_faults
        faults += [f"{column.kind} column: {fault}" for fault in check(table, column, cells, as_text=text)]
    for path in [target, *around]:
        raw = path.read_bytes()
        if SECRET.encode() in (gzip.decompress(raw) if path.name.endswith(".gz") else raw):
            faults.append(f"an original value stands in {path.suffix}")
    if SECRET in said:
        faults.append("an original value was printed")
    return faults


def _number_faults(table: Table, column: Column, cells: list[Any], *, as_text: bool) -> list[str]:
    gaps = [cell in (None, "") for cell in cells]
    holes = [value is None for value in column.values]
    faults = []
    if sum(gaps) != sum(holes):
        faults.append(f"{sum(gaps)} missing cells, {sum(holes)} before")
    elif not table.shuffle and gaps != holes:
        faults.append("missing cells stand elsewhere")
    if as_text and table.ending not in (".parquet", ".arrow"):
        most = max((_decimals(cell) for cell in column.cells if cell), default=0)
        if any(_decimals(cell) > most for cell in cells if cell):
            faults.append("more decimals than before")
    if any(not gap and not Decimal(str(cell)).is_finite() for cell, gap in zip(cells, gaps, strict=True)):
        faults.append("a number is not finite")
    return faults


def _decimals(cell: str) -> int:
    return max(0, -int(Decimal(cell).as_tuple().exponent))


def _kept_faults(table: Table, column: Column, cells: list[Any], *, as_text: bool) -> list[str]:
    from_text = table.ending not in (".parquet", ".arrow")
    if as_text:
        before: list[Any] = [_neutral(cell) for cell in column.cells]
    elif from_text:
        before, cells = column.cells, ["" if cell is None else cell for cell in cells]
    else:
        before = column.values
    if table.shuffle:
        more = (Counter(cells) - Counter(before)).keys()
        return [f"kept cells are other ones: {list(more)[:2]!a}"] if Counter(before) != Counter(cells) else []
    apart = [pair for pair in zip(before, cells, strict=True) if pair[0] != pair[1]]
    return [f"{len(apart)} kept cells are not what and where they were: {apart[0]!a}"] if apart else []


def _neutral(cell: str) -> str:
    if not cell.startswith(_FORMULA):
        return cell
    try:
        Decimal(cell)
    except ArithmeticError:
        return "'" + cell
    return cell
