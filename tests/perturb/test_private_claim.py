"""The claim against shadow runs: it holds, and is found out when the noise is halved or the clipping removed."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
import pytest

from sfumato.perturb.private import claim, noise, statistics
from sfumato.perturb.private.claim import shadow_bound

EPSILON, DELTA = 1.0, 0.01  # at a large delta few runs tell: what is tested is the same for all


def test_what_shadow_runs_find_stays_below_the_claim_in_twenty_of_twenty() -> None:
    found = [shadow_bound(EPSILON, DELTA, runs=3000, confidence=0.999) for _ in range(20)]
    assert max(found) < EPSILON


def test_half_the_noise_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    noise.rho_of(EPSILON, DELTA)  # the budget is found, and kept, with the honest noise
    real = noise._gaussian
    monkeypatch.setattr(noise, "_gaussian", lambda scale: _Halved(real(scale), real(scale / 2)))
    assert shadow_bound(EPSILON, DELTA, runs=20_000) > EPSILON


class _Halved:
    """Costs what the honest measurement costs, and adds half of its noise."""

    def __init__(self, honest: Any, sabotaged: Any) -> None:
        self.map, self._run = honest.map, sabotaged

    def __call__(self, values: list[int]) -> list[int]:
        return self._run(values)  # type: ignore[no-any-return]


def test_missing_clipping_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statistics, "clipped_steps", lambda apart, radii: np.trunc(apart / radii * statistics.STEPS))
    assert shadow_bound(EPSILON, DELTA, runs=3000) > EPSILON


def test_the_bound_knows_a_gaussian() -> None:
    rng = np.random.default_rng(5)
    apart = sqrt(2 * 0.5)
    found = claim.epsilon_bound(rng.normal(apart, 1, 50_000), rng.normal(0, 1, 50_000), 1e-6)
    assert 1.5 < found < 4.0
