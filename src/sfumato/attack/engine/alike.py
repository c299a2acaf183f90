"""The people most like somebody: what a release tells of them as well, it tells of a kind of people, not of one."""

from __future__ import annotations

import numpy as np

from sfumato.attack.engine.knowledge import FloatArray, IntArray

PEOPLE = 10  # as many as the smallest cluster that a release keeps
_AMONG = 20_000  # people among whom they are sought
_CELLS = 4_000_000


class Alike:
    """The ten people nearest to each row of a table, found when they are asked for.

    Parameters
    ----------
    points : array of shape (n, p)
        Rows in a space in which distances mean likeness.
    seed : int
        Draws the people among whom they are sought, where there are many.

    Examples
    --------
    >>> alike = Alike(np.arange(50.0)[:, None], seed=0)
    >>> sorted(alike.of(np.array([20]))[0].tolist())
    [15, 16, 17, 18, 19, 21, 22, 23, 24, 25]
    """

    def __init__(self, points: FloatArray, seed: int) -> None:
        self._points = points
        self._among = np.sort(np.random.default_rng([seed, 71]).permutation(len(points))[:_AMONG])
        self._found = np.full((len(points), min(PEOPLE, len(self._among) - 1)), -1, dtype=np.int64)

    def of(self, rows: IntArray) -> IntArray:
        """Return the people most like those of some rows.

        Parameters
        ----------
        rows : array of shape (r,)
            Row numbers.
        """
        missing = rows[self._found[rows, 0] < 0]
        others = self._points[self._among]
        lengths = (others**2).sum(axis=1)
        many = self._found.shape[1]
        for begin in range(0, len(missing), size := max(1, _CELLS // len(others))):
            part = missing[begin : begin + size]
            apart = lengths - 2 * self._points[part] @ others.T
            apart[part[:, None] == self._among] = np.inf
            # rounding keeps the last bits of products out of the choice
            nearest = np.argpartition(np.round(apart, 9), many - 1, axis=1)[:, :many]
            self._found[part] = self._among[np.sort(nearest, axis=1)]
        found: IntArray = self._found[rows]
        return found
