"""The claim against shadow runs: it holds, and is found out when the noise is halved or the clipping removed."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.perturb import PrivateMixture
from sfumato.perturb.private import fitting, noise, statistics
from sfumato.perturb.private.claim import claim_bound
from sfumato.perturb.private.noise import Accountant
from tests.perturb.shadow_runs import epsilon_bound, shadow_bound

EPSILON, DELTA = 1.0, 0.01  # at a large delta few runs tell: what is tested is the same for all


def test_scores_that_tell_nothing_give_no_bound() -> None:
    assert epsilon_bound(np.arange(200.0), np.arange(200.0), 1e-6) == 0.0


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


def test_all_measurements_of_a_fit_together_stay_below_the_claim() -> None:
    found = [claim_bound(3.0, 1e-6, runs=120, confidence=0.999) for _ in range(20)]
    assert max(found) < 3.0, "20 of 20"
    assert claim_bound(3.0, 1e-6, runs=1500) > 1.0, "close enough to find half the noise"
    assert claim_bound(3.0, 1e-6, rows=2, public_count=True, runs=300, confidence=0.999) < 3.0


@pytest.mark.parametrize("sabotage", ["half the noise", "no clipping", "shares spent twice"])
def test_an_audit_says_the_claim_and_finds_out_what_breaks_it(monkeypatch: pytest.MonkeyPatch, sabotage: str) -> None:
    table = np.random.default_rng(0).normal(size=(617, 2))
    made = PrivateMixture(epsilon=3.0, bounds=(-9.0, 9.0))
    told: dict[str, Any] = {"method": made, "attacks": ["as-released"], "utility": False, "effort": "quick"}
    released = made.fit_transform(table)
    honest = sf.audit(table, released, **told)
    assert honest.claim is not None
    assert honest.claim.status == "not exceeded"
    assert "claims (epsilon, delta)-differential privacy with epsilon 3" in honest.verdict
    assert "does not exceed it" in honest.to_text()
    everybody = honest.to_html(public=True)  # grade, rows and utility are of the table, without noise
    assert "does not exceed it" in everybody
    assert "617" not in everybody
    assert f"grade {honest.grade.lower()}" not in everybody.lower()
    real = Accountant.noisy
    if sabotage == "half the noise":
        monkeypatch.setattr(Accountant, "noisy", lambda self, values, far, rho: real(self, values, far / 2, rho))
    elif sabotage == "no clipping":
        steps = statistics.STEPS
        monkeypatch.setattr(statistics, "clipped_steps", lambda apart, radii: np.trunc(apart / radii * steps))
    else:  # nobody would notice without the accountant
        whole = fitting.Setting.shares
        assert whole.fget is not None
        twice = property(lambda self: {name: 4 * rho for name, rho in whole.fget(self).items()})
        monkeypatch.setattr(fitting.Setting, "shares", twice)
        monkeypatch.setattr(Accountant, "_budget", 1e9, raising=False)
        monkeypatch.setattr(Accountant, "__init__", lambda self, _: setattr(self, "spent", 0.0))
    broken = sf.audit(table, released, **told)
    assert broken.claim is not None
    assert broken.claim.status == "exceeded"
    assert broken.grade == "F"
    assert "does not hold" in broken.verdict


def test_a_method_without_a_guarantee_claims_none() -> None:
    table = np.random.default_rng(0).normal(size=(60, 2))
    report = sf.audit(table, table + 1.0, method="adp", attacks=["as-released"], utility=False, effort="quick")
    assert report.claim is None
    assert '"claim"' not in report.to_json()


def test_the_bound_knows_a_gaussian() -> None:
    rng = np.random.default_rng(5)
    apart = sqrt(2 * 0.5)
    found = epsilon_bound(rng.normal(apart, 1, 50_000), rng.normal(0, 1, 50_000), 1e-6)
    assert 1.5 < found < 4.0
