"""What is held of rows by their numbers: those of small atoms, all of a small table, and in which atom a row is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from sfumato._arrays import Floats, Integers
from sfumato.core.rows import RowRange, Rows
from sfumato.core.secret import Hidden
from sfumato.core.summaries import Summary
from sfumato.core.tiles import BLOCK_ROWS
from sfumato.exceptions import DataError

# (tile, rows) -> values of the rows and their atoms (negative: leave the row out)
Select = Callable[[Floats, Rows], tuple[Floats, Integers]]

_SEEN = 1 << 23  # rows whose atoms, or combinations of labels, are kept between passes: four or eight bytes each


class Collected(Summary):
    """The rows of some atoms; merging is a disjoint union."""

    learnt: ClassVar[tuple[str, ...]] = ("_parts",)

    def __init__(self, select: Select) -> None:
        self._select = select
        self._parts: list[tuple[NDArray[np.uint64], Floats, Integers]] = []

    @property
    def block_rows(self) -> int:
        return BLOCK_ROWS // 2

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
class Stored(Hidden):
    """Released rows of the small atoms, or other rows that are known beforehand.

    Attributes
    ----------
    labels : array of shape (m,), sorted
    rows : array of shape (d, m)
    """

    labels: NDArray[np.uint64]
    rows: Floats

    def find(self, labels: NDArray[np.uint64]) -> Floats:
        """Return the released rows of some row labels."""
        at = np.searchsorted(self.labels, labels)
        if len(labels) and (at.max() >= len(self.labels) or not (self.labels[at] == labels).all()):
            raise DataError(
                "the table holds rows that are not in the fitted one", hint="fit on this table, then transform it"
            )
        return self.rows[:, at]

    def put_in(self, tile: Floats, labels: NDArray[np.uint64]) -> Floats:
        """Put the stored rows in the place of those with their labels; other rows stay. Return the tile."""
        if len(self.labels):
            at = np.minimum(np.searchsorted(self.labels, labels), len(self.labels) - 1)
            here = self.labels[at] == labels
            tile[:, here] = self.rows[:, at[here]]
        return tile


class Seen(Hidden):
    """In which atom each of the first rows of a table is: found in one pass, looked up in the next ones.

    Parameters
    ----------
    n_rows : int
    kind : type of number
        Large enough for what is kept: atoms, or combinations of labels.
    """

    def __init__(self, n_rows: int, kind: type[np.signedinteger[Any]] = np.int32) -> None:
        self._after = np.zeros(min(n_rows, _SEEN), dtype=kind)  # one more than the atom; 0 for rows not yet seen

    def of(self, rows: Rows) -> Integers | None:
        """Return the atoms of some rows; None unless all of them are known."""
        if not isinstance(rows, RowRange) or rows.stop > len(self._after):
            return None
        after = self._after[rows.start : rows.stop]
        return after.astype(np.int64) - 1 if after.all() else None

    def learn(self, rows: Rows, atoms: Integers) -> Integers:
        """Write down the atoms of some rows, and return them."""
        if isinstance(rows, RowRange) and rows.stop <= len(self._after):
            self._after[rows.start : rows.stop] = atoms + 1
        return atoms


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
