"""What a pass learns of the kept clusters: which combinations of labels occur, and the sums of every cluster."""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np

from sfumato._arrays import Floats, Integers
from sfumato.core.rows import Rows
from sfumato.core.summaries import Summary
from sfumato.core.tiles import spans
from sfumato.perturb.guard.atoms import Atoms, atom_codes, grouped, moments_of_groups, part_rows
from sfumato.perturb.guard.named import Named
from sfumato.perturb.guard.space import Space
from sfumato.perturb.mechanism.collected import Seen


class ClusterSums(Summary):
    """Rows of every combination of labels, and the sum of every cluster's rows in whole steps; exact.

    Parameters
    ----------
    space : Space
    named : Named
        The kept clusterings.
    atoms : Atoms, optional
        Whose labels rows have in the release, where some have joined others. None (default): those of the centres.
    seen : Seen, optional
        Where the combination of labels of every row is written down.
    """

    learnt: ClassVar[tuple[str, ...]] = ("_counts", "_labels", "_sums")

    def __init__(self, space: Space, named: Named, atoms: Atoms | None = None, seen: Seen | None = None) -> None:
        self._space, self._named, self._atoms, self._seen = space, named, atoms, seen
        self._counts: dict[int, int] = {}
        self._labels: dict[int, Integers] = {}
        self._sums = np.zeros(named.stacked.shape, dtype=np.int64)

    def fresh(self) -> Self:
        return type(self)(self._space, self._named, self._atoms, self._seen)

    @property
    def block_rows(self) -> int:
        return part_rows()

    def add(self, tile: Floats, rows: Rows) -> None:
        for start, stop in spans(tile.shape[1], part_rows()):
            inside = self._space.enter(tile[:, start:stop])
            labels = self._named.labels(inside)
            if self._atoms is not None:
                labels = self._atoms.every_label[self._atoms.of_labels(labels)].T
            codes = atom_codes(labels, self._named.all_sizes)
            if self._seen is not None:
                self._seen.learn(rows.part(start, stop), codes)
            codes, order, edges = grouped(codes)
            of_groups, _ = moments_of_groups(self._space.steps(inside), order, edges, cross=False)
            own = labels[:, order[edges[:-1]]]  # of the first row of each combination, which all of them share
            self._count(codes, own, np.diff(edges))
            first = 0
            for row, size in zip(own, self._named.sizes, strict=False):
                np.add.at(self._sums[first : first + size], row, of_groups)
                first += size

    def _count(self, codes: Integers, labels: Integers, counts: Integers) -> None:
        for at, (code, count) in enumerate(zip(codes.tolist(), counts.tolist(), strict=True)):
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
