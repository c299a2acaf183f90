"""Distances to known rows fix every other row, as in the 1-d clustering paper's section 4, with unknown scale."""

from __future__ import annotations

import numpy as np

from sfumato.attack.catalogue import entry
from sfumato.attack.engine.interface import Attack, Deadline, needs_known_rows
from sfumato.attack.engine.knowledge import FloatArray, Guess, Knowledge, guess_values


def distance_scale(released: FloatArray, original: FloatArray) -> float:
    """Return by how much released distances must be multiplied: the median ratio of known distances.

    Parameters
    ----------
    released : array of shape (m, e)
        Released rows of known people.
    original : array of shape (m, d)
        Their originals.

    Returns
    -------
    float
        1 when no two released rows differ.

    Examples
    --------
    >>> distance_scale(np.array([[0.0], [2.0], [4.0]]), np.array([[0.0], [1.0], [2.0]]))
    0.5
    """
    first, second = np.triu_indices(len(released), k=1)
    before = np.linalg.norm(original[first] - original[second], axis=1)
    after = np.linalg.norm(released[first] - released[second], axis=1)
    usable = (after > 0) & (before > 0)
    return float(np.median(before[usable] / after[usable])) if usable.any() else 1.0


def trilaterate(known: FloatArray, distances: FloatArray) -> FloatArray:
    """Return the points with the given distances from known points, by linear least squares.

    Parameters
    ----------
    known : array of shape (m, d)
        Known points, m > d.
    distances : array of shape (t, m)
        Distance of every sought point from every known point.

    Returns
    -------
    array of shape (t, d)
        The points.

    Examples
    --------
    >>> corners = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 3.0]])
    >>> trilaterate(corners, np.array([[5.0, 3.0, 4.0]])).round(9)
    array([[4., 3.]])
    """
    centre = known.mean(axis=0)
    points = known - centre
    # subtracting the mean equation removes |v|^2, which is the only quadratic term
    lengths = (points**2).sum(axis=1)
    squares = distances**2
    right = (lengths - lengths.mean()) - (squares - squares.mean(axis=1, keepdims=True))
    return np.asarray(right @ np.linalg.pinv(2 * points, rcond=1e-12).T + centre, dtype=np.float64)


class Trilateration(Attack):
    """Locate every row by its distances to d + 1 known rows; the unknown scale is a ratio of known distances.

    Examples
    --------
    >>> from sfumato.attack import run_attack
    >>> table = np.random.default_rng(0).normal(size=(50, 2))
    >>> run_attack(Trilateration(), table, 7 * table @ [[0.6, -0.8], [0.8, 0.6]]).rate
    1.0
    """

    entry = entry("trilateration")

    def objection(self, knowledge: Knowledge) -> str | None:
        """Return a reason when there are too few known rows."""
        needed = knowledge.n_columns + 1
        return needs_known_rows(knowledge, needed)

    def run(self, knowledge: Knowledge, deadline: Deadline) -> Guess:  # noqa: ARG002 - one small solve
        """Return the located target rows."""
        assert knowledge.pairs is not None
        released = knowledge.released[knowledge.pairs.rows]
        scale = distance_scale(released, knowledge.pairs.values)
        targets = knowledge.released[knowledge.targets]
        distances = np.linalg.norm(targets[:, None, :] - released[None, :, :], axis=2)
        return guess_values(trilaterate(knowledge.pairs.values, scale * distances))
