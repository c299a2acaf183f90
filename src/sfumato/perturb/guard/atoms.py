"""Atoms: rows that share the labels of all named clusterings, and their exact moments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import prod
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from sfumato._arrays import Floats, Integers
from sfumato.core.linear import exact_product
from sfumato.core.rows import Rows
from sfumato.core.secret import Hidden
from sfumato.core.summaries import Summary
from sfumato.exceptions import DataError
from sfumato.perturb.guard.named import Named

# (tile, rows) -> the code of each row's atom (negative: leave the row out) and its values in whole steps
Values = Callable[[Floats, Rows], tuple[Integers, Floats]]


_FEW_ROWS = 4096  # that two sets of walls are cheap for
_ODD = np.uint64(0x9E3779B97F4A7C15)


def _factors(count: int) -> NDArray[np.uint64]:
    """Return odd numbers without a pattern: the steps of a well-known generator."""
    state = np.arange(1, count + 1, dtype=np.uint64) * _ODD
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        state = (state ^ (state >> np.uint64(shift))) * np.uint64(factor)
    return (state ^ (state >> np.uint64(31))) | np.uint64(1)


def atom_codes(labels: Integers, sizes: tuple[int, ...]) -> Integers:
    """Return one number for each combination of labels.

    As long as there are few enough combinations, they are numbered. Otherwise each has 62 bits of a sum of products
    with fixed odd numbers, in which two of a million combinations meet once in nine million tables.

    Parameters
    ----------
    labels : array of shape (clusterings, rows)
    sizes : tuple of int
        Number of clusters of each clustering.

    Examples
    --------
    >>> atom_codes(np.array([[0, 1], [2, 0]]), (2, 3)).tolist()
    [2, 3]
    """
    if prod(sizes) >= 2**62:
        mixed = np.zeros(labels.shape[1], dtype=np.uint64)
        for factor, row in zip(_factors(len(sizes)), labels, strict=True):
            mixed += factor * (row.astype(np.uint64) + np.uint64(1))
        mixed ^= mixed >> np.uint64(31)
        return ((mixed * _ODD) >> np.uint64(2)).astype(np.int64)
    codes = np.zeros(labels.shape[1], dtype=np.int64)
    for row, size in zip(labels, sizes, strict=True):
        codes *= size
        codes += row
    return codes


class AtomMoments(Summary):
    """Count, sum and products of the rows of every atom, exact.

    Parameters
    ----------
    values : callable
        What to add up: (tile, rows) -> codes, steps.
    cross : bool
        False keeps counts and sums only.
    """

    learnt: ClassVar[tuple[str, ...]] = ("_counts", "_sums", "_products")

    def __init__(self, values: Values, *, cross: bool = True) -> None:
        self._values, self._cross = values, cross
        self._counts: dict[int, int] = {}
        self._sums: dict[int, Integers] = {}
        self._products: dict[int, NDArray[np.object_]] = {}

    def fresh(self) -> Self:
        return type(self)(self._values, cross=self._cross)

    def add(self, tile: Floats, rows: Rows) -> None:
        for start in range(0, tile.shape[1], 1 << 13):  # products of 2^13 rows of 2^40 stay below 2^53
            stop = min(start + (1 << 13), tile.shape[1])
            self._add_part(*self._values(tile[:, start:stop], rows.part(start, stop)))

    def _add_part(self, codes: Integers, steps: Floats) -> None:
        order = np.argsort(codes, kind="stable")
        ordered = codes[order]
        starts = [int(at) for at in np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])][: len(order)]
        for start, stop in zip(starts, [*starts[1:], len(order)], strict=True):
            code = int(ordered[start])
            if code < 0:
                continue
            part = np.ascontiguousarray(steps[:, order[start:stop]])
            self._counts[code] = self._counts.get(code, 0) + stop - start
            sums = part.astype(np.int64).sum(axis=1)
            self._sums[code] = self._sums[code] + sums if code in self._sums else sums
            if self._cross:
                products = exact_product(part, part.T).astype(np.int64).astype(object)
                self._products[code] = self._products[code] + products if code in self._products else products

    def merge(self, other: Self) -> None:
        for code, count in other._counts.items():
            self._counts[code] = self._counts.get(code, 0) + count
            self._sums[code] = self._sums[code] + other._sums[code] if code in self._sums else other._sums[code]
            if self._cross:
                mine = self._products.get(code)
                self._products[code] = other._products[code] if mine is None else mine + other._products[code]

    def codes(self) -> Integers:
        """Return the codes seen, sorted."""
        return np.array(sorted(self._counts), dtype=np.int64)

    def count(self, code: int) -> int:
        """Return the rows of an atom."""
        return self._counts.get(code, 0)

    def mean(self, code: int, bits: int) -> Floats:
        """Return the mean of an atom, for a lattice of so many bits."""
        n = self._counts[code]
        return np.array(
            [int(total) / (n << bits) if bits >= 0 else int(total) / n * 2.0**-bits for total in self._sums[code]]
        )

    def variance(self, code: int, bits: int) -> Floats:
        """Return the variance (divisor n) of every column in an atom."""
        n, diagonal = self._counts[code], self._products[code].diagonal()
        exact = [(n * int(p) - int(s) * int(s)) / (n * n) for p, s in zip(diagonal, self._sums[code], strict=True)]
        variance: Floats = np.array(exact) * 4.0**-bits
        return variance

    def covariance(self, code: int, bits: int) -> Floats:
        """Return the covariance (divisor n) of an atom."""
        n = self._counts[code]
        sums = [int(total) for total in self._sums[code]]
        products = self._products[code]
        out = np.empty(products.shape)
        for i, a in enumerate(sums):
            for j in range(i + 1):
                out[i, j] = out[j, i] = (n * int(products[i, j]) - a * sums[j]) / (n * n)
        covariance: Floats = out * 4.0**-bits
        return covariance


@dataclass(frozen=True, repr=False)
class Atoms(Hidden):
    """The atoms of a table.

    Attributes
    ----------
    named : Named
    codes : array of shape (c,)
        The combinations of labels that occur, sorted.
    home : array of shape (c,)
        The atom of each combination: its own, unless it has joined another.
    names : array of shape (a,)
        The combination of labels that names each atom.
    labels : array of shape (a, clusterings)
        Of the clusterings with centres.
    counts : array of shape (a,)
    means : array of shape (a, d)
        In the space of the clusterings.
    marks : array of shape (a, trees), optional
        Labels that trees give.
    """

    named: Named
    codes: Integers
    home: Integers
    names: Integers
    labels: Integers
    counts: Integers
    means: Floats
    marks: Integers | None = None

    @property
    def every_label(self) -> Integers:
        """The labels of all clusterings, those of trees last; shape (a, clusterings and trees)."""
        return self.labels if self.marks is None else np.concatenate([self.labels, self.marks], axis=1)

    @property
    def clusters(self) -> Integers:
        """The clusters of all clusterings, with one number for all prototypes of a cluster; as `every_label`."""
        own = self.named.merged(self.labels)
        return own if self.marks is None else np.concatenate([own, self.marks], axis=1)

    def with_means(self, moments: AtomMoments) -> Atoms:
        """Return the atoms with the means that a pass has found for their names."""
        return replace(self, means=np.array([moments.mean(int(name), self.named.space.bits) for name in self.names]))

    def __len__(self) -> int:
        return len(self.names)

    @property
    def have_joined(self) -> bool:
        """Whether some atoms have joined others, so that rows do not keep all labels."""
        return len(self.names) < len(self.codes)

    @property
    def new_centres_only(self) -> bool:
        """Whether rows are held in the regions of the release's centres alone, not in those of the named ones as well.

        Where atoms have joined, the release's own centres are what a miner finds; on a small table one who starts from
        the named ones might still end elsewhere. Twice as many walls take twice as long.
        """
        return self.have_joined and int(self.counts.sum()) > _FEW_ROWS

    def of(self, inside: Floats) -> Integers:
        """Return the atom of every row of a tile in the space of the clusterings."""
        return self.of_labels(self.named.labels(inside))

    def of_labels(self, labels: Integers) -> Integers:
        """Return the atom of rows whose labels are known, shape (clusterings, rows)."""
        codes = atom_codes(labels, self.named.all_sizes)
        found = np.minimum(np.searchsorted(self.codes, codes), len(self.codes) - 1)
        if not (self.codes[found] == codes).all():
            raise DataError(
                "the table holds rows that are not in the fitted one", hint="fit on this table, then transform it"
            )
        return self.home[found]

    def incidence(self) -> Floats:
        """Return which atom lies in which cluster: shape (clusters of all clusterings, atoms)."""
        parts = [self.labels[:, i][None, :] == np.arange(k)[:, None] for i, k in enumerate(self.named.sizes)]
        return np.concatenate(parts).astype(np.float64)

    def means_of(self, inside: Floats, of: Integers) -> Floats:
        """Return the mean of each atom's rows, shape (a, d); 0 for atoms without rows.

        Parameters
        ----------
        inside : array of shape (d, rows)
        of : array of shape (rows,)
            Their atoms.
        """
        counts = np.maximum(np.bincount(of, minlength=len(self)), 1)
        # bincount adds one after the other: a fixed order
        return np.stack([np.bincount(of, weights=column, minlength=len(self)) / counts for column in inside], axis=1)
