"""The papers' data: found in a folder, checked against their fingerprints, read as plain arrays."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.exceptions import DataError

VARIABLE = "SFUMATO_DATA"


@dataclass(frozen=True)
class Dataset:
    """A table that a paper uses.

    Attributes
    ----------
    file : str
        Name of the file, `.csv` or `.csv.gz`; a file ending in `.gz` may also lie there unpacked.
    rows : int
    columns : tuple of str
    sha256 : str
        Of the uncompressed text.
    citation : str
    """

    file: str
    rows: int
    columns: tuple[str, ...]
    sha256: str
    citation: str

    def describe(self) -> str:
        """Return what to get, from where, and how it must look."""
        names = ", ".join(self.columns[:20]) + (f", ... {self.columns[-1]}" if len(self.columns) > 20 else "")
        return (
            f"{self.file}: {self.rows} rows and {len(self.columns)} columns ({names}), "
            f"CSV with a header, commas and empty fields for missing values, in the original's order, "
            f"SHA-256 of the text {self.sha256}. Source: {self.citation}"
        )


@cache
def datasets() -> dict[str, Dataset]:
    """Return every table by its file name.

    Examples
    --------
    >>> datasets()["wine.csv"].rows
    178
    """
    known: dict[str, Any] = json.loads(resources.files(__package__).joinpath("data_files.json").read_text("utf-8"))
    return {
        name: Dataset(name, entry["rows"], tuple(entry["columns"]), entry["sha256"], entry["citation"])
        for name, entry in known["files"].items()
    }


def data_folder(folder: str | Path | None = None) -> Path:
    """Return the folder of the papers' data: the one given, or the one named by SFUMATO_DATA.

    Parameters
    ----------
    folder : path, optional
    """
    chosen = folder if folder is not None else os.environ.get(VARIABLE)
    if not chosen:
        raise DataError(
            "the papers' data: no folder is named",
            hint=f"set {VARIABLE} to the folder with the CSV files, or give --data FOLDER",
        )
    path = Path(chosen)
    if not path.is_dir():
        raise DataError(f"the papers' data: no folder {path}", hint=f"change {VARIABLE} or give --data FOLDER")
    return path


def _text(dataset: Dataset, folder: Path) -> bytes:
    packed = folder / dataset.file
    plain = folder / dataset.file.removesuffix(".gz")
    for path in (packed, plain):
        if path.is_file():
            raw = path.read_bytes()
            content = gzip.decompress(raw) if path.suffix == ".gz" else raw
            break
    else:
        raise DataError(f"{packed}: no such file", hint=f"it must be {dataset.describe()}")
    if hashlib.sha256(content).hexdigest() != dataset.sha256:
        raise DataError(
            f"{path}: not the table that the paper used (its SHA-256 is another)",
            hint=f"it must be {dataset.describe()}",
        )
    return content


def check_files(files: Sequence[str], folder: str | Path | None = None) -> None:
    """Raise an error that names the first table that is missing or another one.

    Parameters
    ----------
    folder : path, optional
    """
    for file in files:
        _text(datasets()[file], data_folder(folder))


def read_dataset(file: str, folder: str | Path | None = None) -> dict[str, list[str]]:
    """Return the columns of a table as text, by name, after checking its fingerprint.

    Parameters
    ----------
    file : str
        Name of the file, one of `datasets()`.
    folder : path, optional
        None takes SFUMATO_DATA.
    """
    content = _text(datasets()[file], data_folder(folder))
    lines = csv.reader(io.StringIO(content.decode("utf-8"), newline=""))
    header = next(lines)
    return dict(zip(header, (list(column) for column in zip(*lines, strict=True)), strict=True))


def read_numbers(
    file: str, folder: str | Path | None = None, columns: Sequence[str] | None = None
) -> NDArray[np.float64]:
    """Return columns of a table as numbers, rows with a missing value in them left out.

    Parameters
    ----------
    folder : path, optional
    columns : sequence of str, optional
        None takes all.

    Returns
    -------
    array of shape (complete rows, columns)
    """
    table = read_dataset(file, folder)
    names = list(table) if columns is None else list(columns)
    values = np.array([[np.nan if text == "" else float(text) for text in table[name]] for name in names]).T
    return np.ascontiguousarray(values[~np.isnan(values).any(axis=1)])
