"""What somebody who reads the bytes of a released file can try: another library, no knowledge of ours."""

from __future__ import annotations

import csv
import gzip
import io
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq
from scipy.stats import spearmanr


def tables(path: Path) -> list[pa.Table]:
    """Read a released file with pyarrow or the csv module of Python, in the pieces in which it is stored."""
    if path.is_dir():
        return [table for file in sorted(path.glob("*.parquet")) for table in tables(file)]
    if path.suffix == ".parquet":
        file = pq.ParquetFile(path)
        return [file.read_row_group(i) for i in range(file.num_row_groups)]
    if path.suffix in (".arrow", ".feather"):
        file = ipc.open_file(path)
        return [pa.Table.from_batches([file.get_batch(i)]) for i in range(file.num_record_batches)]
    if path.suffix == ".xlsx":
        return [_sheet(path)]
    raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    separator = "\t" if ".tsv" in path.name else ","
    header, *rows = list(csv.reader(io.StringIO(raw.decode(), newline=""), delimiter=separator))
    return [pa.table({name: list(column) for name, column in zip(header, zip(*rows, strict=True), strict=True)})]


def _sheet(path: Path) -> pa.Table:
    """Read the cells of a workbook, each as it stands; no list of texts, whose order could tell something."""
    with zipfile.ZipFile(path) as book:
        assert [name for name in book.namelist() if name.startswith("xl/worksheets/")] == ["xl/worksheets/sheet1.xml"]
        assert "xl/sharedStrings.xml" not in book.namelist()
        raw = book.read("xl/worksheets/sheet1.xml").decode()
    rows = [
        {
            cell[0]: cell[1] or cell[2]
            for cell in re.findall(r'<c r="([A-Z]+)\d+"[^>]*>(?:<v>([^<]*)|<is><t[^>]*>([^<]*))', row)
        }
        for row in raw.split("<row ")[1:]
    ]
    header, *cells = rows
    return pa.table({name: [row.get(place) for row in cells] for place, name in header.items()})


def hints_of_order(path: Path, truth: list[int]) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield (what was looked at, a number for each released row, its original row): anything physical that might tell.

    Parameters
    ----------
    path : Path
    truth : list of int
        The original row of each released row, in released order.
    """
    start = 0
    for number, table in enumerate(tables(path)):
        mine = np.array(truth[start : start + table.num_rows])
        start += table.num_rows
        yield f"row of piece {number}", np.arange(len(mine)), mine
        for name in table.column_names:
            for chunk in table.column(name).chunks:
                yield from (
                    (f"{name}: {what}", hint, mine) for what, hint in _physical(chunk) if len(hint) == len(mine)
                )
    assert start == len(truth)


def _physical(chunk: Any) -> Iterator[tuple[str, np.ndarray]]:
    kind = chunk.type
    if pa.types.is_dictionary(kind):
        yield "dictionary index", chunk.indices.fill_null(0).to_numpy(zero_copy_only=False)
        return
    if kind in (pa.string_view(), pa.binary_view()):
        views = np.frombuffer(chunk.buffers()[1], dtype=np.int32).reshape(-1, 4)[: len(chunk)]
        yield "view buffer and offset", views[:, 2].astype(np.int64) * (1 << 32) + views[:, 3]
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        width = np.int64 if pa.types.is_large_string(kind) else np.int32
        yield "offset of the text", np.frombuffer(chunk.buffers()[1], dtype=width)[: len(chunk)].astype(np.int64)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        inner = chunk.flatten()
        if len(inner) == len(chunk):
            yield from ((f"inside: {what}", hint) for what, hint in _physical(inner))


def bytes_under_nulls(path: Path) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield (column, what lies under each missing cell, its released row) for typed files."""
    start = 0
    for table in tables(path):
        for name in table.column_names:
            for chunk in table.column(name).chunks:
                gaps = np.flatnonzero(chunk.is_null().to_numpy(zero_copy_only=False))
                hidden = _stored(chunk)
                if hidden is not None and len(gaps):
                    yield name, hidden[gaps], gaps + start
        start += table.num_rows


def _stored(chunk: Any) -> np.ndarray | None:
    """Return what a plain array stores for every cell, missing or not: the number, or the length of the text."""
    kind, buffers, size = chunk.type, chunk.buffers(), len(chunk)
    if pa.types.is_boolean(kind):
        return np.unpackbits(np.frombuffer(buffers[1], dtype=np.uint8), bitorder="little")[:size].astype(float)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_temporal(kind):
        plain = {4: np.int32, 8: np.int64, 2: np.int16, 1: np.int8}[kind.bit_width // 8]
        if pa.types.is_floating(kind):
            plain = np.float64 if kind.bit_width == 64 else np.float32
        return np.frombuffer(buffers[1], dtype=plain)[:size].astype(float)
    if pa.types.is_large_string(kind):
        return np.diff(np.frombuffer(buffers[1], dtype=np.int64)[: size + 1]).astype(float)
    if pa.types.is_string(kind):
        return np.diff(np.frombuffer(buffers[1], dtype=np.int32)[: size + 1]).astype(float)
    return None


def outside_chance(hint: np.ndarray, truth: np.ndarray, looks: int) -> bool:
    """Tell whether a hint goes with the truth more than 99 % of what chance gives, over so many looks."""
    if len(hint) < 30 or len(np.unique(hint)) < 2 or len(np.unique(truth)) < 2:
        return False
    return bool(spearmanr(hint, truth).pvalue < 0.01 / looks)
