"""The outcome of one attack: rate, Wilson's interval, lift over guessing; and the honest best of several."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from sfumato.attack.catalogue import Cost, Goal
from sfumato.attack.engine.knowledge import BoolArray, FloatArray, IntArray
from sfumato.exceptions import ParameterError

Z_95 = 1.959963984540054
Status = Literal["ran", "not applicable", "ineffective", "timed out", "error"]


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


@dataclass(frozen=True, eq=False)
class Scores:
    """What every scored record earned; private, for splitting targets.

    Parameters
    ----------
    rows : array of shape (t,)
        Row numbers in the original.
    attack, baseline, control : arrays of shape (t,)
        Earned by the attack, by the constant guess, by the attack with broken correspondence.
    answered : array of shape (t,), or None
        Whom the attack had a guess for, where it may leave people out. Default: None.
    """

    rows: IntArray
    attack: FloatArray
    baseline: FloatArray
    control: FloatArray
    answered: BoolArray | None = None


@dataclass(frozen=True, eq=False)
class Result:
    """The outcome of one attack on one release.

    Parameters
    ----------
    attack, name : str
        Identifier and words of the catalogue.
    rung, cost, goal : int, str, str
        What the attacker had to know, and was after.
    status : str
        ran, not applicable, ineffective, timed out, or error. Ineffective is never safe.
    reason : str
        Why it did not run, or what it found. Default: "".
    known : int
        Number of known people. Default: 0.
    scored : int
        Number of records scored. Default: 0.
    rate, low, high : float or None
        Share of the scored records recovered, and Wilson's interval.
    baseline, control : float or None
        What the best constant guess, and the attack with broken correspondence, recover.
    lift, lift_low : float or None
        ``(rate - b) / (1 - b)`` with b the larger of the two, and its lower bound.
    cell_rate : float or None
        Share of the scored cells recovered (attacks on values).
    residual : tuple of float or None
        Var(x - guess) / Var(x) of every column (attacks on values).
    column_lifts : tuple of float or None
        Lower bound of the lift of each column's cells over the best constant (attacks on values); 0 where not scored.
    scores : Scores or None
        Private: what each record earned.
    """

    attack: str
    name: str
    rung: int
    cost: Cost
    goal: Goal
    status: Status
    reason: str = ""
    known: int = 0
    scored: int = 0
    rate: float | None = None
    low: float | None = None
    high: float | None = None
    baseline: float | None = None
    control: float | None = None
    lift: float | None = None
    lift_low: float | None = None
    cell_rate: float | None = None
    residual: tuple[float, ...] | None = None
    column_lifts: tuple[float, ...] | None = None
    scores: Scores | None = field(default=None, repr=False)


def without_order(result: Result) -> Result:
    """Return a result that says nothing, because nobody knows who is who.

    Parameters
    ----------
    result : Result
        Of an attack that was scored row by row.

    Examples
    --------
    >>> without_order(Result("x", "x", 0, "nothing", "values", "ran", rate=0.1)).rate is None
    True
    """
    kept = ("attack", "name", "rung", "cost", "goal", "known")
    told = {name: getattr(result, name) for name in kept}
    return Result(**told, status="not applicable", reason="it is not known who is who in the release")


def summarise(result: Result, scores: Scores) -> Result:
    """Return a result with rate, interval, baseline, control and lift of the given scores.

    Parameters
    ----------
    result : Result
        Where to write them.
    scores : Scores
        At least one record.

    Examples
    --------
    >>> import numpy as np
    >>> blank = Result("x", "x", 0, "nothing", "values", "ran")
    >>> done = summarise(blank, Scores(np.arange(4), np.ones(4), np.zeros(4), np.zeros(4)))
    >>> done.rate, done.lift, done.scored
    (1.0, 1.0, 4)
    """
    baseline = float(scores.baseline.mean())
    control = float(scores.control.mean())
    found = lift(float(scores.attack.sum()), int(scores.attack.size), baseline=baseline, control=control)
    return replace(
        result,
        scored=int(scores.attack.size),
        rate=found.rate,
        low=found.low,
        high=found.high,
        baseline=baseline,
        control=control,
        lift=found.value,
        lift_low=found.lower,
        scores=scores,
    )


def best_of(results: Sequence[Result], *, seed: int = 0) -> Result | None:
    """Return the strongest attack, chosen on half of the targets and measured on the other half, both ways round.

    The best of many useless attacks looks good on the records on which it was chosen.

    Parameters
    ----------
    results : sequence of Result
        Of one referee; those without a rate are passed over. Attacks on values and links are not mixed well:
        give one kind.
    seed : int, optional
        Which half is used to choose.

    Returns
    -------
    Result or None
        The attack that the first half chose, with the figures of both held-out halves; None when none could be scored.

    Examples
    --------
    >>> best_of([]) is None
    True
    """
    scored = [result for result in results if result.scores is not None and result.scores.rows.size > 1]
    if not scored:
        return None
    highest = max(int(result.scores.rows.max()) for result in scored if result.scores is not None)
    # the half belongs to the row, so that all attacks are chosen on the same records; the second number keeps the
    # draw apart from data and releases that were made with the plain seed
    chosen_on = np.random.default_rng([seed, 20_260_101]).random(highest + 1) < 0.5

    def half(result: Result, *, choose: bool) -> Result | None:
        assert result.scores is not None
        keep = chosen_on[result.scores.rows] == choose
        if not keep.any():
            return None
        all_scores = result.scores
        part = Scores(
            all_scores.rows[keep], all_scores.attack[keep], all_scores.baseline[keep], all_scores.control[keep]
        )
        return summarise(result, part)

    tried = [(half(result, choose=True), half(result, choose=False)) for result in scored]
    usable = [(first, second) for first, second in tried if first is not None and second is not None]
    if not usable:
        return None
    # each half chooses once and is measured once, so that all records count
    one = max(usable, key=lambda both: (both[0].lift or 0.0, -both[0].rung))
    other = max(usable, key=lambda both: (both[1].lift or 0.0, -both[1].rung))
    parts = [part.scores for part in (one[1], other[0]) if part.scores is not None]
    pooled = Scores(*(np.concatenate([getattr(part, name) for part in parts]) for name in _SCORE_FIELDS))
    return summarise(one[1], pooled)


_SCORE_FIELDS = ("rows", "attack", "baseline", "control")
