"""Rows times factors of their own, then a linear map: known rows fix the map up to a factor, directions do the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sfumato.attack.catalogue import entry
from sfumato.attack.engine.interface import Attack, Deadline, needs_known_rows, needs_same_columns
from sfumato.attack.linkage.linking import link_best

if TYPE_CHECKING:
    from sfumato.attack.engine.knowledge import FloatArray, Guess, Knowledge

_MOST_COLUMNS = 30  # the system has the square of it as unknowns


def projective_map(original: FloatArray, released: FloatArray) -> FloatArray:
    """Return the matrix that turns originals, with a 1 behind each, into the directions of released rows.

    It is known up to one factor. The 1 lets originals be measured from anywhere, as from their means.

    Parameters
    ----------
    original, released : arrays of shapes (m, d) and (m, e)
        Known rows.

    Examples
    --------
    >>> draw = np.random.default_rng(0)
    >>> rows, turn = draw.normal(size=(12, 3)), draw.normal(size=(3, 3))
    >>> turned = (rows - 5) @ turn * draw.uniform(1, 9, size=(12, 1))
    >>> factors = with_one(rows) @ projective_map(rows, turned) / turned
    >>> bool(np.allclose(factors, factors[:, :1]))
    True
    """
    points, e = with_one(original), released.shape[1]
    units = released / np.maximum(np.linalg.norm(released, axis=1, keepdims=True), 1e-300)
    # what an original becomes must have no part across its released row: one linear equation for each direction across
    across = np.eye(e) - units[:, :, None] * units[:, None, :]
    system = np.einsum("mi,mjk->mjik", points, across).reshape(-1, points.shape[1] * e)
    _, _, right = np.linalg.svd(system.T @ system)
    return np.asarray(right[-1].reshape(points.shape[1], e))


def with_one(rows: FloatArray) -> FloatArray:
    """Return rows with a 1 behind each.

    Parameters
    ----------
    rows : array of shape (m, d)
        Rows.

    Examples
    --------
    >>> with_one(np.array([[2.0, 3.0]]))
    array([[2., 3., 1.]])
    """
    return np.column_stack([rows, np.ones(len(rows))])


class Directions(Attack):
    """Solve a linear map of directions from known rows, and link others by their direction.

    Examples
    --------
    >>> from sfumato.attack import run_attack
    >>> draw = np.random.default_rng(0)
    >>> table = draw.normal(size=(200, 4)) + 2
    >>> turned = (table * draw.uniform(0.1, 9, size=(200, 1))) @ draw.normal(size=(4, 4))
    >>> run_attack(Directions(), table, turned).rate
    1.0
    """

    entry = entry("directions")

    def objection(self, knowledge: Knowledge) -> str | None:
        """Return a reason when columns do not correspond, or too few rows are known."""
        if needs_same_columns(knowledge) is not None:
            return needs_same_columns(knowledge)
        d = knowledge.n_columns
        if not 2 <= d <= _MOST_COLUMNS:
            return f"needs 2 to {_MOST_COLUMNS} columns"
        return needs_known_rows(knowledge, d + 2)

    def run(self, knowledge: Knowledge, deadline: Deadline) -> Guess:
        """Return the rows in the direction of each person."""
        assert knowledge.pairs is not None
        assert knowledge.records is not None
        deadline.check()
        centre, spread = knowledge.records.mean(axis=0), knowledge.records.std(axis=0)
        spread = np.where(spread > 0, spread, 1.0)
        width = np.where(knowledge.released.std(axis=0) > 0, knowledge.released.std(axis=0), 1.0)
        rows = knowledge.released / width
        some = slice(3 * knowledge.n_columns + 10)
        found = projective_map((knowledge.pairs.values[some] - centre) / spread, rows[knowledge.pairs.rows[some]])
        people = with_one((knowledge.records - centre) / spread) @ found
        turned = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-300)
        people /= np.maximum(np.linalg.norm(people, axis=1, keepdims=True), 1e-300)

        def cost(chosen: slice) -> FloatArray:
            return np.asarray(1 - np.abs(people[chosen] @ turned.T))

        return link_best(len(people), len(rows), cost, deadline, tolerance=1e-12)
