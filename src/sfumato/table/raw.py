"""Rows as a file gives them: a batch with the absolute number of its first row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import polars as pl

from sfumato.core.secret import Hidden

__all__ = ["CsvStyle", "Described", "RawBatch", "Source"]


@dataclass(frozen=True, repr=False)
class RawBatch(Hidden):
    """Consecutive rows of a file, before anything is done with them.

    Attributes
    ----------
    frame : polars.DataFrame
        Text columns for CSV, typed ones for Parquet and Arrow.
    start : int
        Absolute number of the first row.
    share : float
        How much of the file has been read.
    """

    frame: pl.DataFrame
    start: int
    share: float

    @property
    def stop(self) -> int:
        """Absolute number after the last row."""
        return self.start + self.frame.height


@dataclass(frozen=True)
class CsvStyle:
    """How a CSV file is written: what comes back in the release."""

    separator: str = ","
    line_end: str = "\n"


class Described(Protocol):
    """What is known of a table before a row is read."""

    @property
    def path(self) -> Path:
        """Where it is; errors begin with it."""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, in order."""

    @property
    def types(self) -> dict[str, pl.DataType]:
        """The type of each column; empty for CSV, whose cells are text."""

    @property
    def style(self) -> CsvStyle:
        """How the release is written if it is a CSV file."""


class Source(Described, Protocol):
    """A table in one or several files that can be read again and again."""

    def batches(self, columns: Sequence[str] | None = None, numbers: Sequence[str] = ()) -> Iterator[RawBatch]:
        """Read the table once, in order; all columns for None.

        Columns in `numbers` hold plain numbers and empty cells: a text file may parse them at once.
        """
