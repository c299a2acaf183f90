"""How far one person can draw an atom: rows far from the middle of their atom count less, the farthest not at all.

Mean and scatter of an atom are those of its people, and a person who stands far out decides both: whoever has a
similar table could tell by them whether this person is in it. So a row counts as it is up to a little beyond the usual
distance from the middle of its atom; farther out the less, the farther, as if it stood nearer in its own direction;
and from some distance on as if it stood in the middle, so that nothing tells its direction. Middle and distance are
medians, which one person cannot move far.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt

import numpy as np

from sfumato._arrays import Flags, Floats, Integers
from sfumato.core.fast import compiled_kernels
from sfumato.core.linear import sum_in_order
from sfumato.core.secret import Hidden
from sfumato.core.sharing import share

FARTHEST, NOTHING = 1.25, 1.75  # times the median distance: rows count as they are up to here, and not from there on
_BELIEVED = 3.5  # the same, up to which rows are part of the usual scatter
_FEWEST = 5  # rows of an atom that have a usual distance


@dataclass(frozen=True, repr=False)
class Leverage(Hidden):
    """Draws far rows nearer to the middle of their atoms.

    Attributes
    ----------
    middles : array of shape (a, d)
    farthest : array of shape (a,)
        How far rows count as they are, in units of the space; infinite where nothing is known.
    nothing : float
        Times that distance from which rows count nothing. Infinite: all farther rows count as if they stood there.
        Default: infinite.
    shrinks : float
        Share of the deviation inside atoms that is left, in the whole table: nobody moves it far, so that all atoms
        can be widened by it.
    lost : array of shape (d,)
        Variance of each column that is lost by it.
    """

    middles: Floats
    farthest: Floats
    nothing: float = np.inf
    shrinks: float = 1.0
    lost: Floats | None = None

    @classmethod
    def of_sample(
        cls, inside: Floats, of: Integers, n_atoms: int, farthest: float = FARTHEST, nothing: float = np.inf
    ) -> Leverage:
        """Return what a sample of the rows tells.

        Parameters
        ----------
        inside : array of shape (d, m)
        of : array of shape (m,)
            Their atoms.
        n_atoms : int
        farthest : float
            How far a row may be and count as it is, in times the median distance.
        nothing : float
            From where on a row counts nothing, in the same. Default: nowhere.
        """
        middles = np.stack(share(lambda column: medians(column, of, n_atoms), list(inside)), axis=1)
        distances = _distances(inside - middles[of].T)
        usual = medians(distances, of, n_atoms)
        few = np.bincount(of, minlength=n_atoms) < _FEWEST
        limits = np.where(few | (usual <= 0.0), np.inf, usual)
        own = cls(middles, farthest * limits, nothing / farthest)
        counted, believed = own._counted(distances, of) ** 2, np.minimum(distances, _BELIEVED * limits[of]) ** 2
        left, real = float(sum_in_order(counted)), float(sum_in_order(believed))
        squares = (inside - middles[of].T) ** 2
        shares = np.divide(believed - counted, distances**2, out=np.zeros(len(of)), where=distances > 0.0)
        return replace(
            own, shrinks=sqrt(left / real) if left > 0.0 else 1.0, lost=sum_in_order(squares * shares) / len(of)
        )

    @property
    def vanishes(self) -> bool:
        """Whether the farthest rows count nothing."""
        return bool(np.isfinite(self.nothing))

    def far(self, inside: Floats, of: Integers) -> Flags:
        """Return which rows of atoms are too far out."""
        far: Flags = _distances(inside - self.middles[of].T) > self.farthest[of]
        return far

    def clip(self, inside: Floats, of: Integers) -> Floats:
        """Return rows of atoms, those that are too far out drawn nearer; shape (d, n)."""
        fast = compiled_kernels(inside.size)
        if fast is not None:
            nearer = np.empty(inside.shape)
            fast.draw_nearer(np.ascontiguousarray(inside), of, self.middles, self.farthest, self.nothing, nearer)
            return nearer
        middles = self.middles[of].T
        away = inside - middles
        distance = _distances(away)
        far = np.flatnonzero(distance > self.farthest[of])
        out = inside.copy()
        out[:, far] = middles[:, far] + away[:, far] * (self._counted(distance[far], of[far]) / distance[far])
        return out

    def _counted(self, distance: Floats, of: Integers) -> Floats:
        """Return how far from the middle of their atoms rows count that are so far from it."""
        farthest = self.farthest[of]
        if not self.vanishes:
            return np.minimum(distance, farthest)
        with np.errstate(invalid="ignore"):  # where nothing is known, everything counts
            left = np.clip((self.nothing * farthest - distance) / (self.nothing - 1.0), 0.0, farthest)
        return np.where(distance > farthest, left, distance)


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
