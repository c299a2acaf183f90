"""The claim put to the test: an epsilon that the noise cannot be below, from shadow runs with and without one person.

The attacker sees every noisy number, which is more than any release tells, and knows everybody else. The person is as
far out as one can be. What is found is a lower bound: above the claim, something is wrong; below it, nothing is proved.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import beta, norm

from sfumato._arrays import Flags, Floats, Integers
from sfumato.core.rows import RowRange
from sfumato.core.summaries import Summary
from sfumato.perturb.private import fitting
from sfumato.perturb.private.noise import Accountant, epsilon_of

_FAR = 1e6  # a person so far out that only clipping holds them
_OTHERS = 4000
_SURE = 0.995  # of an audit's verdict: at 0.95 one honest release in four hundred would be told that its claim fails


def gaussian_bound(
    inside: Floats, outside: Floats, delta: float, confidence: float = 0.95, *, cut: float = 0.0
) -> float:
    """Return a lower bound on the epsilon of Gaussian noise from an attacker's scores.

    How far apart two normal laws are follows from one cut in their middle, where runs are many; so few runs tell at any
    delta. That the noise is Gaussian is taken for granted, its size is not.

    Parameters
    ----------
    inside, outside : arrays of shape (n,)
        Scores of shadow runs with the person and without; higher means "was there".
    delta : float
        Of the claim.
    confidence : float
        That the bound is right. Default: 0.95.
    cut : float
        Above it the attacker says "was there"; known before the runs. Default: 0.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> 0.5 < gaussian_bound(rng.normal(0.1, 1, 9000), rng.normal(-0.1, 1, 9000), 1e-6) < 1.0
    True
    """
    least, most = _limits(inside > cut, outside > cut, (1.0 - confidence) / 2)
    apart = float(norm.ppf(least) - norm.ppf(most)) if least > 0.0 and most < 1.0 else 0.0
    return epsilon_of(apart**2 / 2.0, delta) if apart > 1e-6 else 0.0


def tested_claim(parameters: Mapping[str, Any], runs: int) -> float:
    """Return `claim_bound` for the parameters of a `PrivateMixture`.

    Parameters
    ----------
    parameters : mapping
        Those that are missing have their defaults.
    runs : int
        With the person, and as many without.
    """
    rows = int(parameters.get("rows_per_person", 1))
    public = parameters.get("count", "private") == "public"
    epsilon, delta = float(parameters["epsilon"]), float(parameters["delta"])
    return claim_bound(epsilon, delta, rows, public_count=public, runs=runs, confidence=_SURE)


@dataclass(frozen=True)
class _Measured:
    """One noisy measurement of a fit: how far the person moves it, and what it was paid with."""

    moved: Integers
    sensitivity: float
    rho: float


def claim_bound(
    epsilon: float,
    delta: float,
    rows: int = 1,
    *,
    public_count: bool = False,
    runs: int = 3000,
    confidence: float = 0.95,
) -> float:
    """Return what shadow runs of all measurements of a fit find together: the claim with its composition.

    One fit of a made-up table says which measurements there are, what each costs, and how far the person moves it.
    Then their noise is drawn many times, with the person and without.

    Parameters
    ----------
    epsilon, delta : float
        The claim.
    rows : int
        Rows of a person that count. Default: 1.
    public_count : bool
        Whether the person is replaced instead of left out. Default: False.
    runs : int
        With the person, and as many without. Default: 3000.
    confidence : float
        See `gaussian_bound`. Default: 0.95.
    """
    every = _measurements(epsilon, delta, rows, public_count=public_count)
    scores, middle = (
        [],
        sum(float((one.moved.astype(float) ** 2).sum()) * one.rho / one.sensitivity**2 for one in every),
    )
    for there in (True, False):
        total = np.zeros(runs)
        for one in every:
            place = np.flatnonzero(one.moved)
            moved = one.moved[place]
            values = np.tile(moved if there else np.zeros_like(moved), (runs, 1))
            noisy = Accountant(one.rho).noisy(values, one.sensitivity, one.rho)
            # the log of the odds, up to a constant: what the person moves, in units of the noise
            total += (noisy * moved).sum(axis=1) * (2.0 * one.rho / one.sensitivity**2)
        scores.append(total)
    return gaussian_bound(scores[0], scores[1], delta, confidence, cut=middle)


def _measurements(epsilon: float, delta: float, rows: int, *, public_count: bool) -> list[_Measured]:
    """Return every measurement of a fit, of one column, with and without a person far out."""
    setting = fitting.Setting(
        (0,),
        np.array([-_FAR]),
        np.array([_FAR]),
        (),
        rows=rows * (2 if public_count else 1),
        epsilon=epsilon,
        delta=delta,
        private_count=False,  # the noise is the same; how many rows are released is of no interest here
    )
    others = np.random.default_rng(0).normal(size=(1, _OTHERS))
    with_ = np.append(others, np.full((1, rows), _FAR), axis=1)
    without = np.append(others, np.full((1, rows), -_FAR), axis=1) if public_count else others
    found: list[_Measured] = []
    asked: list[tuple[Summary, Summary]] = []

    class Noting(fitting.Fit):
        """A fit that notes what it measures."""

        def _noisy(self, values: Integers, per_row: float, rho: float) -> tuple[Floats, float]:
            for one, other in asked:
                for name in ("counts", "sums", "squares", "products"):
                    if getattr(one, name, None) is values:
                        moved = (values - getattr(other, name)).ravel()
                        found.append(_Measured(moved, per_row * setting.rows, rho))
            return super()._noisy(values, per_row, rho)

    rounds = fitting.mixture_rounds(setting, Noting(setting))
    try:
        wanted = next(rounds)
        while True:
            one, other = wanted.fresh(), wanted.fresh()
            one.add(with_, RowRange(0, with_.shape[1]))
            other.add(without, RowRange(0, without.shape[1]))
            asked[:] = list(zip(getattr(one, "parts", [one]), getattr(other, "parts", [other]), strict=True))
            wanted = rounds.send(one)
    except StopIteration:
        return found


def _limits(inside: Flags, outside: Flags, risk: float) -> tuple[float, float]:
    """Return the least share of hits, and the largest one of false alarms."""
    hits, n, alarms, m = int(inside.sum()), len(inside), int(outside.sum()), len(outside)
    least = float(beta.ppf(risk, hits, n - hits + 1)) if hits else 0.0
    most = float(beta.ppf(1.0 - risk, alarms + 1, m - alarms)) if alarms < m else 1.0
    return least, most
