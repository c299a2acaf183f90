"""Several releases of one table with fresh noise: the noise averages out."""

from __future__ import annotations

import numpy as np

from sfumato.attack.catalogue import entry
from sfumato.attack.engine.decimals import snap
from sfumato.attack.engine.interface import Attack, Deadline, needs_same_columns
from sfumato.attack.engine.knowledge import FloatArray, Guess, Knowledge, guess_values


def combine(stack: FloatArray, kurtosis: FloatArray) -> FloatArray:
    """Return the midrange of columns with flat-tailed noise and the mean of the others.

    Parameters
    ----------
    stack : array of shape (r, t, d)
        The same rows in r releases.
    kurtosis : array of shape (d,)
        Kurtosis of the noise per column: 1.5 arcsine, 1.8 uniform, 3 normal.

    Returns
    -------
    array of shape (t, d)
        Estimates.

    Examples
    --------
    >>> combine(np.array([[[0.0]], [[1.0]], [[5.0]]]), np.array([1.8]))
    array([[2.5]])
    >>> combine(np.array([[[0.0]], [[1.0]], [[5.0]]]), np.array([3.0]))
    array([[2.]])
    """
    middle = (stack.max(axis=0) + stack.min(axis=0)) / 2
    return np.asarray(np.where(kurtosis < 2.4, middle, stack.mean(axis=0)), dtype=np.float64)


class SeveralReleases(Attack):
    """Average releases of one table; bounded noise by the midrange, which converges faster.

    Examples
    --------
    >>> from sfumato.attack import run_attack
    >>> draw = np.random.default_rng(0)
    >>> table = draw.normal(size=(100, 2))
    >>> noisy = [table + draw.uniform(-0.5, 0.5, size=table.shape) for _ in range(30)]
    >>> run_attack(SeveralReleases(), table, noisy[0], releases=noisy[1:]).rate > 0.9
    True
    """

    entry = entry("releases")

    def objection(self, knowledge: Knowledge) -> str | None:
        """Return a reason when cells do not correspond or a release has gaps."""
        if any(not np.isfinite(other).all() for other in knowledge.releases):
            return "a further release has missing or infinite cells"
        return needs_same_columns(knowledge)

    def run(self, knowledge: Knowledge, deadline: Deadline) -> Guess:
        """Return combined estimates of the target rows."""
        deadline.check()
        releases = (knowledge.released, *knowledge.releases)
        # the difference of two releases holds noise only: for independent noise its excess kurtosis is half
        difference = knowledge.released - knowledge.releases[0]
        difference = difference - difference.mean(axis=0)
        spread = (difference**2).mean(axis=0)
        fourth = (difference**4).mean(axis=0) / np.where(spread > 0, spread, 1.0) ** 2
        stack = np.stack([table[knowledge.targets] for table in releases])
        estimate = combine(stack, 3 + 2 * (fourth - 3))
        return guess_values(snap(estimate, knowledge.decimals), note=f"{len(releases)} releases combined")
