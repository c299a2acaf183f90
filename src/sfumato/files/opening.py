"""Which kind of file a name stands for, and how it is opened."""

from __future__ import annotations

import os
from pathlib import Path

from sfumato.exceptions import DataError
from sfumato.files.formats.csv_dialect import CsvFile
from sfumato.files.formats.csv_source import CHUNK_BYTES, CsvSource
from sfumato.files.formats.typed_source import TypedSource
from sfumato.files.source import Source

__all__ = ["file_kind", "open_released", "open_source"]

_ENDINGS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
}


def file_kind(path: Path) -> str:
    """Return "csv", "csv.gz", "parquet" or "arrow" by the ending of a file's name.

    Parameters
    ----------
    path : Path

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
            hint="names end in .csv, .csv.gz, .tsv, .parquet, .arrow or .feather",
        )
    return kind + ".gz" if packed else kind


def open_released(
    file: str | os.PathLike[str], *, ours: bool, separator: str | None = None, kind: str | None = None
) -> Source:
    """Open a released file.

    Parameters
    ----------
    file : path
    ours : bool
        Whether sfumato has written it as it is: then its quotes are doubled, and nothing is in doubt.
    separator : str, optional
        That of a CSV file, if it is known.
    kind : str, optional
        See `open_source`.
    """
    if ours:
        said = CsvFile.of(file)
        file = CsvFile(Path(file), separator or said.separator, escape="none")
    return open_source(file, kind=kind)


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

    Returns
    -------
    Source
    """
    path = Path(file)
    if path.is_dir():
        return TypedSource(path, "parquet", batch_rows=batch_rows)
    if not path.is_file():
        raise DataError(f"{path}: no such file", hint="check the path")
    kind = kind or file_kind(path)
    if path.stat().st_size == 0:
        raise DataError(f"{path}: empty", hint="a table has a line of column names and at least two rows")
    if kind.startswith("csv"):
        return CsvSource(CsvFile.of(file), chunk_bytes=CHUNK_BYTES if batch_rows is None else max(64, 40 * batch_rows))
    return TypedSource(path, kind, batch_rows=batch_rows)
