"""Atoms: rows that share the labels of all named clusterings, and their exact moments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import prod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from sfumato._arrays import Flags, Floats, Integers
from sfumato.core.fast import compiled_kernels
from sfumato.core.linear import exact_product
from sfumato.core.rows import Rows
from sfumato.core.secret import Hidden
from sfumato.core.summaries import Summary
from sfumato.core.tiles import spans
from sfumato.exceptions import DataError
from sfumato.perturb.guard.named import Named

# (tile, rows) -> the code of each row's atom (negative: leave the row out) and its values in whole steps
Values = Callable[[Floats, Rows], tuple[Integers, Floats]]


_PART, _LONG_PART = 1 << 13, 1 << 15  # rows that are worked on together by numpy, and by compiled kernels
_EXACT_ROWS = 1 << 13  # products of so many rows of 2^40 stay below 2^53
_WIDE_ROWS = 1 << 22  # of so many in 64 bits
_FEW_ROWS = 4096  # that two sets of walls are cheap for
_WIDE = 512  # columns of which all pairs are multiplied in every atom
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


def part_rows() -> int:
    """Return how many rows are worked on together.

    numpy has a number for each row and each centre: more rows than a few thousand would leave the cache. Compiled
    kernels have a row at a time, and the more rows, the rarer they ask for the interpreter's lock.
    """
    return _PART if compiled_kernels(0) is None else _LONG_PART


def grouped(codes: Integers) -> tuple[Integers, Integers, Integers]:
    """Return the codes that occur, sorted, the places of their rows behind one another, and where each begins and ends.

    Examples
    --------
    >>> [part.tolist() for part in grouped(np.array([7, 3, 7]))]
    [[3, 7], [1, 0, 2], [0, 1, 3]]
    """
    order = np.argsort(codes, kind="stable")
    ordered = codes[order]
    first = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])[: len(order)]
    return ordered[first], order, np.append(first, len(order))


def moments_of_groups(
    steps: Floats, order: Integers, edges: Integers, *, cross: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return sums of shape (g, d) and, if asked for, products of shape (g, d, d) of the rows of each group; exact.

    Parameters
    ----------
    steps : array of shape (d, n)
        At most 2^20 in size.
    order, edges : arrays of int
        See `grouped`.
    """
    d, groups = len(steps), len(edges) - 1
    sums = np.zeros((groups, d), dtype=np.int64)
    products = np.zeros((groups, d, d) if cross else (0, d, d), dtype=np.int64)
    fast = compiled_kernels(steps.size)
    if fast is not None:
        fast.group_moments(np.ascontiguousarray(steps), order, edges, cross, sums, products)
        return sums, products
    ordered = np.ascontiguousarray(steps[:, order])
    for group in range(groups):
        for start in range(edges[group], edges[group + 1], _EXACT_ROWS):
            part = ordered[:, start : min(start + _EXACT_ROWS, edges[group + 1])]
            sums[group] += part.astype(np.int64).sum(axis=1)
            if cross:
                products[group] += exact_product(part, part.T).astype(np.int64)
    return sums, products


class AtomMoments(Summary):
    """Count, sum and products of the rows of every atom, exact.

    Parameters
    ----------
    values : callable
        What to add up: (tile, rows) -> codes, steps.
    cross : bool
        False keeps counts and sums only.
    full : set of int, optional
        Codes of the atoms whose pairs of columns are all multiplied; of others only squares are kept. None: of all.
    """

    learnt: ClassVar[tuple[str, ...]] = ("_counts", "_sums", "_products")

    def __init__(self, values: Values, *, cross: bool = True, full: frozenset[int] | None = None) -> None:
        self._values, self._cross, self._full = values, cross, full
        self._counts: dict[int, int] = {}
        self._sums: dict[int, Integers] = {}
        self._products: dict[int, NDArray[Any]] = {}

    def fresh(self) -> Self:
        return type(self)(self._values, cross=self._cross, full=self._full)

    @property
    def block_rows(self) -> int:
        return part_rows()

    def add(self, tile: Floats, rows: Rows) -> None:
        for start, stop in spans(tile.shape[1], part_rows()):
            self._add_part(*self._values(tile[:, start:stop], rows.part(start, stop)))

    def _add_part(self, codes: Integers, steps: Floats) -> None:
        codes, order, edges = grouped(codes)
        if len(codes) and codes[0] < 0:
            codes, edges = codes[1:], edges[1:]
        sums, products = moments_of_groups(steps, order, edges, cross=self._cross and self._full is None)
        counts, pairs = np.diff(edges).tolist(), list(products) if self._cross else [None] * len(codes)
        if self._cross and self._full is not None:
            pairs = list(moments_of_groups(steps * steps, order, edges, cross=False)[0])
            for group in np.flatnonzero(np.isin(codes, list(self._full))):
                pairs[group] = moments_of_groups(steps, order, edges[group : group + 2], cross=True)[1][0]
        for code, count, own, pair in zip(codes.tolist(), counts, sums, pairs, strict=True):
            self._learn(code, count, own, pair)

    def _learn(self, code: int, count: int, sums: Integers, products: NDArray[Any] | None) -> None:
        known = self._counts.get(code, 0)
        self._counts[code] = known + count
        self._sums[code] = self._sums[code] + sums if known else sums.copy()
        if products is None:
            return
        if known + count > _WIDE_ROWS:  # 64 bits hold no more: whole numbers without bounds go on
            products = products.astype(object)
        self._products[code] = self._products[code] + products if known else products.copy()

    def merge(self, other: Self) -> None:
        for code, count in other._counts.items():
            self._learn(code, count, other._sums[code], other._products.get(code))

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
        n, products = self._counts[code], self._products[code]
        diagonal = products if products.ndim == 1 else products.diagonal()
        exact = [(n * int(p) - int(s) * int(s)) / (n * n) for p, s in zip(diagonal, self._sums[code], strict=True)]
        variance: Floats = np.array(exact) * 4.0**-bits
        return variance

    def covariance(self, code: int, bits: int) -> Floats:
        """Return the covariance (divisor n) of an atom; of one that keeps squares only, the variances alone."""
        n = self._counts[code]
        sums = [int(total) for total in self._sums[code]]
        products = self._products[code]
        if products.ndim == 1:
            return self.variance(code, bits)
        out = np.empty(products.shape)
        fast = compiled_kernels(0) if products.dtype == np.int64 and n <= _WIDE_ROWS else None
        if fast is not None:
            fast.exact_covariance(n, self._sums[code], products, out)
            return out * 4.0**-bits
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
        return self.of_codes(atom_codes(labels, self.named.all_sizes))

    def of_codes(self, codes: Integers) -> Integers:
        """Return the atom of rows whose combinations of labels are known; see `atom_codes`."""
        found = np.minimum(np.searchsorted(self.codes, codes), len(self.codes) - 1)
        if not (self.codes[found] == codes).all():
            raise DataError(
                "the table holds rows that are not in the fitted one", hint="fit on this table, then transform it"
            )
        return self.home[found]

    def drawn_anew(self, small: Flags, d: int) -> Flags:
        """Return which atoms have rows enough for their columns that others can be drawn by their covariances."""
        drawn: Flags = ~small & (self.counts >= max(2 * d + 10, 40))
        return drawn

    def multiplied(self, d: int) -> frozenset[int] | None:
        """Return the names of the atoms of which all pairs of columns are multiplied; None for all of them.

        In a wide table these are the large ones only: the products of the others would outgrow the table.
        """
        large = self.drawn_anew(np.zeros(len(self), dtype=bool), d)
        return None if d <= _WIDE else frozenset(self.names[large].tolist())

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
