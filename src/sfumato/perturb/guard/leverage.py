"""How far one person can draw an atom: rows far from the middle of their atom count as if they stood nearer.

Mean and scatter of an atom are those of its people, and a person who stands far out decides both: whoever has a
similar table could tell by them whether this person is in it. So a row counts at most at a few times the usual distance
from the middle of its atom, in its own direction. Middle and distance are medians, which one person cannot move far.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato._arrays import Flags, Floats, Integers
from sfumato.core.secret import Hidden
from sfumato.core.sharing import share

_FARTHEST = 3.5  # times the median distance from the middle of an atom
_FEWEST = 5  # rows of an atom that have a usual distance


@dataclass(frozen=True, repr=False)
class Leverage(Hidden):
    """Draws far rows nearer to the middle of their atoms.

    Attributes
    ----------
    middles : array of shape (a, d)
    farthest : array of shape (a,)
        In units of the space; infinite where nothing is known.
    """

    middles: Floats
    farthest: Floats

    @classmethod
    def of_sample(cls, inside: Floats, of: Integers, n_atoms: int) -> Leverage:
        """Return what a sample of the rows tells.

        Parameters
        ----------
        inside : array of shape (d, m)
        of : array of shape (m,)
            Their atoms.
        n_atoms : int
        """
        middles = np.stack(share(lambda column: _medians(column, of, n_atoms), list(inside)), axis=1)
        usual = _medians(_distances(inside - middles[of].T), of, n_atoms)
        few = np.bincount(of, minlength=n_atoms) < _FEWEST
        return cls(middles, np.where(few | (usual <= 0.0), np.inf, _FARTHEST * usual))

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


def _medians(values: Floats, of: Integers, n_atoms: int) -> Floats:
    """Return the lower median of the values of each atom; 0 for atoms without any."""
    order = np.lexsort((values, of))
    counts = np.bincount(of, minlength=n_atoms)
    at = np.cumsum(counts) - counts + np.maximum(counts - 1, 0) // 2
    medians: Floats = np.where(counts > 0, values[order[np.minimum(at, len(order) - 1)]], 0.0)
    return medians
