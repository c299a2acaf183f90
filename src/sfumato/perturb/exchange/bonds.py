"""Relations between columns, kept by an exchange: what they bind moves as one, and is smeared only as they allow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Self

import numpy as np

from sfumato._arrays import Flags, Floats, Integers
from sfumato.core.passes import Facts
from sfumato.core.relations import Relation, bound_groups, coded_relation, parse_relation
from sfumato.core.rows import Rows
from sfumato.core.secret import Hidden
from sfumato.core.summaries import Summary
from sfumato.exceptions import DataError, ParameterError
from sfumato.frames.related import find_relations


class Bonds(Hidden):
    """The relations of a table, by the places of its columns.

    Parameters
    ----------
    relations : sequence of Relation
    names : sequence of str
        Columns of the table, in their order.
    gaps : mapping from columns to float
        The number that stands for a missing cell.
    decimals : sequence of int or None
        Of each column.
    low, high : arrays of shape (d,)
        Range of each column, which no sum leaves.
    """

    def __init__(
        self,
        relations: Sequence[Relation],
        names: Sequence[str],
        gaps: Mapping[str, float],
        decimals: Sequence[int | None],
        low: Floats,
        high: Floats,
    ) -> None:
        self.relations = tuple(relations)
        self._place = {name: place for place, name in enumerate(names)}
        self._gaps = dict(gaps)
        self._decimals = dict(zip(names, decimals, strict=True))
        self._low, self._high = low, high

    def only(self, relations: Sequence[Relation]) -> Bonds:
        """Return the bonds of some of the relations."""
        names, places = list(self._place), list(self._decimals.values())
        return Bonds(relations, names, self._gaps, places, self._low, self._high)

    def unbroken(self, broken: BrokenRows, *, declared: bool) -> Bonds:
        """Return the bonds of the relations that all rows keep.

        Parameters
        ----------
        broken : BrokenRows
            Of all rows.
        declared : bool
            Whether somebody has named the relations: then one that is broken already is an error.
        """
        wrong = [(one, count) for one, count in zip(self.relations, broken.counts.tolist(), strict=True) if count]
        if declared and wrong:
            raise DataError(
                "; ".join(f"{count:,} row(s) of the table break the relation {one.text!r}" for one, count in wrong),
                hint="correct these rows, or leave the relation out",
            )
        lost = [one for one, _ in wrong]
        return self.only([one for one in self.relations if one not in lost])

    def units(self) -> list[tuple[int, ...]]:
        """Return the columns that move together."""
        return [tuple(sorted(self._place[name] for name in group)) for group in bound_groups(self.relations)]

    def derived(self) -> set[int]:
        """Return the columns that are sums of others: they follow, and are not smeared themselves."""
        return {self._place[one.left] for one in self.relations if one.kind == "sum"}

    def touching(self, column: int) -> Bonds | None:
        """Return the bonds of all columns that a column is bound to; None if it is free."""
        group = next((unit for unit in self.units() if column in unit), None)
        if group is None:
            return None
        return self.only([one for one in self.relations if self._place[one.left] in group])

    def follow(self, tile: Floats, rows: Integers) -> None:
        """Compute the sums of some rows again; rows with a missing cell stay as they are.

        Parameters
        ----------
        tile : array of shape (d, n)
            Changed.
        """
        for one in self.relations:
            if one.kind == "sum":
                total = one.total(lambda name: self._cells(tile, rows, name))
                places = self._decimals[one.left]
                if places is not None:
                    total = np.rint(total * 10.0**places) / 10.0**places
                old = self._cells(tile, rows, one.left)
                tile[self._place[one.left], rows] = np.where(
                    np.isnan(total) | np.isnan(old), tile[self._place[one.left], rows], total
                )

    def broken(self, tile: Floats, rows: Integers) -> Flags:
        """Return which of some rows break any relation, or have a sum that leaves the range of its column."""
        wrong = np.zeros(len(rows), dtype=bool)
        for one in self.relations:
            wrong |= one.broken(lambda name: self._cells(tile, rows, name), self._decimals)
            if one.kind == "sum":
                place = self._place[one.left]
                total = tile[place, rows]
                wrong |= (total < self._low[place]) | (total > self._high[place])
        return wrong

    def counts(self, tile: Floats) -> Integers:
        """Return how many rows break each relation."""
        rows = np.arange(tile.shape[1])
        found = [one.broken(lambda name: self._cells(tile, rows, name), self._decimals) for one in self.relations]
        return np.array([np.count_nonzero(wrong) for wrong in found], dtype=np.int64)

    def _cells(self, tile: Floats, rows: Integers, name: str) -> Floats:
        values = tile[self._place[name], rows]
        gap = self._gaps.get(name)
        cells: Floats = values if gap is None else np.where(values == gap, np.nan, values)
        return cells


class BrokenRows(Summary):
    """How many rows of a table break each of its relations.

    Parameters
    ----------
    bonds : Bonds
    """

    learnt: ClassVar[tuple[str, ...]] = ("counts",)

    def __init__(self, bonds: Bonds) -> None:
        self._bonds = bonds
        self.counts = np.zeros(len(bonds.relations), dtype=np.int64)

    def fresh(self) -> Self:
        return type(self)(self._bonds)

    def add(self, tile: Floats, rows: Rows) -> None:  # one shape for all summaries
        self.counts += self._bonds.counts(tile)

    def merge(self, other: Self) -> None:
        self.counts += other.counts


def find_bonds(
    declared: Sequence[str] | None,
    facts: Facts,
    sample: Floats,
    kinds: Sequence[str],
    decimals: Sequence[int | None],
    gaps: Mapping[str, float],
    codes: Mapping[str, Mapping[str, float]],
) -> Bonds:
    """Return the relations that are declared, or that a sample of the rows keeps.

    Parameters
    ----------
    declared : sequence of str, optional
        Relations as text; None looks for them.
    sample : array of shape (m, d)
        Some rows of the table.
    kinds, decimals : sequences
        Of each column.
    gaps : mapping from columns to float
        The number that stands for a missing cell.
    codes : mapping
        Of columns of categories: the number of each.
    """
    numbers = {
        name: gaps[name] for name, kind in zip(facts.names, kinds, strict=True) if name in gaps and kind != "category"
    }
    if declared is None:
        seen = sample.copy()
        for column, name in enumerate(facts.names):
            if name in numbers:
                seen[seen[:, column] == numbers[name], column] = np.nan
        relations = find_relations(seen, facts.names, kinds)
    else:
        relations = [coded_relation(parse_relation(text), codes) for text in declared]
    for one in relations:
        unknown = [name for name in one.columns if name not in facts.names]
        if unknown:
            raise ParameterError(f"AtomExchange: {one.text!r} names {unknown[0]!r}, which is not perturbed")
    return Bonds(relations, facts.names, numbers, decimals, facts.low, facts.high)
