"""Known rows solve any linear map: translation, scaling, rotation and all their mixtures."""

from __future__ import annotations

import numpy as np

from sfumato.attack.catalogue import entry
from sfumato.attack.engine.interface import Attack, Deadline, needs_known_rows
from sfumato.attack.engine.knowledge import FloatArray, Guess, Knowledge, guess_values


def fit_affine(released: FloatArray, original: FloatArray) -> FloatArray:
    """Return the least-squares map from released to original rows.

    Parameters
    ----------
    released : array of shape (m, e)
        Released rows.
    original : array of shape (m, d)
        Their originals.

    Returns
    -------
    array of shape (e + 1, d)
        Matrix with the intercept in its last row; of least norm where rows are too few.

    Examples
    --------
    >>> fit_affine(np.array([[0.0], [1.0]]), np.array([[3.0], [5.0]])).round(6)
    array([[2.], [3.]])
    """
    # centred and scaled columns: a table of dollars and years would else be badly conditioned
    centre = released.mean(axis=0)
    spread = released.std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    design = np.column_stack([(released - centre) / spread, np.ones(len(released))])
    solved = np.linalg.lstsq(design, original, rcond=None)[0]
    slope = solved[:-1] / spread[:, None]
    return np.vstack([slope, solved[-1] - centre @ slope])


def apply_affine(matrix: FloatArray, released: FloatArray) -> FloatArray:
    """Return released rows mapped by a matrix of `fit_affine`.

    Parameters
    ----------
    matrix : array of shape (e + 1, d)
        Of `fit_affine`.
    released : array of shape (n, e)
        Rows.

    Returns
    -------
    array of shape (n, d)
        Guessed originals.

    Examples
    --------
    >>> apply_affine(np.array([[2.0], [3.0]]), np.array([[10.0]]))
    array([[23.]])
    """
    return np.asarray(released @ matrix[:-1] + matrix[-1], dtype=np.float64)


class Affine(Attack):
    """Solve the linear map from known rows by least squares; exact from d + 1 rows.

    Examples
    --------
    >>> from sfumato.attack import run_attack
    >>> table = np.random.default_rng(0).normal(size=(50, 2))
    >>> run_attack(Affine(), table, table @ [[0.6, -0.8], [0.8, 0.6]] + 3).rate
    1.0
    """

    entry = entry("affine")

    def objection(self, knowledge: Knowledge) -> str | None:
        """Return a reason when there are too few known rows."""
        # a release of more columns than the original has no more directions than it
        needed = min(knowledge.released.shape[1], knowledge.n_columns) + 1
        return needs_known_rows(knowledge, needed)

    def run(self, knowledge: Knowledge, deadline: Deadline) -> Guess:  # noqa: ARG002 - one small solve
        """Return all target rows mapped back."""
        assert knowledge.pairs is not None
        matrix = fit_affine(knowledge.released[knowledge.pairs.rows], knowledge.pairs.values)
        return guess_values(apply_affine(matrix, knowledge.released[knowledge.targets]))
