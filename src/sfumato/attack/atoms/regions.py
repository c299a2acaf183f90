"""Atoms: rows that share the labels of all named clusterings, and the halfspaces between the named centres."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sfumato.core.numbers import label_codes
from sfumato.exceptions import DataError, ParameterError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from sfumato.attack.engine.interface import Deadline

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

#: the numbers of clusters that are looked at when nothing is known of those that a release keeps
CLUSTERS = tuple(range(2, 9))
LADDER = "ladder"  # what a release says that keeps k-means with every number of clusters
_RUNGS = (2, 3, 5, 8, 12, 18)  # of it; they cut a table about as finely as a release that keeps all of them
_FEW_ROWS, _FEW_CLUSTERS, _MOST_CLUSTERS = 2000, 12, 20  # the ladder of a small table ends earlier
_CHUNK = 65_536
_ROWS = 10_000


@dataclass(frozen=True, eq=False)
class Clusterings:
    """Centres of the named clusterings, in the space in which they were named.

    Parameters
    ----------
    shift, scale : arrays of shape (d,)
        A row x stands at (x - shift) / scale.
    centres : tuple of arrays of shape (k, d)
        One array for each clustering.
    """

    shift: FloatArray
    scale: FloatArray
    centres: tuple[FloatArray, ...]

    def place(self, rows: FloatArray) -> FloatArray:
        """Return where rows stand, shape (n, d)."""
        return (rows - self.shift) / self.scale

    def codes(self, rows: FloatArray) -> IntArray:
        """Return the nearest centre of every clustering, shape (n, number of clusterings)."""
        found = np.empty((len(rows), len(self.centres)), dtype=np.int64)
        for begin in range(0, len(rows), _CHUNK):
            part = self.place(rows[begin : begin + _CHUNK])
            for column, centres in enumerate(self.centres):
                # |p - c|^2 without |p|^2, which is the same for all centres
                distance = (centres**2).sum(axis=1) - 2 * part @ centres.T
                found[begin : begin + _CHUNK, column] = distance.argmin(axis=1)
        return found

    def slacks(self, points: FloatArray, code: IntArray) -> FloatArray:
        """Return how far points lie inside the cell of a code: one column for each halfspace, negative outside.

        Parameters
        ----------
        points : array of shape (n, d)
            Of `place`.
        code : array of shape (number of clusterings,)
            The cell's own centre in each clustering.

        Returns
        -------
        array of shape (n, sum of k - 1)
        """
        columns = []
        for centres, own in zip(self.centres, code, strict=True):
            others = np.delete(centres, own, axis=0)
            offset = ((others**2).sum(axis=1) - (centres[own] ** 2).sum()) / 2
            columns.append(offset - points @ (others - centres[own]).T)
        return np.hstack(columns)


@dataclass(frozen=True, eq=False)
class Atoms:
    """The atoms of a table.

    Parameters
    ----------
    of_row : array of shape (n,)
        Atom of every row, numbered from 0.
    codes : array of shape (a, number of clusterings)
        Labels of every atom.
    sizes : array of shape (a,)
        Rows of every atom.
    """

    of_row: IntArray
    codes: IntArray
    sizes: IntArray

    def find(self, codes: IntArray) -> IntArray:
        """Return the atom of every code, -1 where no row has it; shape (m,)."""
        known = {code.tobytes(): atom for atom, code in enumerate(np.ascontiguousarray(self.codes))}
        asked = np.ascontiguousarray(codes, dtype=np.int64)
        return np.array([known.get(code.tobytes(), -1) for code in asked], dtype=np.int64)

    def means(self, rows: FloatArray) -> FloatArray:
        """Return the mean row of every atom, shape (a, d)."""
        sums = np.zeros((len(self.sizes), rows.shape[1]))
        np.add.at(sums, self.of_row, rows)
        return sums / self.sizes[:, None]


def atoms_of(labels: IntArray) -> Atoms:
    """Return the common refinement of several labellings.

    Parameters
    ----------
    labels : array of shape (n, number of clusterings)

    Examples
    --------
    >>> found = atoms_of(np.array([[0, 1], [0, 1], [1, 1]]))
    >>> found.of_row.tolist(), found.sizes.tolist()
    ([0, 0, 1], [2, 1])
    """
    number = np.zeros(len(labels), dtype=np.int64)
    for column in labels.T:  # one number for each code, renumbered so that it stays small: faster than sorting rows
        number = np.unique(number * (int(column.max()) + 1) + column, return_inverse=True)[1].reshape(-1)
    _, first, sizes = np.unique(number, return_index=True, return_counts=True)
    return Atoms(number.astype(np.int64), labels[first].astype(np.int64), sizes.astype(np.int64))


def label_table(labels: Mapping[int, ArrayLike] | ArrayLike, n_rows: int) -> IntArray:
    """Return labels of several clusterings as one table of numbers from 0.

    Parameters
    ----------
    labels : mapping of k to labels of shape (n,), or array of shape (n, number of clusterings)

    Returns
    -------
    array of shape (n, number of clusterings)

    Examples
    --------
    >>> label_table({2: [5, 5, 7]}, 3).tolist()
    [[0], [0], [1]]
    """
    listed = [labels[k] for k in sorted(labels)] if isinstance(labels, Mapping) else np.asanyarray(labels).T
    columns = [np.atleast_1d(one) for one in listed]
    if not columns or any(column.shape != (n_rows,) for column in columns):
        raise DataError(f"labels must hold one label for each of the {n_rows} rows and every clustering")
    return np.column_stack([label_codes(column, "labels") for column in columns]).astype(np.int64)


def clusterings_of(table: FloatArray, labels: IntArray, scaling: str = "std") -> Clusterings:
    """Return the centres of labelled rows.

    Parameters
    ----------
    table : array of shape (n, d)
    labels : array of shape (n, number of clusterings)
        Of `label_table`.
    scaling : {"std", "range", "none"}
        The space in which they were clustered.

    Examples
    --------
    >>> table = np.array([[0.0], [2.0], [10.0]])
    >>> clusterings_of(table, np.array([[0], [0], [1]]), "none").centres[0].tolist()
    [[1.0], [10.0]]
    """
    shift, scale = _space(table, scaling)
    centres = []
    for column in labels.T:
        sums = np.zeros((int(column.max()) + 1, table.shape[1]))
        np.add.at(sums, column, table)
        centres.append((sums / np.bincount(column)[:, None] - shift) / scale)
    return Clusterings(shift, scale, tuple(centres))


def clusters_of(parameters: Mapping[str, object], n_rows: int) -> tuple[int, ...]:
    """Return the numbers of clusters of a release: those of the public parameter `clusterings`, or 2 to 8.

    Examples
    --------
    >>> clusters_of({"clusterings": [2, 4]}, 500), clusters_of({"clusterings": "ladder"}, 500)
    ((2, 4), (2, 3, 5, 8, 12))
    """
    named = parameters.get("clusterings")
    if isinstance(named, list | tuple | range) and LADDER not in named:
        return tuple(k for k in named if isinstance(k, int)) or CLUSTERS
    if named is None:
        return CLUSTERS
    return _RUNGS if n_rows >= _FEW_ROWS else tuple(k for k in _RUNGS if k <= _FEW_CLUSTERS)


def every_rung(n_rows: int) -> range:
    """Return all numbers of clusters that the ladder of a table has."""
    return range(2, (_MOST_CLUSTERS if n_rows >= _FEW_ROWS else _FEW_CLUSTERS) + 1)


def name_clusterings(
    table: FloatArray, *, seed: int, clusters: Sequence[int] = CLUSTERS, deadline: Deadline | None = None
) -> Clusterings:
    """Return k-means centres of a table in standard deviations, for every number of clusters that it has rows for.

    Parameters
    ----------
    table : array of shape (n, d)
        Finite; more than 10,000 rows are sampled.
    deadline : Deadline, optional
        Checked between clusterings.

    Returns
    -------
    Clusterings
        None at all for a table of one distinct row.

    Examples
    --------
    >>> table = np.repeat([[0.0], [1.0], [9.0]], 4, axis=0)
    >>> [len(centres) for centres in name_clusterings(table, seed=0).centres]
    [2, 3]
    """
    shift, scale = _space(table, "std")
    draw = np.random.default_rng([seed % 2**31, 31])
    few = table if len(table) <= _ROWS else table[np.sort(draw.choice(len(table), _ROWS, replace=False))]
    points = (few - shift) / scale
    # several attacks ask for the same clusterings, and so do several audits of one table
    asked = (hashlib.blake2b(points.tobytes()).digest(), points.shape, seed, tuple(clusters))
    centres = _found.get(asked)
    if centres is None:
        centres = _fitted_centres(points, seed, clusters, deadline)
        if len(_found) >= _MOST_KNOWN:
            _found.clear()
        _found[asked] = centres
    return Clusterings(shift, scale, centres)


_MOST_KNOWN = 8
_found: dict[tuple[Any, ...], tuple[FloatArray, ...]] = {}


def _fitted_centres(
    points: FloatArray, seed: int, clusters: Sequence[int], deadline: Deadline | None
) -> tuple[FloatArray, ...]:
    from sklearn.cluster import KMeans
    from threadpoolctl import threadpool_limits

    distinct = len(np.unique(points, axis=0))
    starts = 10 if len(points) <= 2_000 else 3
    centres = []
    with threadpool_limits(limits=1):  # the points are few: threads would wait for each other
        for k in clusters:
            if 2 <= k <= distinct:
                if deadline is not None:
                    deadline.check(starts * k * points.size)
                fitted = KMeans(k, n_init=starts, tol=0.0, random_state=seed % 2**31).fit(points)
                centres.append(np.asarray(fitted.cluster_centers_, dtype=np.float64))
                centres[-1].setflags(write=False)
    return tuple(centres)


def _space(table: FloatArray, scaling: str) -> tuple[FloatArray, FloatArray]:
    if scaling == "none":
        return np.zeros(table.shape[1]), np.ones(table.shape[1])
    if scaling not in {"std", "range"}:
        raise ParameterError(f"scaling must be 'std', 'range' or 'none', got {scaling!r}")
    shift = table.mean(axis=0) if scaling == "std" else table.min(axis=0)
    width = table.std(axis=0) if scaling == "std" else np.ptp(table, axis=0)
    # the deviation of equal values may be 1e-17, that of huge values infinite
    usable = np.isfinite(width) & (np.ptp(table, axis=0) > 0) & (width > 0)
    return shift, np.where(usable, width, 1.0)
