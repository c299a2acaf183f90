"""The guard's rounds: draw rows into their regions, put every atom's mean back, and end exactly.

One round clips the rows of each atom towards its target, then shifts them by the mean displacement (and, for mixing,
widens them to the scatter they should have). The last round has a closed form: y <- T + (1 - e)(y - T - delta), with
the smallest e that leaves every row in its region, so the mean is exactly the target.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from sfumato._arrays import Floats, Integers
from sfumato.core.lattice import to_steps
from sfumato.core.linear import sum_in_order
from sfumato.core.rows import Rows
from sfumato.core.secret import Hidden
from sfumato.core.summaries import Summary
from sfumato.perturb.guard.regions import Regions

# (tile, rows) -> proposed rows in the space, and their atoms (negative: not guarded here)
Propose = Callable[[Floats, Rows], tuple[Floats, Integers]]

ROUNDS = 3
_MARGIN = 0.85  # an empty strip along the walls: centres that move a little meet no rows that would change sides
_SQUARE_BITS = 4  # squares are summed on a lattice so much coarser
_WIDEST = 1.5


@dataclass(frozen=True, repr=False)
class Step(Hidden):
    """What a round does after clipping: shift and factor of each atom."""

    shift: Floats
    factor: Floats


class Guard(Hidden):
    """Clips rows into regions and replays the rounds.

    Parameters
    ----------
    targets : array of shape (a, d)
        Where the mean of each atom shall be, inside its region.
    scatter : array of shape (a,), optional
        Sum of squared deviations that the rows of an atom should have; None leaves it as it comes.
    counts : array of shape (a,)
    """

    def __init__(self, regions: Regions, targets: Floats, counts: Integers, scatter: Floats | None = None) -> None:
        self._regions, self._targets, self._counts, self._scatter = regions, targets, counts, scatter
        self._near = regions.nearness(targets)
        self.steps: list[Step] = []

    @property
    def regions(self) -> Regions:
        """The regions."""
        return self._regions

    @property
    def targets(self) -> Floats:
        """The targets."""
        return self._targets

    def clipped(self, rows: Floats, atoms: Integers) -> Floats:
        """Return proposed rows after all rounds so far and one more clipping."""
        for step in self.steps:
            rows = self._one(rows, atoms, step)
        return self._regions.clip(rows, self._targets, atoms, margin=_MARGIN, near=self._near)

    def finished(self, rows: Floats, atoms: Integers) -> Floats:
        """Return proposed rows after all rounds."""
        for step in self.steps:
            rows = self._one(rows, atoms, step)
        return rows

    def _one(self, rows: Floats, atoms: Integers, step: Step) -> Floats:
        rows = self._regions.clip(rows, self._targets, atoms, margin=_MARGIN, near=self._near)
        start = self._targets[atoms].T
        moved: Floats = start + step.factor[atoms] * (rows - start - step.shift[atoms].T)
        return moved

    def learn(self, seen: Displacement) -> None:
        """Add the next round, from what the displacements were after the last one."""
        shift = seen.mean()
        if len(self.steps) == ROUNDS - 1:
            self.steps.append(Step(shift, 1.0 - self._shrink(shift)))
            return
        factor = np.ones(len(shift))
        if self._scatter is not None:
            left = seen.squares() - self._counts * sum_in_order(shift * shift)
            factor = np.sqrt(np.divide(self._scatter, left, out=np.ones(len(left)), where=left > 0))
            factor = np.clip(factor, 1.0, _WIDEST)
        self.steps.append(Step(shift, factor))

    def _shrink(self, shift: Floats) -> Floats:
        """Return the smallest e with which y - delta, drawn towards the target, stays in the region of y."""
        atoms = np.arange(len(shift))
        # T + (1 - e)(y - T - delta) is between y and T - (1 - e)/e delta: the shift may use the room at the target
        times = self._regions.reach(self._targets.T, -shift.T, atoms, self._near)
        e = np.divide(1.0, 1.0 + times, out=np.zeros(len(times)), where=np.isfinite(times))
        shrunk: Floats = np.minimum(1.0, 1.02 * e)
        return shrunk


class Displacement(Summary):
    """Sum and squares of the displacements from the targets, of every atom, exact."""

    learnt: ClassVar[tuple[str, ...]] = ("_counts", "_sums", "_squares")

    def __init__(self, guard: Guard, propose: Propose) -> None:
        self._guard, self._propose = guard, propose
        a, d = guard.targets.shape
        self._counts = np.zeros(a, dtype=np.int64)
        self._sums = np.zeros((d, a), dtype=np.int64)
        self._squares = np.zeros(a, dtype=np.int64)

    def fresh(self) -> Self:
        return type(self)(self._guard, self._propose)

    def add(self, tile: Floats, rows: Rows) -> None:
        for start in range(0, tile.shape[1], 1 << 13):
            stop = min(start + (1 << 13), tile.shape[1])
            self.add_rows(*self._propose(tile[:, start:stop], rows.part(start, stop)))

    def add_rows(self, proposed: Floats, atoms: Integers) -> None:
        """Add proposed rows of known atoms."""
        kept = atoms >= 0
        proposed, atoms = proposed[:, kept], atoms[kept]
        moved = self._guard.clipped(proposed, atoms) - self._guard.targets[atoms].T
        bits, size = self._guard.regions.space.bits, len(self._counts)
        self._counts += np.bincount(atoms, minlength=size)
        coarse = np.zeros(len(atoms))
        for index, column in enumerate(moved):
            # whole numbers below 2^33 in sum: exact in doubles
            self._sums[index] += np.bincount(atoms, weights=to_steps(column, bits), minlength=size).astype(np.int64)
            steps = to_steps(column, bits - _SQUARE_BITS)
            coarse += steps * steps
        self._squares += np.bincount(atoms, weights=coarse, minlength=size).astype(np.int64)

    def merge(self, other: Self) -> None:
        self._counts += other._counts
        self._sums += other._sums
        self._squares += other._squares

    def mean(self) -> Floats:
        """Return the mean displacement of each atom; zero for atoms not seen."""
        unit = 2.0**-self._guard.regions.space.bits
        mean: Floats = (self._sums / np.maximum(self._counts, 1)).T * unit
        return mean

    def squares(self) -> Floats:
        """Return the sum of squared displacements of each atom."""
        squares: Floats = self._squares.astype(np.float64) * 4.0 ** -(self._guard.regions.space.bits - _SQUARE_BITS)
        return squares
