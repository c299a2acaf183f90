"""How far one person can draw an atom: rows far from the middle of their atom count as if they stood nearer.

Mean and scatter of an atom are those of its people, and a person who stands far out decides both: whoever has a
similar table could tell by them whether this person is in it. So a row counts at most a little beyond the usual
distance from the middle of its atom, in its own direction. Middle and distance are medians, which one person cannot
move far.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from sfumato._arrays import Flags, Floats, Integers
from sfumato.core.linear import sum_in_order
from sfumato.core.secret import Hidden
from sfumato.core.sharing import share

FARTHEST = 1.25  # times the median distance from the middle of an atom
_BELIEVED = 3.5  # the same, up to which rows are part of the usual scatter
_FEWEST = 5  # rows of an atom that have a usual distance


@dataclass(frozen=True, repr=False)
class Leverage(Hidden):
    """Draws far rows nearer to the middle of their atoms.

    Attributes
    ----------
    middles : array of shape (a, d)
    farthest : array of shape (a,)
        In units of the space; infinite where nothing is known.
    shrinks : float
        Share of the deviation inside atoms that is left, in the whole table: nobody moves it far, so that all atoms
        can be widened by it.
    """

    middles: Floats
    farthest: Floats
    shrinks: float = 1.0

    @classmethod
    def of_sample(cls, inside: Floats, of: Integers, n_atoms: int, farthest: float = FARTHEST) -> Leverage:
        """Return what a sample of the rows tells.

        Parameters
        ----------
        inside : array of shape (d, m)
        of : array of shape (m,)
            Their atoms.
        n_atoms : int
        farthest : float
            How far a row may be, in times the median distance.
        """
        middles = np.stack(share(lambda column: medians(column, of, n_atoms), list(inside)), axis=1)
        distances = _distances(inside - middles[of].T)
        usual = medians(distances, of, n_atoms)
        few = np.bincount(of, minlength=n_atoms) < _FEWEST
        limits = np.where(few | (usual <= 0.0), np.inf, usual)[of]
        counted, real = (
            float(sum_in_order(np.minimum(distances, times * limits) ** 2)) for times in (farthest, _BELIEVED)
        )
        shrinks = sqrt(counted / real) if counted > 0.0 else 1.0
        return cls(middles, np.where(few | (usual <= 0.0), np.inf, farthest * usual), shrinks)

    def far(self, inside: Floats, of: Integers) -> Flags:
        """Return which rows of atoms are too far out."""
        far: Flags = _distances(inside - self.middles[of].T) > self.farthest[of]
        return far

    def clip(self, inside: Floats, of: Integers) -> Floats:
        """Return rows of atoms, those that are too far out drawn nearer; shape (d, n)."""
        middles, farthest = self.middles[of].T, self.farthest[of]
        away = inside - middles
        distance = _distances(away)
        far = np.flatnonzero(distance > farthest)
        out = inside.copy()
        out[:, far] = middles[:, far] + away[:, far] * (farthest[far] / distance[far])
        return out


def _distances(away: Floats) -> Floats:
    total = np.zeros(away.shape[1])
    for column in away:  # in a fixed order
        total += column * column
    return np.sqrt(total)


def medians(values: Floats, of: Integers, n_atoms: int) -> Floats:
    """Return the lower median of the values of each atom; 0 for atoms without any."""
    order = np.lexsort((values, of))
    counts = np.bincount(of, minlength=n_atoms)
    at = np.cumsum(counts) - counts + np.maximum(counts - 1, 0) // 2
    medians: Floats = np.where(counts > 0, values[order[np.minimum(at, len(order) - 1)]], 0.0)
    return medians
