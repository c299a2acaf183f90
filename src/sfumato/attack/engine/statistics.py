"""Rates on records: Wilson's interval, and the lift over what can be guessed without the release."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sfumato.exceptions import ParameterError

Z_95 = 1.959963984540054


def wilson_interval(successes: float, trials: int, *, z: float = Z_95) -> tuple[float, float]:
    """Return Wilson's score interval of a rate.

    Parameters
    ----------
    successes : float
        Records recovered; tied answers earn fractions, so the sum need not be whole.
    trials : int
        Records scored, at least 1.
    z : float, optional
        Quantile of the normal law; the default gives 95 %.

    Returns
    -------
    tuple of float
        Lower and upper bound, both in [0, 1].

    Examples
    --------
    >>> low, high = wilson_interval(9, 10)
    >>> round(low, 3), round(high, 3)
    (0.596, 0.982)
    >>> wilson_interval(0, 50)[0]
    0.0
    """
    if trials < 1:
        raise ParameterError(f"trials must be at least 1, got {trials}", hint="score at least one record")
    if not 0 <= successes <= trials * (1 + 1e-12):
        raise ParameterError(f"successes must lie in [0, {trials}], got {successes}")
    rate = min(1.0, successes / trials)
    spread = z * z / trials
    centre = (rate + spread / 2) / (1 + spread)
    half = math.sqrt(rate * (1 - rate) * spread + spread * spread / 4) / (1 + spread)
    # at the ends the bound is exact; the subtraction would leave 1e-17
    low = 0.0 if rate == 0 else max(0.0, centre - half)
    high = 1.0 if rate == 1 else min(1.0, centre + half)
    return low, high


@dataclass(frozen=True)
class Lift:
    """How much of what could be gained an attack gains, with the interval of Wilson.

    Parameters
    ----------
    rate : float
        Share of the scored records that the attack recovered.
    low, high : float
        Wilson's interval of the rate.
    reference : float
        The larger of baseline and control: what needs no attack.
    value : float
        ``(rate - reference) / (1 - reference)``.
    lower : float
        The same with the lower bound of the rate.
    """

    rate: float
    low: float
    high: float
    reference: float
    value: float
    lower: float


def lift(successes: float, trials: int, *, baseline: float, control: float = 0.0) -> Lift:
    """Return the lift of an attack over the larger of baseline and control.

    Parameters
    ----------
    successes : float
        Records recovered (fractions allowed).
    trials : int
        Records scored.
    baseline : float
        Rate of the best constant guess.
    control : float, optional
        Rate of the same attack where nothing can be learned from the release.

    Returns
    -------
    Lift
        Rate, interval, reference, lift and its lower bound; all zero lift where the reference is 1.

    Examples
    --------
    >>> found = lift(100, 100, baseline=0.1)
    >>> found.value, round(found.lower, 3)
    (1.0, 0.959)
    >>> lift(10, 100, baseline=0.1).value
    0.0
    """
    low, high = wilson_interval(successes, trials)
    rate = min(1.0, successes / trials)
    reference = max(baseline, control)
    room = 1.0 - reference
    if room <= 0:  # everybody is guessed anyway: an attack cannot add anything
        return Lift(rate, low, high, reference, 0.0, 0.0)
    return Lift(rate, low, high, reference, (rate - reference) / room, (low - reference) / room)
