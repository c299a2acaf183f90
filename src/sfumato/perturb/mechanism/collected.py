"""Rows that are held by their numbers: those of small atoms, and all of a small table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from sfumato._arrays import Floats, Integers
from sfumato.core.rows import RowRange, Rows
from sfumato.core.secret import Hidden
from sfumato.core.summaries import Summary
from sfumato.exceptions import DataError

# (tile, rows) -> values of the rows and their atoms (negative: leave the row out)
Select = Callable[[Floats, Rows], tuple[Floats, Integers]]


class Collected(Summary):
    """The rows of some atoms; merging is a disjoint union."""

    learnt: ClassVar[tuple[str, ...]] = ("_parts",)

    def __init__(self, select: Select) -> None:
        self._select = select
        self._parts: list[tuple[NDArray[np.uint64], Floats, Integers]] = []

    def fresh(self) -> Self:
        return type(self)(self._select)

    def add(self, tile: Floats, rows: Rows) -> None:
        values, atoms = self._select(tile, rows)
        kept = atoms >= 0
        if kept.any():
            self._parts.append((rows.labels()[kept], values[:, kept], atoms[kept]))

    def merge(self, other: Self) -> None:
        self._parts += other._parts

    def sorted(self, n_columns: int) -> tuple[NDArray[np.uint64], Floats, Integers]:
        """Return row labels, values of shape (d, rows) and atoms, in the order of the labels."""
        if not self._parts:
            return np.empty(0, dtype=np.uint64), np.empty((n_columns, 0)), np.empty(0, dtype=np.int64)
        labels = np.concatenate([part[0] for part in self._parts])
        order = np.argsort(labels, kind="stable")
        if (labels[order][1:] == labels[order][:-1]).any():
            raise DataError(
                "several rows have one record id, and this method gives every row a place of its own",
                hint="leave out the record id: mixed rows carry no noise that would average out",
            )
        values = np.concatenate([part[1] for part in self._parts], axis=1)[:, order]
        return labels[order], values, np.concatenate([part[2] for part in self._parts])[order]


@dataclass(frozen=True, repr=False)
class WholeTable(Hidden):
    """A gathered table as one batch, for passes that are made in the fold.

    Attributes
    ----------
    values : array of shape (d, n)
    """

    values: Floats

    @property
    def rows(self) -> RowRange:
        """All rows."""
        return RowRange(0, self.values.shape[1])

    def __len__(self) -> int:
        return int(self.values.shape[1])

    def tile(self, start: int, stop: int) -> Floats:
        """Return some of the rows."""
        return self.values[:, start:stop].copy()
