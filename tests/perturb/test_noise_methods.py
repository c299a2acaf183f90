"""Additive, multiplicative, correlated, chaotic and enhanced noise: the right size, the right law."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from sfumato.perturb import (
    AdditiveNoise,
    ChaoticNoise,
    CorrelatedNoise,
    Enhanced,
    MultiplicativeNoise,
    RandomProjection,
    Translation,
)
from sfumato.perturb.perturbers.chaotic import logistic_orbits

RNG = np.random.default_rng(0)
TABLE = RNG.normal(size=(40_000, 2)) * [1.0, 50.0] + [10.0, -200.0]
LAWS = {
    "normal": stats.norm(),
    "uniform": stats.uniform(-np.sqrt(3), 2 * np.sqrt(3)),
    "laplace": stats.laplace(0, np.sqrt(0.5)),
}


@pytest.mark.parametrize("distribution", LAWS)
def test_additive_noise_has_its_scale_and_law(distribution: str) -> None:
    noise = AdditiveNoise(0.3, distribution, insecure_seed=1).fit_transform(TABLE) - TABLE
    unit = noise / (0.3 * TABLE.std(axis=0))
    for column in unit.T:
        assert stats.kstest(column, LAWS[distribution].cdf).pvalue > 1e-3
    assert abs(np.corrcoef(unit.T)[0, 1]) < 0.02
    absolute = AdditiveNoise([3.0, 7.0], distribution, relative=False, insecure_seed=1).fit_transform(TABLE) - TABLE
    np.testing.assert_allclose(absolute.std(axis=0), [3.0, 7.0], rtol=0.02)


@pytest.mark.parametrize("distribution", LAWS)
def test_multiplicative_noise_has_mean_one(distribution: str) -> None:
    factor = MultiplicativeNoise(0.2, distribution, insecure_seed=1).fit_transform(TABLE) / TABLE
    for column in (factor.T - 1.0) / 0.2:
        assert stats.kstest(column, LAWS[distribution].cdf).pvalue > 1e-3


def test_correlated_noise_has_the_covariance_of_the_data() -> None:
    table = TABLE @ np.array([[1.0, 3.0], [0.0, 1.0]])
    noise = CorrelatedNoise(2.0, insecure_seed=1).fit_transform(table) - table
    whiten = np.linalg.inv(np.linalg.cholesky(np.cov(table.T)))
    np.testing.assert_allclose(whiten @ np.cov(noise.T) @ whiten.T, 4.0 * np.eye(2), atol=0.15)


def test_chaotic_noise_has_the_arcsine_law_and_the_orbit_is_an_orbit() -> None:
    width = TABLE.max(axis=0) - TABLE.min(axis=0)
    keyed = (ChaoticNoise(insecure_seed=1).fit_transform(TABLE) - TABLE) / (0.1 * width)
    orbit = (ChaoticNoise(source="orbit", insecure_seed=1).fit_transform(TABLE) - TABLE) / (0.1 * width)
    for column in (*keyed.T, *orbit.T):
        assert stats.kstest(column, stats.arcsine(-0.5, 1).cdf).pvalue > 1e-3
    steps = orbit + 0.5
    np.testing.assert_allclose(steps[1:50], 4 * steps[:49] * (1 - steps[:49]), atol=1e-9)
    follows = keyed + 0.5
    assert np.abs(follows[1:] - 4 * follows[:-1] * (1 - follows[:-1])).mean() > 0.2, "keyed noise must not be an orbit"


def test_orbits_do_not_stand_still() -> None:
    from sfumato.core.stream import Streams
    from sfumato.perturb.perturbers.chaotic import draw_start

    starts = np.array([draw_start(Streams(bytes([i]) * 32), "a") for i in range(200)])
    assert (logistic_orbits(starts, 1000).std(axis=1) > 0.3).all()


def test_enhancing_touches_the_wanted_share_of_rows_in_every_column() -> None:
    perturber = Enhanced(
        Translation(offsets=[1.0, 2.0]), 0.1, [("uniform", -12, 18), ("normal", 15, 12)], insecure_seed=1
    )
    moved = perturber.fit_transform(TABLE) - TABLE - [1.0, 2.0]
    touched = np.abs(moved) > 1e-9
    assert (touched[:, 0] == touched[:, 1]).all()
    assert touched[:, 0].mean() == pytest.approx(0.1, abs=0.005)
    chosen = moved[touched[:, 0]]
    assert stats.kstest(chosen[:, 0], stats.uniform(-12, 30).cdf).pvalue > 1e-3
    assert stats.kstest(chosen[:, 1], stats.norm(15, 12).cdf).pvalue > 1e-3


def test_enhancing_composes_with_any_method_and_keeps_its_release_for_other_rows() -> None:
    inner = AdditiveNoise(0.1)
    released = Enhanced(inner, 0.2, insecure_seed=1).fit_transform(TABLE)
    deviation = (released - TABLE).std(axis=0) / TABLE.std(axis=0)
    assert deviation == pytest.approx(np.sqrt(0.1**2 + 0.2 * 0.5**2), rel=0.05)


def test_random_projection_keeps_squared_distances_on_average() -> None:
    table = RNG.normal(size=(50, 30))
    ratios = []
    for seed in range(60):
        released = RandomProjection(10, insecure_seed=seed).fit_transform(table)
        assert released.shape == (50, 10)
        ratios.append(((released[0] - released[1]) ** 2).sum() / ((table[0] - table[1]) ** 2).sum())
    assert np.mean(ratios) == pytest.approx(1.0, abs=0.2)
