"""The guard's rounds: draw rows into their regions, put every atom's mean back, and end exactly.

One round clips the rows of each atom towards its target, then shifts them by the mean displacement (and, for mixing,
widens them to the scatter they should have). The last round has a closed form: y <- T + (1 - e)(y - T - delta), with
the smallest e that leaves every row in its region, so the mean is exactly the target.

The last touch on a rounded release of a small table is mending. Rounding moves the centres of clusters, centres move
the walls, and rows that are put back behind a wall move the centres again. Where columns have few values (yes and
no), that goes round in circles when all rows are finished by one rule. A small table can be looked at as a whole:
some rows of each atom take a step so that its mean is right to half a step, rows that are on the wrong side of a wall
step back, the centres are taken anew, and so on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from types import ModuleType
from typing import ClassVar, Self

import numpy as np

from sfumato._arrays import Flags, Floats, Integers
from sfumato.core.fast import compiled_kernels
from sfumato.core.linear import LARGEST_STEPS, sum_in_order, to_steps
from sfumato.core.rows import Rows
from sfumato.core.secret import Hidden
from sfumato.core.sharing import share, sharing_here
from sfumato.core.summaries import Summary
from sfumato.core.tiles import spans
from sfumato.perturb.guard.atoms import Atoms, part_rows
from sfumato.perturb.guard.placing import released_regions
from sfumato.perturb.guard.regions import Regions
from sfumato.perturb.guard.settle import Settling

# (tile, rows) -> rows in the space, and their atoms (negative: not guarded here)
Propose = Callable[[Floats, Rows], tuple[Floats, Integers]]

ROUNDS = 3
_TOGETHER = 512  # rows at least that one thread clips
_MARGIN = 0.85  # an empty strip along the walls: centres that move a little meet no rows that would change sides
_SQUARE_BITS = 4  # squares are summed on a lattice so much coarser
_WIDEST = 1.5
MENDED_CELLS = 1 << 20  # rows x columns squared: each column's steps are tried on all rows
_ROUNDS, _PATIENCE = 12, 3  # at most, and in vain


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
        self._near_of_atoms = np.ascontiguousarray(self._near.T)
        self.steps: list[Step] = []

    @property
    def regions(self) -> Regions:
        """The regions."""
        return self._regions

    @property
    def targets(self) -> Floats:
        """The targets."""
        return self._targets

    def clipped(self, rows: Floats, atoms: Integers, done: int | None = None) -> Floats:
        """Return proposed rows after all rounds so far and one more clipping; those of negative atoms as they are.

        Parameters
        ----------
        rows : array of shape (d, n)
        atoms : array of shape (n,)
        done : int, optional
            How many rounds the rows were clipped after; they go on from there. None (default): they are as proposed.
        """
        fast = compiled_kernels(rows.size * len(self._regions.centres))
        if fast is not None:
            return self._swept(fast, rows, atoms, done, clip=True)
        kept, out = atoms >= 0, rows.copy()
        replayed, of = self._replayed(rows[:, kept], atoms[kept], done), atoms[kept]
        out[:, kept] = self._regions.clip(replayed, self._targets, of, margin=_MARGIN, near=self._near)
        return out

    def finished(self, rows: Floats, atoms: Integers, done: int | None = None) -> Floats:
        """Return proposed rows after all rounds; those of negative atoms as they are. Parameters as of `clipped`."""
        fast = compiled_kernels(rows.size * len(self._regions.centres))
        if fast is not None:
            return self._swept(fast, rows, atoms, done, clip=False)
        kept, out = atoms >= 0, rows.copy()
        out[:, kept] = self._replayed(rows[:, kept], atoms[kept], done)
        return out

    def _swept(self, fast: ModuleType, rows: Floats, atoms: Integers, done: int | None, *, clip: bool) -> Floats:
        """Return rows after the rounds that are left, one row after the other."""
        regions, (a, d), steps = self._regions, self._targets.shape, self.steps[done or 0 :]
        shifts, factors = np.empty((len(steps), a, d)), np.empty((len(steps), a))
        for step, shift, factor in zip(steps, shifts, factors, strict=True):
            shift[:], factor[:] = step.shift, step.factor
        out = rows.copy()
        fast.guard_rows(
            np.ascontiguousarray(rows), np.ascontiguousarray(atoms), self._targets, self._near_of_atoms, regions.own,
            regions.centres, *self._walls, regions.low, regions.high, regions.space.bits, LARGEST_STEPS, _MARGIN,
            shifts, factors, done is not None, clip, out,
        )  # fmt: skip
        return out

    def clips(self, propose: Propose) -> Propose:
        """Return the function that clips what another one proposes, after all rounds so far."""

        def clipped(tile: Floats, rows: Rows) -> tuple[Floats, Integers]:
            proposed, atoms = propose(tile, rows)
            return self.clipped(proposed, atoms), atoms

        return clipped

    @cached_property
    def _walls(self) -> tuple[Integers, Floats]:
        """The walls of every atom, the nearest first, and what share of the way there a step takes at most."""
        regions = self._regions
        steep = self._near_of_atoms * regions.lengths * 2.0**regions.space.bits
        steep[regions.own == np.arange(len(regions.centres))] = 0.0
        order = np.argsort(-steep, axis=1, kind="stable")
        return order, np.take_along_axis(steep, order, axis=1)

    def _replayed(self, rows: Floats, atoms: Integers, done: int | None) -> Floats:
        start = self._targets[atoms].T
        for number, step in enumerate(self.steps[done or 0 :]):
            if number > 0 or done is None:
                rows = self._regions.clip(rows, self._targets, atoms, margin=_MARGIN, near=self._near)
            rows = start + step.factor[atoms] * (rows - start - step.shift[atoms].T)
        return rows

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
    """Sum and squares of the displacements from the targets, of every atom, exact.

    Parameters
    ----------
    guard : Guard
    clipped : callable
        (tile, rows) -> rows after the guard's rounds so far and one more clipping, and their atoms.
    """

    learnt: ClassVar[tuple[str, ...]] = ("_counts", "_sums", "_squares")

    def __init__(self, guard: Guard, clipped: Propose) -> None:
        self._guard, self._clipped = guard, clipped
        a, d = guard.targets.shape
        self._counts = np.zeros(a, dtype=np.int64)
        self._sums = np.zeros((d, a), dtype=np.int64)
        self._squares = np.zeros(a, dtype=np.int64)

    def fresh(self) -> Self:
        return type(self)(self._guard, self._clipped)

    @property
    def block_rows(self) -> int:
        return part_rows()

    def add(self, tile: Floats, rows: Rows) -> None:
        for start, stop in spans(tile.shape[1], part_rows()):
            self.add_rows(*self._clipped(tile[:, start:stop], rows.part(start, stop)))

    def add_rows(self, clipped: Floats, atoms: Integers) -> None:
        """Add clipped rows of known atoms."""
        kept, targets = atoms >= 0, self._guard.targets
        bits, size = self._guard.regions.space.bits, len(self._counts)
        self._counts += np.bincount(atoms[kept], minlength=size)
        fast = compiled_kernels(clipped.size)
        if fast is not None:
            units = 2.0**bits, 2.0 ** (bits - _SQUARE_BITS)
            fast.add_displacements(clipped, atoms, targets, *units, LARGEST_STEPS, self._sums, self._squares)
            return
        clipped, atoms = clipped[:, kept], atoms[kept]
        coarse = np.zeros(len(atoms))
        for index, column in enumerate(clipped - targets[atoms].T):
            # whole numbers below 2^35 in sum: exact in doubles
            self._sums[index] += np.bincount(atoms, weights=to_steps(column, bits), minlength=size).astype(np.int64)
            steps = to_steps(column, bits - _SQUARE_BITS)
            coarse += steps * steps
        self._squares += _counted_squares(atoms, coarse, size)

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


def _counted_squares(atoms: Integers, squares: Floats, size: int) -> Integers:
    """Return the sums of whole numbers below 2^53 of each atom, exactly: high and low parts by themselves."""
    high = np.floor(squares * 2.0**-26)
    low = squares - high * 2.0**26
    of = [np.bincount(atoms, weights=part, minlength=size).astype(np.int64) for part in (high, low)]
    return of[0] * (1 << 26) + of[1]


def guarded(
    regions: Regions, targets: Floats, counts: Integers, scatter: Floats, proposed: Floats, of: Integers
) -> Floats:
    """Return proposed rows of known atoms after all rounds of a guard of their own.

    Parameters
    ----------
    proposed : array of shape (d, n)
    of : array of shape (n,)
        Their atoms.
    """
    guard = Guard(regions, targets, counts, scatter)
    rows, done = proposed, None
    parts = [slice(*part) for part in spans(len(of), max(_TOGETHER, -(-len(of) // sharing_here())))]

    def clipped(rows: Floats, done: int | None) -> Floats:
        return np.concatenate(share(lambda part: guard.clipped(rows[:, part], of[part], done), parts), axis=1)

    for number in range(ROUNDS):
        rows = clipped(rows, done) if parts else rows
        seen, done = Displacement(guard, lambda tile, _: (tile, of)), number
        seen.add_rows(rows, of)
        guard.learn(seen)
    return guard.finished(rows, of, done)


@dataclass(frozen=True, repr=False)
class Mending(Hidden):
    """What stays the same while a table is mended.

    Attributes
    ----------
    settling : Settling
        Decimals of the columns.
    atoms : Atoms
    plain : Regions
        Of the named centres, with the bounds of the columns.
    targets : array of shape (a, d)
        Where the means of the atoms should be, in the space.
    original : array of shape (d, n)
        In the units of the table.
    of : array of shape (n,)
        The rows' atoms.
    fixed : array of shape (n,)
        Rows that are left as they are.
    kept : array of shape (a,)
        Atoms whose means are kept.
    """

    settling: Settling
    atoms: Atoms
    plain: Regions
    targets: Floats
    original: Floats
    of: Integers
    fixed: Flags
    kept: Flags

    def mend(self, released: Floats) -> tuple[Floats, Flags]:
        """Return a finished release with its rows in the regions of the centres that it has, and which rows are not.

        The best state that was seen is returned, if no round ends with all rows inside.

        Parameters
        ----------
        released : array of shape (d, n)
            In the units of the table.
        """
        out = released.copy()
        everyone = np.arange(len(self.of))
        best, fewest, outside, in_vain = out, len(self.of) + 1, ~self.fixed, 0
        for _ in range(_ROUNDS):
            regions = self._regions(out)
            self._balance(out, regions)
            regions = self._regions(out)
            depth = self._depth(out, regions, everyone)
            wrong = depth <= 0
            count = int(np.count_nonzero(wrong))
            in_vain = 0 if count < fewest else in_vain + 1
            if count < fewest:
                best, fewest, outside = out.copy(), count, wrong & ~self.fixed
            if count == 0 or in_vain == _PATIENCE:
                break
            rows = np.flatnonzero(wrong & ~self.fixed)
            held = replace(self.settling, regions=regions)
            reached = held.climb(out, rows, self.of, self.original, depth[rows])
            stuck = reached <= 0  # one column alone does not help: two at once may
            held.climb(out, rows[stuck], self.of, self.original, reached[stuck], columns=2)
        return best, outside

    def _regions(self, out: Floats) -> Regions:
        """Return the regions of the named centres and of those that the release has now."""
        means = self.atoms.means_of(self.settling.space.enter(out), self.of)
        return released_regions(self.atoms, means, self.plain)

    def _depth(self, tried: Floats, regions: Regions, rows: Integers) -> Floats:
        """Return how deep some rows stand in their regions; as they were is no place to be, unless they are fixed."""
        depth = regions.depth(self.settling.space.enter(tried), self.of[rows])
        depth[(tried == self.original[:, rows]).all(axis=0) & ~self.fixed[rows]] = -np.inf
        return depth

    def _balance(self, out: Floats, regions: Regions) -> None:
        """Let rows take a step of one column where their atom's sum is off by half a step or more; change `out`."""
        wanted = self.settling.space.leave(self.targets.T) * self.atoms.counts
        for column, places in enumerate(self.settling.decimals):
            if places is None:
                continue
            step = 10.0**-places
            sums = np.bincount(self.of, weights=out[column], minlength=len(self.atoms))
            missing = np.where(self.kept, np.rint((wanted[column] - sums) / step), 0.0).astype(np.int64)
            for sign in (-1, 1):
                self._step(out, regions, column, sign * step, places, np.maximum(sign * missing, 0))

    def _step(self, out: Floats, regions: Regions, column: int, step: float, places: int, missing: Integers) -> None:
        """Move the deepest rows of each atom by one step, as many as are missing and have room."""
        rows = np.flatnonzero((missing[self.of] > 0) & ~self.fixed)
        if len(rows) == 0:
            return
        low, high = self.original[column].min(), self.original[column].max()
        of, tried = self.of[rows], out[:, rows]
        tried[column] = np.rint((tried[column] + step) * 10.0**places) / 10.0**places
        depth = self._depth(tried, regions, rows)
        depth[(tried[column] < low) | (tried[column] > high)] = -np.inf
        order = np.lexsort((-depth, of))  # by atom, deepest first
        first = np.searchsorted(of[order], np.arange(len(missing)))
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order)) - first[of[order]]
        moves = (rank < missing[of]) & (depth > 0)
        out[column, rows[moves]] = tried[column, moves]
