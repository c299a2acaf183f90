"""The last touch on a rounded release of a small table: single rows take single steps until means and regions hold.

Rounding moves the centres of clusters, centres move the walls, and rows that are put back behind a wall move the
centres again. Where columns have few values (yes and no), that goes round in circles when all rows are finished by one
rule. A small table can be looked at as a whole: some rows of each atom take a step so that its mean is right to half a
step, rows that are on the wrong side of a wall step back, the centres are taken anew, and so on.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sfumato._arrays import Flags, Floats, Integers
from sfumato.core.secret import Hidden
from sfumato.perturb.guard.atoms import Atoms
from sfumato.perturb.guard.placing import released_regions
from sfumato.perturb.guard.regions import Regions
from sfumato.perturb.guard.settle import Settling

MENDED_CELLS = 1 << 20  # rows x columns squared: each column's steps are tried on all rows
_ROUNDS, _PATIENCE = 12, 3  # at most, and in vain


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
