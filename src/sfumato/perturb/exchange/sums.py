"""What a pass learns of the kept clusters: how many rows every atom has, and the sums of every cluster."""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np

from sfumato._arrays import Floats, Integers
from sfumato.core.linear import exact_product
from sfumato.core.rows import Rows
from sfumato.core.summaries import Summary
from sfumato.perturb.exchange.setting import Setting
from sfumato.perturb.exchange.space import MixedSpace
from sfumato.perturb.guard.atoms import Atoms, atom_codes
from sfumato.perturb.guard.named import Named

_ROWS = 1 << 13  # sums of so many steps of up to 2^20 are exact


class ClusterSums(Summary):
    """Rows of every atom, and the sum of every cluster's rows in whole steps; exact.

    Parameters
    ----------
    space : MixedSpace
    named : Named
        The kept clusterings.
    """

    learnt: ClassVar[tuple[str, ...]] = ("_counts", "_sums")

    def __init__(self, space: MixedSpace, named: Named) -> None:
        self._space, self._named = space, named
        self._counts: dict[int, int] = {}
        self._sums = np.zeros(named.stacked.shape, dtype=np.int64)

    def fresh(self) -> Self:
        return type(self)(self._space, self._named)

    @property
    def block_rows(self) -> int:
        return _ROWS

    def add(self, tile: Floats, rows: Rows) -> None:
        for start in range(0, tile.shape[1], _ROWS):
            inside = self._space.enter(tile[:, start : start + _ROWS])
            labels = self._named.labels(inside)
            codes, counts = np.unique(atom_codes(labels, self._named.sizes), return_counts=True)
            for code, count in zip(codes.tolist(), counts.tolist(), strict=True):
                self._counts[code] = self._counts.get(code, 0) + count
            parts = [
                row[None, :] == np.arange(size)[:, None] for row, size in zip(labels, self._named.sizes, strict=True)
            ]
            members = np.concatenate(parts).astype(np.float64)
            self._sums += exact_product(members, self._space.steps(inside).T).astype(np.int64)

    def merge(self, other: Self) -> None:
        for code, count in other._counts.items():
            self._counts[code] = self._counts.get(code, 0) + count
        self._sums += other._sums

    def atoms(self) -> Atoms:
        """Return the atoms of the table; their means were not asked for."""
        codes = np.array(sorted(self._counts), dtype=np.int64)
        counts = np.array([self._counts[int(code)] for code in codes], dtype=np.int64)
        return Atoms.from_counts(self._named, codes, counts, np.empty((len(codes), 0)))

    def rare(self, least: int) -> tuple[Integers, ...]:
        """Return for each column its categories that fewer rows have than some; none for numbers."""
        total = self._sums[: self._named.sizes[0]].sum(axis=0)
        found = []
        for axis in self._space.axes:
            own = total[axis.first : axis.first + axis.levels]  # a row adds the height of its category
            found.append(np.flatnonzero((own > 0) & (own < least * self._space.height(axis))))
        return tuple(found)

    def centres(self, setting: Setting, before: Floats, after: Floats, of: Integers) -> Floats:
        """Return the centres of the kept clusters after some rows have changed, in whole steps.

        Parameters
        ----------
        before, after : arrays of shape (d, m)
            These rows.
        of : array of shape (m,)
            Their atoms.
        """
        sums = self._sums.astype(np.float64)
        incidence = setting.atoms.incidence()
        rows = incidence[:, of]
        for start in range(0, before.shape[1], _ROWS):
            part = slice(start, start + _ROWS)
            moved = self._space.steps(self._space.enter(after[:, part]))
            moved -= self._space.steps(self._space.enter(before[:, part]))
            sums += exact_product(rows[:, part], moved.T)
        counts = np.maximum((incidence * setting.atoms.counts).sum(axis=1), 1.0)
        centres: Floats = np.rint(sums / counts[:, None])
        of_modes = np.repeat(self._named.modes, self._named.sizes)
        for own in self._space.categories:  # modes stay
            centres[of_modes, own] = self._named.stacked[of_modes, own]
        return centres
