"""A curve for each column: whatever function of one direction of the release an original column is, known rows draw it.

A function of the cells of a column, or a function of each column and then a linear map, leaves every original column a
function of one direction of the released rows. Which direction that is, known rows tell: of all functions of the column
and all directions, the two that go together best (canonical correlation). A cipher of intervals, a wave or a saw are
functions of a released column itself.
"""

from __future__ import annotations

import numpy as np

from sfumato.attack.catalogue import entry
from sfumato.attack.engine.decimals import snap
from sfumato.attack.engine.interface import Attack, Deadline, NothingFoundError, needs_known_rows
from sfumato.attack.engine.knowledge import FloatArray, Guess, Knowledge, guess_values
from sfumato.attack.engine.transforms import own_scale

_KNOTS = 8  # of the functions of a column
_RIDGE = 1e-8
_FEWEST = 24  # known rows, without which a curve cannot be told from chance
_WIDE = 40  # released columns beyond which only the column of the same place is looked at
_TOLD = 0.5  # share of the variance that a curve may leave


def _hats(column: FloatArray) -> FloatArray:
    """Return functions of a column that bend at its quantiles, centred."""
    knots = np.unique(np.quantile(column, np.linspace(0, 1, _KNOTS)))
    if len(knots) < 2:
        return np.zeros((len(column), 1))
    hats = np.column_stack([np.interp(column, knots, np.eye(len(knots))[i]) for i in range(len(knots) - 1)])
    return np.asarray(hats - hats.mean(axis=0))


def direction_of(points: FloatArray, column: FloatArray) -> FloatArray:
    """Return the direction of released rows that goes together best with some function of an original column.

    Parameters
    ----------
    points : array of shape (m, e)
        Known rows of the release, scaled.
    column : array of shape (m,)
        Their originals.

    Examples
    --------
    >>> draw = np.random.default_rng(0)
    >>> table = draw.normal(size=(80, 2))
    >>> found = direction_of(np.column_stack([table[:, 0] ** 3 + table[:, 1], table[:, 1]]), table[:, 0])
    >>> bool(abs(found[0] + found[1]) < 0.2 * abs(found[0]))
    True
    """
    centred, hats = points - points.mean(axis=0), _hats(column)

    def damped(table: FloatArray) -> FloatArray:
        gram = table.T @ table
        return np.asarray(gram + _RIDGE * (1.0 + np.trace(gram)) * np.eye(len(gram)))

    weights = np.linalg.solve(damped(centred), centred.T @ hats)
    both = np.linalg.solve(damped(hats), hats.T @ centred @ weights)
    values, vectors = np.linalg.eig(both)
    return np.asarray(weights @ np.real(vectors[:, np.real(values).argmax()]))


def left_by_neighbours(index: FloatArray, column: FloatArray) -> float:
    """Return the share of a column's variance that is left when everybody is guessed by who stands on both sides.

    Parameters
    ----------
    index : array of shape (m,)
        Where each known row stands.
    column : array of shape (m,)
        What it holds.

    Examples
    --------
    >>> left_by_neighbours(np.arange(9.0), np.arange(9.0)) < 0.1
    True
    """
    order = np.argsort(index, kind="stable")
    u, x = index[order], column[order]
    span = u[2:] - u[:-2]
    share = np.where(span > 0, (u[1:-1] - u[:-2]) / np.where(span > 0, span, 1.0), 0.5)
    guess = x[:-2] + share * (x[2:] - x[:-2])
    return float(((x[1:-1] - guess) ** 2).mean() / max(float(column.var()), 1e-300))


def drawn_curve(index: FloatArray, known: FloatArray, column: FloatArray) -> FloatArray:
    """Return what the curve through known rows says at some places.

    Parameters
    ----------
    index : array of shape (p,)
        The places.
    known, column : arrays of shape (m,)
        Where known rows stand, and what they hold; those at one place count with their mean.
    """
    different, place, counts = np.unique(known, return_inverse=True, return_counts=True)
    means = np.bincount(place.reshape(-1), column) / counts
    return np.asarray(np.interp(index, different, means))


class Curves(Attack):
    """Draw a curve for each original column, against the released column or direction that known rows agree with.

    Examples
    --------
    >>> from sfumato.attack import run_attack
    >>> draw = np.random.default_rng(0)
    >>> table = draw.normal(size=(2000, 2))
    >>> turned = np.column_stack([np.exp(table[:, 0]), table[:, 1] ** 3]) @ [[0.6, -0.8], [0.8, 0.6]]
    >>> run_attack(Curves(), table, turned).rate > 0.8
    True
    """

    entry = entry("curves")

    def objection(self, knowledge: Knowledge) -> str | None:
        """Return a reason when too few people are known to draw anything."""
        return needs_known_rows(knowledge, _FEWEST)

    def run(self, knowledge: Knowledge, deadline: Deadline) -> Guess:
        """Return what the curves say; nothing for columns of which none can be drawn."""
        assert knowledge.pairs is not None
        rows, values = knowledge.pairs.rows, knowledge.pairs.values
        points = own_scale(knowledge.released)
        guess = np.full((knowledge.targets.size, knowledge.n_columns), np.nan)
        drawn = 0
        for j, column in enumerate(values.T):
            deadline.check(len(points))
            found = self._best_index(points, rows, column, j)
            if found is not None:
                guess[:, j] = drawn_curve(found[knowledge.targets], found[rows], column)
                drawn += 1
        if not drawn:
            raise NothingFoundError("no column is a curve of the release")
        note = f"{drawn} of {knowledge.n_columns} columns are a curve of the release"
        return guess_values(snap(guess, knowledge.decimals), note=note)

    def _best_index(self, points: FloatArray, rows: np.ndarray, column: FloatArray, j: int) -> FloatArray | None:
        """Return where all rows stand on the curve that leaves least of a column; None if all leave too much."""
        m, e = len(rows), points.shape[1]
        if column.min() == column.max():
            return None
        looked_at = range(e) if e <= _WIDE else [j] if j < e else []
        tried = [(left_by_neighbours(points[rows, k], column), points[:, k]) for k in looked_at]
        if m >= 2 * (2 * e + _KNOTS):
            # the direction is found on one half and tried on the other, lest it be made for those it is tried on
            first, second = rows[::2], rows[1::2]
            told = points[second] @ direction_of(points[first], column[::2])
            tried.append((left_by_neighbours(told, column[1::2]), points @ direction_of(points[rows], column)))
        if not tried:
            return None
        left, index = min(tried, key=lambda one: one[0])
        return index if left < _TOLD else None
