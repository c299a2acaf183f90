"""Fuzzy c-means: the iteration itself, without the estimator around it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sfumato.cluster.fixed_order import checked_centres, checked_rows, column_blocks, squared_distances
from sfumato.cluster.starting_centres import column_moments, random_rows, variance_partition
from sfumato.core.linear import fixed_order_sum
from sfumato.exceptions import ParameterError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


class FuzzyCentres(NamedTuple):
    """What `fuzzy_centres` found.

    Attributes
    ----------
    centres : array
        Centres, shape (k, d).
    n_iter : int
        Rounds made.
    converged : bool
        Whether the centres stopped moving before the rounds were used up.
    """

    centres: NDArray[np.float64]
    n_iter: int
    converged: bool


def _block_memberships(distances: NDArray[np.float64], fuzziness: float) -> NDArray[np.float64]:
    """Turn squared distances (k, b) into memberships (k, b) whose columns add up to one."""
    smallest = np.minimum.reduce(distances, axis=0)
    on_centre = smallest == 0.0
    # Ratios to the nearest centre lie in [0, 1]: neither 1/0 nor overflow can occur.
    ratios: NDArray[np.float64] = smallest / np.where(distances == 0.0, 1.0, distances)
    if fuzziness != 2.0:
        # The only step that leaves the four operations: libm's pow may differ in the last bit between machines.
        ratios = np.power(ratios, 1.0 / (fuzziness - 1.0))
    ratios = np.where(on_centre, distances == 0.0, ratios)
    total = ratios[0].copy()
    for row in ratios[1:]:
        total += row
    memberships: NDArray[np.float64] = ratios / total
    return memberships


def _next_centres(
    X: NDArray[np.float64], centres: NDArray[np.float64], fuzziness: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the weighted sums (k, d) and the weights (k,) of one round."""
    sums = np.zeros_like(centres)
    weights = np.zeros(len(centres))
    for _, _, columns in column_blocks(X):
        membership = _block_memberships(squared_distances(columns, centres), fuzziness)
        weight = membership * membership if fuzziness == 2.0 else np.power(membership, fuzziness)
        weights += fixed_order_sum(weight)
        for index, column in enumerate(columns):
            sums[:, index] += fixed_order_sum(weight * column)
    return sums, weights


def _check(k: int, n: int, fuzziness: float, max_iter: int, tol: float) -> None:
    if not (isinstance(k, int | np.integer) and k >= 1):
        raise ParameterError(f"the number of clusters must be a whole number of at least 1, got {k!r}")
    if k > n:
        raise ParameterError(
            f"{k} clusters need at least {k} rows, got n_samples = {n}",
            hint="ask for fewer clusters or bring more rows",
        )
    if not (math.isfinite(fuzziness) and fuzziness > 1.0):
        raise ParameterError(f"fuzziness must be a finite number above 1, got {fuzziness!r}", hint="2 is customary")
    if not (isinstance(max_iter, int | np.integer) and max_iter >= 1):
        raise ParameterError(f"max_iter must be a whole number of at least 1, got {max_iter!r}")
    if not (math.isfinite(tol) and tol >= 0.0):
        raise ParameterError(f"tol must be a finite number of at least 0, got {tol!r}")


def fuzzy_centres(
    X: ArrayLike,
    k: int,
    *,
    fuzziness: float = 2.0,
    max_iter: int = 300,
    tol: float = 1e-6,
    init: ArrayLike | str | None = None,
    random_state: np.random.RandomState | int = 0,
) -> FuzzyCentres:
    """Find the centres of fuzzy c-means, with the same bits on every machine when fuzziness is 2.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Rows.
    k : int
        Number of clusters, at most n.
    fuzziness : float
        The exponent m > 1. Other values than 2 need `numpy.power`, whose last bits may vary between machines.
        Default: 2.0. Default: 2.0.
    max_iter : int
        Most rounds to make. Default: 300.
    tol : float
        Stop when no coordinate of a centre moved by more than `tol` times the root mean variance of the columns.
        Default: 1e-06.
    init : array-like of shape (k, d), 'random' or None
        Starting centres. None: `variance_partition`, without chance; 'random': rows drawn by `random_state`.
    random_state : RandomState or int
        Used with `init='random'` only. Default: 0.

    Returns
    -------
    FuzzyCentres
        Named tuple (centres, n_iter, converged).

    Examples
    --------
    >>> found = fuzzy_centres([[0.0], [0.2], [9.8], [10.0]], 2)
    >>> found.centres.round(1).tolist(), found.converged
    ([[0.1], [9.9]], True)
    """
    rows = checked_rows(X)
    _check(k, len(rows), fuzziness, max_iter, tol)
    if init is None:
        centres = variance_partition(rows, k)
    elif isinstance(init, str):
        if init != "random":
            raise ParameterError(f"init must be None, 'random' or an array of shape ({k}, d), got {init!r}")
        state = np.random.RandomState(random_state) if isinstance(random_state, int) else random_state
        centres = random_rows(rows, k, state)
    else:
        centres = checked_centres(init, rows.shape[1], name="init").copy()
        if len(centres) != k:
            raise ParameterError(f"init holds {len(centres)} centres, {k} clusters were asked for")
    _, deviations = column_moments(rows)
    limit = tol * math.sqrt(float(fixed_order_sum(deviations)) / rows.size)
    converged, n_iter = False, 0
    while n_iter < max_iter and not converged:
        n_iter += 1
        sums, weights = _next_centres(rows, centres, fuzziness)
        # A centre may lose all weight when the rows lie on the others: it stays where it is.
        alive = weights > 0.0
        moved = np.where(alive[:, None], sums / np.where(alive, weights, 1.0)[:, None], centres)
        converged = bool(np.abs(moved - centres).max() <= limit)
        centres = moved
    return FuzzyCentres(centres, n_iter, converged)


def fuzzy_memberships(X: ArrayLike, centres: ArrayLike, *, fuzziness: float = 2.0) -> NDArray[np.float64]:
    """Return how much every row belongs to every centre.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Rows.
    centres : array-like of shape (k, d)
        Centres.
    fuzziness : float
        The exponent m > 1. Default: 2.0.

    Returns
    -------
    ndarray of shape (n, k)
        Each row adds up to one. A row that lies on a centre belongs to it alone, or equally to all that lie there.

    Examples
    --------
    >>> fuzzy_memberships([[0.0], [1.0], [2.0]], [[0.0], [3.0]])
    array([[1. , 0. ],
           [0.8, 0.2],
           [0.2, 0.8]])
    """
    rows = checked_rows(X)
    fixed = checked_centres(centres, rows.shape[1])
    _check(1, 1, fuzziness, 1, 0.0)
    memberships = np.empty((len(rows), len(fixed)))
    for start, stop, columns in column_blocks(rows):
        memberships[start:stop] = _block_memberships(squared_distances(columns, fixed), fuzziness).T
    return memberships
