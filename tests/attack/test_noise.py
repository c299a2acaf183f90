"""Filters, linkage, and what a sample of the population tells."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.attack import Knowledge, Referee, run_attack
from sfumato.attack.blind.em_marginal import reconstruct
from sfumato.attack.blind.pca_reconstruction import signal_covariance
from sfumato.attack.engine.noise_law import density, log_density, noise_law
from sfumato.attack.public.sample_pca import energy_distance

NORMAL = {"method": "adp", "parameters": {"scale": 0.5}}


def correlated(n=400, d=8, seed=0):
    draw = np.random.default_rng(seed)
    return draw.normal(size=(n, 1)) @ draw.uniform(0.8, 1.2, (1, d)) * 10 + 0.3 * draw.normal(size=(n, d))


@pytest.mark.parametrize("attack", ["spectral", "pca-dr", "bayes"])
def test_filters_recover_correlated_columns_better_than_the_release_shows_them(make, attack):
    table = correlated()
    referee = Referee(table, make.additive(table), **NORMAL)
    filtered, plain = referee.run(attack), referee.run("as-released")
    assert filtered.cell_rate > plain.cell_rate + 0.05
    assert np.mean(filtered.residual) < 0.5 * np.mean(plain.residual)


def test_the_linear_estimate_reaches_the_error_that_theory_gives():
    draw = np.random.default_rng(0)
    table = draw.normal(size=(4000, 3))
    released = table + draw.normal(size=table.shape)
    result = run_attack("bayes", table, released, method="adp", parameters={"scale": 1.0}, max_targets=4000)
    assert np.allclose(result.residual, 0.5, atol=0.03)  # 1 / (1 + 1) of the variance stays unknown


def test_em_moves_noisy_values_back_to_the_peaks_of_their_distribution():
    draw = np.random.default_rng(0)
    table = draw.choice([0.0, 5.0, 9.0], size=(400, 3))
    told = {"method": "adp", "parameters": {"scale": 1.0, "relative": False}}
    referee = Referee(table, table + draw.normal(size=table.shape), **told)
    assert referee.run("em").cell_rate > 0.9
    assert referee.run("as-released").cell_rate < 0.3


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6))
def test_reconstructed_weights_are_a_distribution(seed):
    weights = reconstruct(np.random.default_rng(seed).random((40, 12)))
    assert weights.min() >= 0
    assert weights.sum() == pytest.approx(1)


def test_signal_covariance_has_no_negative_direction():
    released = np.random.default_rng(0).normal(size=(50, 4))
    assert np.linalg.eigvalsh(signal_covariance(released, 3 * np.eye(4))).min() > -1e-12


@pytest.mark.parametrize("told", [NORMAL, {"method": "chaotic", "parameters": {"amplitude": 0.1}},
    {"method": "adp", "parameters": {"scale": 0.5, "distribution": "uniform"}},
    {"method": "adp", "parameters": {"scale": 0.5, "distribution": "laplace"}}], ids=str)  # fmt: skip
def test_densities_integrate_to_one_and_agree_with_their_logarithms(told):
    released = np.random.default_rng(0).normal(size=(500, 1)) * 10
    law = noise_law(Knowledge(released, ("a",), np.arange(500), **told))
    noise = np.linspace(-200, 200, 400_001)
    values = density(law, 0, noise)
    assert values.sum() * (noise[1] - noise[0]) == pytest.approx(1, abs=0.05)
    inside = values > 1e-300
    assert np.allclose(np.log(values[inside]), log_density(law, 0, noise[inside], -50.0))


def test_the_relative_size_of_noise_is_solved_from_the_release():
    draw = np.random.default_rng(0)
    table = draw.normal(size=(20_000, 1)) * 7
    released = table + 0.5 * 7 * draw.normal(size=table.shape)
    law = noise_law(Knowledge(released, ("a",), np.arange(5), "adp", {"scale": 0.5}))
    assert law.sd[0] == pytest.approx(3.5, rel=0.03)


@pytest.mark.parametrize("law", ["uniform", "arcsine"])
def test_likelihood_linkage_is_far_above_nearest_row_on_bounded_noise(make, law):
    table = make.people(500, 6)
    if law == "uniform":
        released = table + 1.5 * table.std(axis=0) * np.random.default_rng(9).uniform(-1, 1, table.shape)
        told = {"method": "adp", "parameters": {"scale": 1.5 / np.sqrt(3), "distribution": "uniform"}}
    else:
        released = make.arcsine(table, amplitude=0.5)
        told = {"method": "chaotic", "parameters": {"amplitude": 0.5}}
    referee = Referee(table, released, **told)
    assert referee.run("likelihood").rate > 2 * referee.run("nearest").rate + 0.05


def test_likelihood_linkage_stays_strong_when_few_of_many_people_are_known(make):
    table = make.people(4000, 8)
    referee = Referee(table, make.arcsine(table), method="chaotic", parameters={"amplitude": 0.1})
    assert referee.run("likelihood", 100).rate > referee.run("nearest", 100).rate + 0.1


def test_all_linkage_attacks_find_everybody_in_a_shifted_and_scaled_copy(make):
    table = make.people(300, 5)
    referee = Referee(table, make.scaled(make.translated(table)))
    for attack in ("nearest", "ranks", "fellegi-sunter"):
        assert referee.run(attack).rate > 0.95, attack


def test_linkage_to_group_means_is_shared_between_the_members(make):
    table = make.people(300, 5)
    released = make.centroids(table, make.grouped(table))
    assert run_attack("nearest", table, released).rate <= 1 / 3 + 1e-9


def test_linkage_on_independent_noise_is_found_by_its_width(make):
    table = make.people(400, 6)
    result = run_attack("likelihood", table, make.independent_noise(table), method="ina", parameters={"beta": 5})
    assert result.lift_low > 0.2


def test_a_sample_undoes_a_rotation_of_skewed_columns():
    draw = np.random.default_rng(0)
    table, population = (draw.gamma(1.0, size=(3000, 3)) * [1, 4, 15] for _ in range(2))
    turn = np.linalg.qr(draw.normal(size=(3, 3)))[0]
    referee = Referee(table, table @ turn, population=population)
    assert referee.run("sample-pca").cell_rate > 0.35
    assert referee.run("ak-ica").lift_low > 0.05
    assert referee.run("as-released").cell_rate < 0.1


def test_energy_distance_is_zero_for_the_same_sample_and_grows_with_a_shift():
    sample = np.random.default_rng(0).normal(size=(50, 2))
    assert abs(energy_distance(sample, sample)) < 1e-12
    assert energy_distance(sample, sample + 1) < energy_distance(sample, sample + 3)


def test_noise_with_the_datas_covariance_stays_near_the_baseline(make):
    table = make.people(500, 8)
    referee = Referee(table, make.with_own_covariance(table), method="cov", parameters={"scale": 1.0})
    for result in referee.run_all():
        if result.goal == "values" and result.rate is not None:
            assert result.lift_low < 0.05, result.attack
