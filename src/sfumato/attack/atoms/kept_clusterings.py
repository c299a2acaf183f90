"""What the referee knows about the named clusterings of an original: centres, and the moments of the atoms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sfumato.attack.atoms.regions import Clusterings, atoms_of, clusterings_of, name_clusterings
from sfumato.attack.engine.blocks import WIDE_ATOM, blocks_of
from sfumato.attack.engine.knowledge import FloatArray, IntArray

#: numbers in the covariances that are kept: 80 MB
MOST_NUMBERS = 10_000_000


@dataclass(frozen=True, eq=False)
class AtomMoments:
    """Moments of the originals of every atom, in the space in which the clusterings were named.

    Parameters
    ----------
    codes : array of shape (a, number of clusterings)
        Labels of every atom, the largest first.
    sizes : array of shape (a,)
    means : array of shape (a, d)
    covariances : tuple of arrays of shape (b, w, w), b <= a
        Of the columns of each block. With divisor n; of the b largest atoms, as many as fit into some memory. Small
        atoms have singular ones.
    pooled : tuple of arrays of shape (w, w)
        The mean of all atoms' covariances, each row counting the same.
    """

    codes: IntArray
    sizes: IntArray
    means: FloatArray
    covariances: tuple[FloatArray, ...]
    pooled: tuple[FloatArray, ...]


def within_covariances(
    points: FloatArray, of_row: IntArray, means: FloatArray, most: int
) -> tuple[FloatArray, FloatArray]:
    """Return the covariances of the first atoms, divisor n, and the mean over the rows of all of them.

    Parameters
    ----------
    points : array of shape (n, d)
    of_row : array of shape (n,)
        Atom of every row.
    means : array of shape (a, d)
    most : int
        How many covariances are kept.

    Returns
    -------
    arrays of shape (at most `most`, d, d) and (d, d)

    Examples
    --------
    >>> points = np.array([[0.0], [2.0], [5.0]])
    >>> first, pooled = within_covariances(points, np.array([0, 0, 1]), np.array([[1.0], [5.0]]), 1)
    >>> first.ravel().tolist(), round(float(pooled[0, 0]), 3)
    ([1.0], 0.667)
    """
    order = np.argsort(of_row, kind="stable")
    ends = np.cumsum(np.bincount(of_row, minlength=len(means)))
    d = points.shape[1]
    found, total = np.empty((min(most, len(means)), d, d)), np.zeros((d, d))
    for atom, rows in enumerate(np.split(order, ends[:-1])):
        centred = points[rows] - means[atom]
        scatter = centred.T @ centred
        total += scatter
        if atom < len(found):
            found[atom] = scatter / len(rows)
    return found, total / len(points)


class Named:
    """The named clusterings of one original, computed when an attack asks for them.

    Parameters
    ----------
    truth : array of shape (n, d)
        The original, rows in the order of the release.
    labels : array of shape (n, number of clusterings), or None
        Published labels; None clusters the original by k-means.
    scaling : str
        The space of the published labels.
    clusters : sequence of int
        Numbers of clusters, where no labels are published.
    """

    def __init__(
        self, truth: FloatArray, labels: IntArray | None, scaling: str, seed: int, clusters: Sequence[int]
    ) -> None:
        self._clusters = tuple(clusters)
        self._truth = truth
        self._labels = labels
        self._scaling = scaling
        self._seed = seed

    @cached_property
    def clusterings(self) -> Clusterings:
        """Centres of the clusterings, read-only."""
        if self._labels is not None:
            found = clusterings_of(self._truth, self._labels, self._scaling)
        else:
            found = name_clusterings(self._truth, seed=self._seed, clusters=self._clusters)
        for array in (found.shift, found.scale, *found.centres):
            array.setflags(write=False)
        return found

    @cached_property
    def atom_moments(self) -> AtomMoments:
        """Moments of the atoms, read-only."""
        atoms = atoms_of(self.clusterings.codes(self._truth) if self._labels is None else self._labels)
        points = self.clusterings.place(self._truth)
        order = np.argsort(-atoms.sizes, kind="stable")
        place = np.argsort(order)
        means = atoms.means(points)[order]
        blocks = blocks_of(points.shape[1], WIDE_ATOM)
        most = max(1, MOST_NUMBERS // sum((block.stop - block.start) ** 2 for block in blocks))
        found = [within_covariances(points[:, block], place[atoms.of_row], means[:, block], most) for block in blocks]
        covariances, pooled = tuple(one for one, _ in found), tuple(one for _, one in found)
        codes, sizes = atoms.codes[order], atoms.sizes[order]
        for array in (codes, sizes, means, *covariances, *pooled):
            array.setflags(write=False)
        return AtomMoments(codes, sizes, means, covariances, pooled)
