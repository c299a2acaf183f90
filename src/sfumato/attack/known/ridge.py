"""What known rows teach about the others when the map is noisy: a regularised regression."""

from __future__ import annotations

import numpy as np

from sfumato.attack.catalogue import entry
from sfumato.attack.engine.interface import Attack, Deadline, needs_known_rows
from sfumato.attack.engine.knowledge import FloatArray, Guess, Knowledge, guess_values

_PENALTIES = np.logspace(-14, 4, 37)


def ridge_map(released: FloatArray, original: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return slope and intercept of a ridge regression, its penalty chosen per column by leave-one-out error.

    Parameters
    ----------
    released : array of shape (m, e)
        Released rows of known people.
    original : array of shape (m, d)
        Their originals.

    Returns
    -------
    slope : array of shape (e, d)
        Coefficients.
    intercept : array of shape (d,)
        Constants.

    Examples
    --------
    >>> values = np.arange(6.0).reshape(-1, 1)
    >>> slope, intercept = ridge_map(values, 2 * values + 1)
    >>> slope.round(4), intercept.round(4)
    (array([[2.]]), array([1.]))
    """
    centre, spread = released.mean(axis=0), released.std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    left, singular, right = np.linalg.svd((released - centre) / spread, full_matrices=False)
    mean = original.mean(axis=0)
    turned = left.T @ (original - mean)
    errors = np.empty((_PENALTIES.size, original.shape[1]))
    for index, penalty in enumerate(_PENALTIES):
        shrink = singular**2 / (singular**2 + penalty)
        residual = original - mean - left @ (shrink[:, None] * turned)
        leverage = (left**2 * shrink).sum(axis=1) + 1 / len(released)
        errors[index] = ((residual / np.maximum(1 - leverage, 1e-6)[:, None]) ** 2).sum(axis=0)
    chosen = _PENALTIES[errors.argmin(axis=0)]
    gain = singular[:, None] / (singular[:, None] ** 2 + chosen)
    slope = right.T @ (gain * turned) / spread[:, None]
    return slope, mean - centre @ slope


class Ridge(Attack):
    """Learn the originals from released rows by ridge regression on the known ones.

    Examples
    --------
    >>> from sfumato.attack import run_attack
    >>> table = np.random.default_rng(0).normal(size=(80, 2))
    >>> run_attack(Ridge(), table, 2 * table).rate
    1.0
    """

    entry = entry("ridge")

    def objection(self, knowledge: Knowledge) -> str | None:
        """Return a reason when there are too few known rows."""
        return needs_known_rows(knowledge, 3)

    def run(self, knowledge: Knowledge, deadline: Deadline) -> Guess:  # noqa: ARG002 - one small solve
        """Return the predicted target rows."""
        assert knowledge.pairs is not None
        slope, intercept = ridge_map(knowledge.released[knowledge.pairs.rows], knowledge.pairs.values)
        return guess_values(knowledge.released[knowledge.targets] @ slope + intercept)
