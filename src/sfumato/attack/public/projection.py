"""A random projection whose matrix is known is inverted as well as the population's covariance allows."""

from __future__ import annotations

import numpy as np

from sfumato.attack.catalogue import entry
from sfumato.attack.engine.decimals import snap
from sfumato.attack.engine.interface import Attack, Deadline
from sfumato.attack.engine.knowledge import FloatArray, Guess, Knowledge, guess_values


def invert_projection(released: FloatArray, matrix: FloatArray, mean: FloatArray, covariance: FloatArray) -> FloatArray:
    """Return the best linear estimate of rows from their projections y = x P.

    Parameters
    ----------
    released : array of shape (t, e)
        Projected rows.
    matrix : array of shape (d, e)
        The projection P.
    mean : array of shape (d,)
        Mean of the population.
    covariance : array of shape (d, d)
        Its covariance S.

    Returns
    -------
    array of shape (t, d)
        mean + (y - mean P) (P' S P)^-1 P' S.

    Examples
    --------
    >>> invert_projection(np.array([[2.0]]), np.array([[1.0], [0.0]]), np.zeros(2), np.array([[1.0, 0.5], [0.5, 1.0]]))
    array([[2., 1.]])
    """
    inner = np.linalg.pinv(matrix.T @ covariance @ matrix, hermitian=True)
    return np.asarray(mean + (released - mean @ matrix) @ inner @ matrix.T @ covariance, dtype=np.float64)


class ProjectionEstimate(Attack):
    """Invert a projection whose matrix is a public parameter (``matrix``, d x e) with a sample's covariance.

    Examples
    --------
    >>> from sfumato.attack import run_attack
    >>> draw = np.random.default_rng(0)
    >>> table = draw.normal(size=(200, 1)) @ np.ones((1, 4)) + 0.01 * draw.normal(size=(200, 4))
    >>> matrix = draw.normal(size=(4, 2))
    >>> run_attack(ProjectionEstimate(), table, table @ matrix, parameters={"matrix": matrix}).rate > 0.9
    True
    """

    entry = entry("projection")

    def objection(self, knowledge: Knowledge) -> str | None:
        """Return a reason when no projection matrix is public."""
        assert knowledge.sample is not None
        matrix = knowledge.array("matrix")
        if matrix is None:
            return "the projection's matrix is not public"
        if matrix.shape != (knowledge.n_columns, knowledge.released.shape[1]):
            return "the public matrix does not fit the columns"
        return None if len(knowledge.sample) >= 3 else "needs a sample of 3 people"

    def run(self, knowledge: Knowledge, deadline: Deadline) -> Guess:
        """Return the estimates of the target rows."""
        assert knowledge.sample is not None
        deadline.check()
        matrix = knowledge.array("matrix")
        assert matrix is not None
        covariance = np.atleast_2d(np.cov(knowledge.sample, rowvar=False))
        guess = invert_projection(
            knowledge.released[knowledge.targets], matrix, knowledge.sample.mean(axis=0), covariance
        )
        return guess_values(snap(guess, knowledge.decimals))
