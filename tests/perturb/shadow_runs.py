"""One measurement of a claim put to the test by shadow runs, without taking the law of its noise for granted."""

from __future__ import annotations

from math import log

import numpy as np

from sfumato._arrays import Flags, Floats
from sfumato.core.rows import RowRange
from sfumato.perturb.private.claim import _FAR, _limits
from sfumato.perturb.private.noise import Accountant, rho_of
from sfumato.perturb.private.statistics import STEPS, BallSums, Space

_LEVELS = [0.5, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995]


def epsilon_bound(inside: Floats, outside: Floats, delta: float, confidence: float = 0.95) -> float:
    """Return a lower bound on epsilon from an attacker's scores, by exact binomial (Clopper-Pearson) limits.

    Parameters
    ----------
    inside, outside : arrays of shape (n,)
        Scores of shadow runs with the person and without; higher means "was there".
    delta : float
        Of the claim.
    confidence : float
        That the bound is right. Default: 0.95.
    """
    half = len(inside) // 2
    risk = (1.0 - confidence) / 2
    best, cut = 0.0, np.inf
    for level in np.quantile(outside[:half], _LEVELS):
        found = _bound(inside[:half] > level, outside[:half] > level, delta, risk)
        if found > best:
            best, cut = found, float(level)
    # the cut was chosen on one half: the other half alone counts
    return _bound(inside[half:] > cut, outside[half:] > cut, delta, risk)


def shadow_bound(epsilon: float, delta: float, runs: int = 5000, confidence: float = 0.95) -> float:
    """Return what shadow runs find of a claim: a person's sum, clipped and measured with the whole budget.

    Parameters
    ----------
    epsilon, delta : float
        The claim.
    runs : int
        With the person, and as many without. Default: 5000.
    confidence : float
        See `epsilon_bound`. Default: 0.95.
    """
    rows = np.random.default_rng(0).normal(size=(1, 50))
    space = Space((0,), np.array([-_FAR]), np.array([_FAR]), np.zeros(1), np.ones(1))
    sums = []
    for table in (np.append(rows, [[_FAR]], axis=1), rows):
        exact = BallSums(space, np.zeros((1, 1)), np.array([2.0]))
        exact.add(table, RowRange(0, table.shape[1]))
        sums.append(exact.sums)
    rho = rho_of(epsilon, delta)
    with_, without = (Accountant(rho).noisy(np.tile(one.ravel(), runs), float(STEPS), rho) for one in sums)
    return epsilon_bound(with_, without, delta, confidence)


def _bound(inside: Flags, outside: Flags, delta: float, risk: float) -> float:
    least, most = _limits(inside, outside, risk)
    return max(0.0, log((least - delta) / most)) if least > delta else 0.0
