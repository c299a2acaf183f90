"""Noise and accounting, both by OpenDP: discrete Gaussian noise on whole numbers, budgets in zCDP.

The randomness of the noise is the operating system's, fresh for every fit. It is not the key's: a guarantee of
differential privacy is about true randomness, and the same key twice must not make the same noise for two tables.
"""

from __future__ import annotations

from functools import cache
from math import log, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato._arrays import Integers
from sfumato.exceptions import MissingComponentError, ParameterError

_SLACK = 1e-6  # of the budget, so that sums of doubles stay within it


def rho_of(epsilon: float, delta: float) -> float:
    """Return the zCDP budget whose guarantee is (epsilon, delta), as OpenDP converts it.

    Examples
    --------
    >>> 0.02 < rho_of(1.0, 1e-6) < 0.03
    True
    """
    return _rho_of(float(epsilon), float(delta))


def epsilon_of(rho: float, delta: float) -> float:
    """Return the epsilon of a zCDP budget at a delta, as OpenDP converts it.

    Examples
    --------
    >>> epsilon_of(rho_of(1.0, 1e-6), 1e-6) <= 1.0
    True
    """
    dp = _opendp()
    # zCDP budgets add up, and a single Gaussian of this budget has the guarantee of all that was spent
    whole = dp.c.make_zCDP_to_approxDP(_gaussian(1.0 / sqrt(2.0 * rho)))
    return float(whole.map(1.0).epsilon(delta))


@cache
def _rho_of(epsilon: float, delta: float) -> float:
    dp = _opendp()

    def approximate(scale: float) -> Any:
        return dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(_gaussian(scale)), delta)

    most, least = epsilon, epsilon**2 / (4.0 * log(1.0 / delta) + 4.0 * epsilon) / 2.0  # the budget lies between
    bounds = (1.0 / sqrt(2.0 * most), 1.0 / sqrt(2.0 * least))
    scale = dp.binary_search_param(approximate, d_in=1.0, d_out=(epsilon, delta), bounds=bounds)
    return float(_gaussian(scale).map(1.0)) * (1.0 - _SLACK)


class Accountant:
    """Adds noise, and refuses to spend more than the budget.

    Parameters
    ----------
    budget : float
        In zCDP.

    Attributes
    ----------
    spent : float
    """

    def __init__(self, budget: float) -> None:
        self._budget = budget
        self.spent = 0.0

    def noisy(self, values: Integers, sensitivity: float, rho: float) -> NDArray[np.float64]:
        """Return whole numbers with discrete Gaussian noise.

        Parameters
        ----------
        values : array of int
        sensitivity : float
            How far (in Euclidean distance) one person can move all values together, at most.
        rho : float
            What this costs.
        """
        measurement = _gaussian(sensitivity / sqrt(2.0 * rho) * (1.0 + 1e-9))
        cost = float(measurement.map(sensitivity))
        if self.spent + cost > self._budget * (1.0 + _SLACK):
            raise ParameterError("the privacy budget of this fit is spent", hint="please report it: this cannot be")
        self.spent += cost
        released = measurement(values.ravel().tolist())
        return np.array(released, dtype=np.float64).reshape(values.shape)


@cache
def _gaussian(scale: float) -> Any:
    dp = _opendp()
    return dp.m.make_gaussian(dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="f64"), scale=scale)


@cache
def _opendp() -> Any:
    try:
        import opendp.prelude as dp
    except ImportError:
        raise MissingComponentError(
            "the noise of differential privacy comes from OpenDP, which is not installed",
            hint="pip install 'sfumato[dp]'",
        ) from None
    dp.enable_features("contrib")
    return dp
