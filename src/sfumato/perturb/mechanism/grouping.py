"""The group tier: rows that meet in groups, each released by itself.

A row's group is a function of the row, the fitted state and the key, and what becomes of a group depends on its rows
alone. So whoever brings the rows of each group together, in memory, in files or on a cluster, gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from sfumato._arrays import Flags, Floats, Integers
from sfumato.core.rows import RowRange, Rows
from sfumato.core.secret import Hidden
from sfumato.core.summaries import Summary
from sfumato.core.tiles import in_order
from sfumato.exceptions import DataError

BUNDLE_ROWS = 1 << 14  # rows of whole groups that are worked on together


class Grouping(Protocol):
    """How the rows of a table meet, and what becomes of them."""

    def groups(self, tile: Floats, labels: NDArray[np.uint64]) -> Integers:
        """Return the group of every row of a tile."""

    def bundles(self, rows: int) -> Integers:
        """Return for each group the bundle it belongs to: rising, and of about so many rows."""

    def release(self, tile: Floats, labels: NDArray[np.uint64], groups: Integers) -> tuple[Floats, Flags]:
        """Return what whole groups release, and which rows could not be kept where they belong."""


class Everyone(Summary):
    """All rows and their groups, in one place: eight bytes for each cell.

    Parameters
    ----------
    grouping : Grouping
    n_columns, n_rows : int
        Of the table.
    room : pair of arrays, optional
        Shared by all workers: values of shape (columns, rows), and groups.
    """

    learnt: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self, grouping: Grouping, n_columns: int, n_rows: int, room: tuple[Floats, NDArray[np.int32]] | None = None
    ) -> None:
        self._grouping, self._shape = grouping, (n_columns, n_rows)
        self._room = (np.empty(self._shape), np.empty(n_rows, dtype=np.int32)) if room is None else room
        self._named: list[tuple[NDArray[np.uint64], Floats, Integers]] = []  # rows without a number

    def fresh(self) -> Self:
        return type(self)(self._grouping, *self._shape, self._room)

    def add(self, tile: Floats, rows: Rows) -> None:
        labels = rows.labels()
        groups = self._grouping.groups(tile, labels)
        if isinstance(rows, RowRange):
            self._room[0][:, rows.start : rows.stop], self._room[1][rows.start : rows.stop] = tile, groups
        else:
            self._named.append((labels, tile.copy(), groups))

    def merge(self, other: Self) -> None:
        self._named += other._named

    def together(self) -> tuple[NDArray[np.uint64], Floats, NDArray[np.int32]]:
        """Return the labels of all rows, sorted, with their values and groups."""
        values, groups = self._room
        if not self._named:
            return np.arange(self._shape[1], dtype=np.uint64), values, groups
        labels = np.concatenate([part[0] for part in self._named])
        order = np.argsort(labels, kind="stable")
        labels = labels[order]
        if (labels[1:] == labels[:-1]).any():
            raise DataError(
                "several rows have one record id, and this method gives every row a place of its own",
                hint="leave out the record id: mixed rows carry no noise that would average out",
            )
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        begin = 0
        while self._named:
            names, tile, own = self._named.pop(0)
            here = place[begin : begin + len(names)]
            values[:, here], groups[here] = tile, own
            begin += len(names)
        return labels, values, groups


@dataclass(frozen=True, repr=False)
class Outcome(Hidden):
    """What a table has become.

    Attributes
    ----------
    same : array of uint64
        The labels of the rows that are released as they were.
    outside : array of uint64
        The labels of the rows that could not be kept where they belong.
    """

    same: NDArray[np.uint64]
    outside: NDArray[np.uint64]


def bundled(grouping: Grouping, groups: NDArray[np.int32]) -> Iterator[Integers]:
    """Yield the places of the rows of some whole groups, bundle by bundle."""
    if not len(groups):
        return
    order = np.argsort(groups, kind="stable")
    bundles = grouping.bundles(BUNDLE_ROWS)[groups[order]]
    edges = np.flatnonzero(np.r_[True, bundles[1:] != bundles[:-1], True])
    for start, stop in pairwise(edges):
        yield order[start:stop]


def release_in_place(
    grouping: Grouping,
    labels: NDArray[np.uint64],
    values: Floats,
    groups: NDArray[np.int32],
    *,
    threads: int = 1,
    tell: Callable[[float], None] = lambda _: None,
) -> Outcome:
    """Put released rows in the place of the original ones, bundle by bundle.

    Parameters
    ----------
    labels : array of shape (n,), uint64
    values : array of shape (columns, n)
        Is overwritten.
    groups : array of shape (n,)
    threads : int
        Workers; the result does not depend on it.
    tell : callable
        Is told which share is done.
    """

    def one(rows: Integers) -> tuple[Integers, Floats, Flags, Flags]:
        tile = values[:, rows]
        released, lost = grouping.release(tile, labels[rows], groups[rows].astype(np.int64))
        return rows, released, (released == tile).all(axis=0), lost

    same, outside, done = [labels[:0]], [labels[:0]], 0
    for rows, released, kept, lost in in_order(bundled(grouping, groups), one, threads):
        same.append(labels[rows[kept]])
        outside.append(labels[rows[lost]])
        values[:, rows] = released
        done += len(rows)
        tell(done / len(labels))
    return Outcome(np.sort(np.concatenate(same)), np.sort(np.concatenate(outside)))
