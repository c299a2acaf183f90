"""Canaries: releases whose outcome is known. If the attacks misjudge them, the audit cannot be trusted.

An identity copy and a rotation must be broken; independent noise with the data's means and deviations must not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr

from sfumato._arrays import Floats
from sfumato.attack.engine.blocks import blocks_of
from sfumato.attack.engine.referee import Referee
from sfumato.attack.engine.result import best_of

_BROKEN = 0.999
_NOISE_ATTACKS = ("as-released", "moments", "quantiles", "affine", "affine-columns", "ridge", "nearest", "ranks")


@dataclass(frozen=True)
class Canary:
    """One release of known outcome.

    Attributes
    ----------
    name : str
    expected : str
    passed : bool or None
        None when the table is too small for it.
    figure : float or None
        What was measured: the rate recovered, or for noise the largest lower bound of the lift.
    """

    name: str
    expected: str
    passed: bool | None
    figure: float | None


def run_canaries(original: Floats, *, seed: int = 0, max_rows: int = 3000) -> tuple[Canary, ...]:
    """Attack the releases of known outcome.

    Parameters
    ----------
    original : array of shape (n, d)
    max_rows : int
        Larger tables are sampled.
    """
    generator = np.random.default_rng([seed, 4])
    if len(original) > max_rows:
        original = original[np.sort(generator.choice(len(original), max_rows, replace=False))]
    n_rows, n_columns = original.shape
    deviation = original.std(axis=0)
    scaled = (original - original.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)
    turned = np.empty_like(scaled)
    for block in blocks_of(n_columns):
        turn, _ = np.linalg.qr(generator.normal(size=(block.stop - block.start,) * 2))
        turned[:, block] = scaled[:, block] @ turn
    noise = original.mean(axis=0) + deviation * generator.normal(size=original.shape)
    return (
        _must_break("identity copy", original, original, "as-released", None, seed),
        _must_break("rotation", original, turned, "affine", _spanning_rows(scaled), seed),
        _must_stand(original, noise, seed, enough=n_rows >= 20),
    )


def _spanning_rows(scaled: Floats) -> list[int]:
    """Return d + 2 rows that span the table: random ones may not, where values repeat."""
    if scaled.shape[1] + 2 > len(scaled):
        return list(range(len(scaled)))  # too few, and it is not tried
    _, _, order = qr(np.column_stack([scaled, np.ones(len(scaled))]).T, mode="economic", pivoting=True)
    return [int(row) for row in order[: scaled.shape[1] + 2]]


def _must_break(
    name: str, original: Floats, released: Floats, attack: str, known: list[int] | None, seed: int
) -> Canary:
    expected = f"{attack} recovers at least {_BROKEN:.1%}"
    if known is not None and len(known) + 2 > len(original):
        return Canary(name, expected, None, None)
    result = Referee(original, released, seed=seed, max_targets=500).run(attack, known)
    return Canary(name, expected, result.rate is not None and result.rate >= _BROKEN, result.rate)


def _must_stand(original: Floats, noise: Floats, seed: int, *, enough: bool) -> Canary:
    expected = "no attack lifts above 5 %"
    if not enough:
        return Canary("independent noise", expected, None, None)
    referee = Referee(original, noise, seed=seed, max_targets=500, decimals=None)
    results = referee.run_all(_NOISE_ATTACKS)
    # values and links are two questions; each is judged on the half of the records that did not choose its winner
    best = [best_of([r for r in results if r.goal == goal], seed=seed) for goal in ("values", "links")]
    worst = max((result.lift_low or 0.0 for result in best if result is not None), default=0.0)
    return Canary("independent noise", expected, worst <= 0.05, worst)
