"""Which kind of file a name stands for, and how it is opened."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sfumato.exceptions import DataError
from sfumato.files.formats.csv_dialect import SEPARATORS, CsvFile
from sfumato.files.formats.csv_source import CHUNK_BYTES, CsvSource
from sfumato.files.formats.excel import ExcelSource
from sfumato.files.formats.typed_source import TypedSource
from sfumato.files.source import Source

_ENDINGS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".xlsx": "excel",
}


def file_kind(path: Path) -> str:
    """Return "csv", "csv.gz", "parquet", "arrow" or "excel" by the ending of a file's name.

    Examples
    --------
    >>> file_kind(Path("released.csv.gz"))
    'csv.gz'
    """
    endings = [ending.lower() for ending in path.suffixes[-2:]]
    packed = bool(endings) and endings[-1] == ".gz"
    if packed:
        endings.pop()
    kind = _ENDINGS.get(endings[-1]) if endings else None
    if kind is None or (packed and kind != "csv"):
        raise DataError(
            f"{path}: sfumato does not know this kind of file",
            hint="names end in .csv, .csv.gz, .tsv, .parquet, .arrow, .feather or .xlsx",
        )
    if kind in ("parquet", "arrow"):
        _require_text(path)
    return kind + ".gz" if packed else kind


def _require_text(path: Path) -> None:
    """Raise unless the reader of Parquet and Arrow files, which takes names for text, can be told where a file is."""
    try:
        str(path.absolute()).encode()
    except UnicodeEncodeError:
        text = False
    else:
        text = True
    if not text:
        raise DataError(
            f"{path}: the name of the file or of a folder around it is not UTF-8", hint="rename it, or use a CSV file"
        )


def open_released(
    file: str | os.PathLike[str], columns: Sequence[str], *, ours: bool, kind: str | None = None
) -> Source:
    """Open a released file.

    Parameters
    ----------
    columns : sequence of str
        The released columns: they tell the separator of a CSV file of ours whose header could be cut in two ways.
    ours : bool
        Whether sfumato has written it as it is: then its quotes are doubled, and nothing is in doubt.
    kind : str, optional
        See `open_source`.
    """
    if not ours or Path(file).is_dir() or not (kind or file_kind(Path(file))).startswith("csv"):
        return open_source(file, kind=kind)
    said = CsvFile.of(file).separator
    for separator in SEPARATORS if said is None else [said]:
        with contextlib.suppress(DataError):  # cut at another separator, its header need not make sense
            source = open_source(CsvFile(Path(file), separator, escape="none"), kind=kind)
            if source.names == tuple(columns):
                return source
    return open_source(file, kind=kind)


def require_file(file: str | os.PathLike[str]) -> None:
    """Raise unless a file, or a folder of files, is there."""
    path = Path(file)
    if path.is_file() or path.is_dir():
        return
    if path.exists():
        raise DataError(
            f"{path}: a device, pipe or socket, not a file",
            hint="save the table as a file first",
        )
    raise DataError(f"{path}: no such file", hint="check the path")


def open_source(file: str | os.PathLike[str], *, kind: str | None = None, batch_rows: int | None = None) -> Source:
    """Open a table for reading in batches.

    Parameters
    ----------
    file : path
        A CSV (gzip too), Parquet or Arrow/Feather file, or a folder of Parquet files; a `CsvFile` also says how it is
        written.
    kind : str, optional
        See `file_kind`; None goes by the ending of the name.
    batch_rows : int, optional
        About how many rows a batch has; no result depends on it.
    """
    path = Path(file)
    if path.is_dir():
        _require_text(path)
        return TypedSource(path, "parquet", batch_rows=batch_rows)
    require_file(path)
    kind = kind or file_kind(path)
    if path.stat().st_size == 0:
        raise DataError(f"{path}: empty", hint="a table has a line of column names and at least two rows")
    if kind.startswith("csv"):
        return CsvSource(CsvFile.of(file), chunk_bytes=CHUNK_BYTES if batch_rows is None else max(64, 40 * batch_rows))
    if kind == "excel":
        return ExcelSource(path)
    return TypedSource(path, kind, batch_rows=batch_rows)


def is_postgres(address: Any) -> bool:
    """Tell whether something is the address of a PostgreSQL database.

    Examples
    --------
    >>> is_postgres("postgresql://localhost/bank"), is_postgres("people.csv")
    (True, False)
    """
    return isinstance(address, str) and address.startswith(("postgresql://", "postgres://"))
