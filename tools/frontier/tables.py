"""The nine tables of the frontier, as numbers with their decimals."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.papers.data_files import data_folder

__all__ = ["TABLES", "Table", "read_table"]

Floats = NDArray[np.float64]

_ADULT = ["age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"]
# name -> (file, columns to drop, columns to take)
_FILES: dict[str, tuple[str, list[str], list[str] | None]] = {
    "census": ("census.csv", [], None),
    "housing": ("housing.csv", [], None),
    "tarragona": ("tarragona.csv", [], None),
    "wages": ("wages.csv", [], None),
    "wine": ("wine.csv", ["class"], None),
    "bcw": ("breast_cancer_wisconsin.csv", ["class", "sample_code_number"], None),
    "musk": ("musk2.csv.gz", ["class"], None),
    "shuttle": ("shuttle.csv.gz", ["class"], None),
    "adult": ("adult.csv.gz", [], _ADULT),
}
TABLES = tuple(_FILES)


@dataclass(frozen=True)
class Table:
    """A table: its name, column names, values and the decimals of each column."""

    name: str
    columns: tuple[str, ...]
    values: Floats
    decimals: dict[str, int]


def read_table(name: str) -> Table:
    """Read one of the nine tables."""
    file, drop, take = _FILES[name]
    frame = pl.read_csv(Path(data_folder()) / file)
    frame = frame.select(take) if take else frame.drop(drop)
    frame = frame.drop_nulls()
    values = frame.to_numpy().astype(np.float64)
    decimals = {}
    for column, numbers in zip(frame.columns, values.T, strict=True):
        for places in range(7):
            if np.allclose(np.round(numbers, places), numbers, rtol=0, atol=1e-9):
                decimals[column] = places
                break
    return Table(name, tuple(frame.columns), values, decimals)
