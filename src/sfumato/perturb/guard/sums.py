"""What a pass learns of the kept clusters: which combinations of labels occur, and the sums of every cluster."""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np

from sfumato._arrays import Floats, Integers
from sfumato.core.linear import exact_product
from sfumato.core.rows import Rows
from sfumato.core.summaries import Summary
from sfumato.perturb.guard.atoms import Atoms, atom_codes
from sfumato.perturb.guard.named import Named
from sfumato.perturb.guard.space import Space

_ROWS = 1 << 13  # sums of so many steps of up to 2^20 are exact


class ClusterSums(Summary):
    """Rows of every combination of labels, and the sum of every cluster's rows in whole steps; exact.

    Parameters
    ----------
    space : Space
    named : Named
        The kept clusterings.
    atoms : Atoms, optional
        Whose labels rows have in the release, where some have joined others. None (default): those of the centres.
    """

    learnt: ClassVar[tuple[str, ...]] = ("_counts", "_labels", "_sums")

    def __init__(self, space: Space, named: Named, atoms: Atoms | None = None) -> None:
        self._space, self._named, self._atoms = space, named, atoms
        self._counts: dict[int, int] = {}
        self._labels: dict[int, Integers] = {}
        self._sums = np.zeros(named.stacked.shape, dtype=np.int64)

    def fresh(self) -> Self:
        return type(self)(self._space, self._named, self._atoms)

    @property
    def block_rows(self) -> int:
        return _ROWS

    def add(self, tile: Floats, rows: Rows) -> None:
        for start in range(0, tile.shape[1], _ROWS):
            inside = self._space.enter(tile[:, start : start + _ROWS])
            labels = self._named.labels(inside)
            if self._atoms is not None:
                labels = self._atoms.every_label[self._atoms.of_labels(labels)].T
            self._count(labels)
            parts = [
                row[None, :] == np.arange(size)[:, None] for row, size in zip(labels, self._named.sizes, strict=False)
            ]
            members = np.concatenate(parts).astype(np.float64)
            self._sums += exact_product(members, self._space.steps(inside).T).astype(np.int64)

    def _count(self, labels: Integers) -> None:
        codes, first, counts = np.unique(
            atom_codes(labels, self._named.all_sizes), return_index=True, return_counts=True
        )
        for code, at, count in zip(codes.tolist(), first.tolist(), counts.tolist(), strict=True):
            if code not in self._counts:
                self._labels[code] = labels[:, at].copy()
            self._counts[code] = self._counts.get(code, 0) + count

    def merge(self, other: Self) -> None:
        for code, count in other._counts.items():
            self._counts[code] = self._counts.get(code, 0) + count
        self._labels.update(other._labels)
        self._sums += other._sums

    @property
    def sums(self) -> Integers:
        """The sum of every cluster's rows, in whole steps; shape (c, d)."""
        return self._sums

    def atoms(self) -> Atoms:
        """Return the atoms of the table, none of which has joined another; their means were not asked for."""
        codes = np.array(sorted(self._counts), dtype=np.int64)
        counts = np.array([self._counts[int(code)] for code in codes], dtype=np.int64)
        labels = np.array([self._labels[int(code)] for code in codes], dtype=np.int64)
        own, marks = labels[:, : len(self._named.sizes)], labels[:, len(self._named.sizes) :]
        unknown = np.empty((len(codes), 0))
        return Atoms(self._named, codes, np.arange(len(codes)), codes, own, counts, unknown, marks)

    def centres(self, atoms: Atoms) -> Floats:
        """Return the means of the clusters in units of the space; of a cluster without rows its named centre.

        Parameters
        ----------
        atoms : Atoms
            With the labels that rows were summed by.
        """
        unit = 2.0**-self._space.bits
        counts = (atoms.incidence() * atoms.counts).sum(axis=1)[:, None]
        means: Floats = np.where(counts > 0, self._sums / np.maximum(counts, 1.0), self._named.stacked) * unit
        return means
