"""Odd tables as hypothesis strategies: what they hold, and how a file of them is written, by code of our own."""

from __future__ import annotations

import gzip
import io
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st
from pyarrow import feather

SECRET = "Zyxw-secret-"
PLAIN_NAME = "in"
_FILES = (
    "[a]",
    "*",
    "?",
    "[",
    "~",
    "{a}",
    "-in",
    "a b",
    "é",
    "e\u0301",
    "a%20b",
    "$HOME",
    "a\nb",
    "year=2024",
    "o" * 120,
)
TYPED = (".parquet", ".arrow")
_LETTERS = st.characters(codec="utf-8", exclude_categories=("Cs", "Cc"))
_NAMES = st.text(st.sampled_from("abcdefXYZ_ .;|,\"'äß€\u200b-*^$#%(){}[]0123456789"), min_size=1, max_size=12)
_TEXTS = st.one_of(
    st.sampled_from(
        ["", "NA", "nan", "null", "None", "-", "00123", " lead", "trail ", "=1+1", "+3", "@x", "\ufeffbom"]
    ),
    st.sampled_from(['say "hi"', "a,b", "a;b", "a\tb", "line\nbreak", "x|y", "1e5", "TRUE", "-5", "é\u0301", "🙂"]),
    st.text(_LETTERS, max_size=8),
)


@dataclass(frozen=True)
class Column:
    """One column: what its cells mean (`values`), and how a text file writes them (`cells`)."""

    name: str
    role: str  # "confidential", "keep" or "drop"
    kind: str
    values: list[Any]
    cells: list[str]


@dataclass(frozen=True)
class Table:
    """A table, the bytes of its file, and how it is released."""

    columns: list[Column]
    ending: str
    raw: bytes
    shuffle: bool
    target: str
    separator: str
    name: str  # of its file, without the ending

    @property
    def rows(self) -> int:
        """How many rows."""
        return len(self.columns[0].values)


@st.composite
def _numbers(draw: Any, name: str, rows: int) -> Column:
    decimals = draw(st.integers(0, 6))
    scale = draw(st.sampled_from([1, 1, 1, 1000, 10**6]))
    gaps = draw(st.sampled_from([0.0, 0.0, 0.2]))
    units = draw(st.lists(st.integers(-(10**4) * scale, 10**4 * scale), min_size=rows, max_size=rows))
    missing = draw(st.lists(st.floats(0, 1), min_size=rows, max_size=rows))
    values = [
        None if hole < gaps else Decimal(unit).scaleb(-decimals) for unit, hole in zip(units, missing, strict=True)
    ]
    return Column(name, "confidential", f"decimals {decimals}", values, ["" if v is None else f"{v:f}" for v in values])


@st.composite
def _others(draw: Any, name: str, rows: int, place: int) -> Column:
    role = draw(st.sampled_from(["keep", "keep", "drop"]))
    if role == "drop":
        cells = [f"{SECRET}{place}-{i}" for i in range(rows)]
        return Column(name, role, "text", list(cells), cells)
    kind = draw(st.sampled_from(["text", "text", "whole", "date", "flag", "category"]))
    strategy: Any = {
        "text": _TEXTS,
        "whole": st.integers(-(10**6), 10**6),
        "date": st.dates(date(1900, 1, 1), date(2100, 1, 1)),
        "flag": st.booleans(),
        "category": st.sampled_from(["low", "middle", "high", "very high indeed"]),
    }[kind]
    values = draw(st.lists(st.one_of(strategy, strategy, strategy, st.none()), min_size=rows, max_size=rows))
    if kind == "text":
        values = [value or "" for value in values]  # a text file cannot tell a missing cell from an empty text
    cells = ["" if v is None else str(v).lower() if kind == "flag" else str(v) for v in values]
    return Column(name, role, kind, values, cells)


@st.composite
def tables(draw: Any, max_rows: int = 40) -> Table:
    """Draw a table and its file."""
    rows = draw(st.integers(2, max_rows))
    names = draw(st.lists(_NAMES, min_size=2, max_size=6, unique=True))
    numeric = draw(st.integers(1, len(names)))
    columns = [
        draw(_numbers(name, rows)) if place < numeric else draw(_others(name, rows, place))
        for place, name in enumerate(names)
    ]
    columns = list(draw(st.permutations(columns)))
    if draw(st.integers(0, 9)) == 0:
        columns[0] = replace(columns[0], name=draw(st.sampled_from(["", " ", "unnamed"])))
    ending = draw(st.sampled_from([".csv", ".csv", ".csv.gz", ".tsv", ".parquet", ".arrow"]))
    separator = "\t" if ending == ".tsv" else draw(st.sampled_from([",", ";", "\t", "|"]))
    raw = _typed(draw, columns, ending) if ending in TYPED else _text(draw, columns, ending, separator)
    target = draw(st.sampled_from([".csv", ".csv.gz", ".parquet", ".arrow", ending]))
    name = draw(st.sampled_from([PLAIN_NAME] * len(_FILES) + list(_FILES)))
    return Table(_as_read(columns, ending), ending, raw, draw(st.booleans()), target, separator, name)


def _as_read(columns: list[Column], ending: str) -> list[Column]:
    """Return the columns under the names that they have for a reader: text files may leave out the first one's."""
    lacking = not columns[0].name.strip() and "unnamed" not in {column.name for column in columns}
    if ending in TYPED or not lacking:
        return columns
    return [replace(columns[0], name="unnamed"), *columns[1:]]


def _text(draw: Any, columns: list[Column], ending: str, separator: str) -> bytes:
    end = draw(st.sampled_from(["\n", "\r\n"]))
    always = draw(st.booleans())

    def written(cell: str) -> str:
        if always or any(letter in cell for letter in (separator, '"', "\n", "\r")):
            return '"' + cell.replace('"', '""') + '"'
        return cell

    lines = [separator.join(written(column.name) for column in columns)]
    lines += [separator.join(written(cell) for cell in row) for row in zip(*(c.cells for c in columns), strict=True)]
    text = end.join(lines) + (end if draw(st.booleans()) else "")
    raw = (b"\xef\xbb\xbf" if draw(st.booleans()) else b"") + text.encode()
    return gzip.compress(raw, mtime=0) if ending.endswith(".gz") else raw


def _typed(draw: Any, columns: list[Column], ending: str) -> bytes:
    arrays = [_array(column, exact=draw(st.integers(0, 3)) == 0) for column in columns]
    table = pa.table(arrays, names=[column.name for column in columns])
    table = table.replace_schema_metadata({"made by": "somebody", "note": SECRET + "metadata"})
    out = io.BytesIO()
    if ending == ".parquet":
        pq.write_table(
            table,
            out,
            row_group_size=draw(st.integers(1, 50)),
            compression=draw(st.sampled_from(["none", "snappy", "zstd", "gzip"])),
            use_dictionary=draw(st.booleans()),
        )
    else:
        feather.write_feather(
            table,
            out,
            compression=draw(st.sampled_from(["uncompressed", "lz4", "zstd"])),
            chunksize=draw(st.integers(1, 50)),
        )
    return out.getvalue()


def _array(column: Column, *, exact: bool) -> Any:
    if column.kind == "category":
        return pa.array(column.values, pa.string()).dictionary_encode()
    if column.kind.startswith("decimals"):
        if exact:
            return pa.array(column.values, pa.decimal128(24, int(column.kind.partition(" ")[2])))
        whole = column.kind == "decimals 0"
        return pa.array(
            [None if v is None else int(v) if whole else float(v) for v in column.values],
            pa.int64() if whole else pa.float64(),
        )
    types = {"text": pa.string(), "whole": pa.int64(), "date": pa.date32(), "flag": pa.bool_()}
    return pa.array(column.values, types[column.kind])
