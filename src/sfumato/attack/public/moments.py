"""Public mean and standard deviation per column undo shifts and scalings."""

from __future__ import annotations

import numpy as np

from sfumato.attack.catalogue import entry
from sfumato.attack.engine.decimals import snap
from sfumato.attack.engine.interface import Attack, Deadline, needs_same_columns
from sfumato.attack.engine.knowledge import FloatArray, Guess, Knowledge, guess_values


def match_moments(released: FloatArray, mean: FloatArray, sd: FloatArray) -> FloatArray:
    """Return the table shifted and stretched to the given moments, column by column.

    Parameters
    ----------
    released : array of shape (n, d)
        Any table.
    mean, sd : arrays of shape (d,)
        Moments to reach.

    Returns
    -------
    array of shape (n, d)
        A constant column becomes the mean.

    Examples
    --------
    >>> match_moments(np.array([[0.0], [2.0]]), np.array([10.0]), np.array([5.0]))
    array([[ 5.], [15.]])
    """
    spread = released.std(axis=0)
    factor = np.where(spread > 0, sd / np.where(spread > 0, spread, 1.0), 0.0)
    return np.asarray(mean + (released - released.mean(axis=0)) * factor, dtype=np.float64)


class Moments(Attack):
    """Shift and stretch every column to its public mean and standard deviation.

    Examples
    --------
    >>> from sfumato.attack import run_attack
    >>> table = np.random.default_rng(0).normal(size=(50, 2))
    >>> run_attack(Moments(), table, table * [2, 3] + [5, 7]).rate
    1.0
    """

    entry = entry("moments")

    def objection(self, knowledge: Knowledge) -> str | None:
        """Return a reason when cells do not correspond."""
        return needs_same_columns(knowledge)

    def run(self, knowledge: Knowledge, deadline: Deadline) -> Guess:  # noqa: ARG002 - instant
        """Return matched rows; a column whose mirror image fits the public quantiles better is mirrored."""
        assert knowledge.marginals is not None
        public = knowledge.marginals
        matched = match_moments(knowledge.released, public.mean, public.sd)
        mirrored = 2 * public.mean - matched[knowledge.targets]
        matched = matched[knowledge.targets]
        as_is = np.abs(np.quantile(matched, public.levels, axis=0) - public.quantiles).sum(axis=0)
        turned = np.abs(np.quantile(mirrored, public.levels, axis=0) - public.quantiles).sum(axis=0)
        best = np.where(turned < 0.5 * as_is, mirrored, matched)
        return guess_values(snap(best, knowledge.decimals))
