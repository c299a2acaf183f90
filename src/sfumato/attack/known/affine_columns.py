"""Two known rows solve a shift and a scaling of each column."""

from __future__ import annotations

import numpy as np

from sfumato.attack.catalogue import entry
from sfumato.attack.engine.interface import Attack, Deadline, needs_same_columns
from sfumato.attack.engine.knowledge import FloatArray, Guess, Knowledge, guess_values


def fit_lines(released: FloatArray, original: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return slope and intercept of the least-squares line of every column.

    Parameters
    ----------
    released, original : arrays of shape (m, d)
        Known rows.

    Returns
    -------
    slope, intercept : arrays of shape (d,)
        Slope 0 where the released values do not vary.

    Examples
    --------
    >>> fit_lines(np.array([[0.0], [1.0]]), np.array([[3.0], [5.0]]))
    (array([2.]), array([3.]))
    """
    centred = released - released.mean(axis=0)
    spread = (centred**2).sum(axis=0)
    slope = (centred * original).sum(axis=0) / np.where(spread > 0, spread, 1.0)
    slope = np.where(spread > 0, slope, 0.0)
    return slope, original.mean(axis=0) - slope * released.mean(axis=0)


class AffineColumns(Attack):
    """Solve shift and scaling of each column; exact from two known rows.

    Examples
    --------
    >>> from sfumato.attack import run_attack
    >>> table = np.random.default_rng(0).normal(size=(50, 2))
    >>> run_attack(AffineColumns(), table, table * [2, -3] + 1, known=2).rate
    1.0
    """

    entry = entry("affine-columns")

    def objection(self, knowledge: Knowledge) -> str | None:
        """Return a reason when cells do not correspond or rows are too few."""
        assert knowledge.pairs is not None
        if len(knowledge.pairs.rows) < 2:
            return f"needs 2 known rows, {len(knowledge.pairs.rows)} are known"
        return needs_same_columns(knowledge)

    def run(self, knowledge: Knowledge, deadline: Deadline) -> Guess:  # noqa: ARG002 - instant
        """Return all target rows mapped back."""
        assert knowledge.pairs is not None
        slope, intercept = fit_lines(knowledge.released[knowledge.pairs.rows], knowledge.pairs.values)
        return guess_values(knowledge.released[knowledge.targets] * slope + intercept)
