"""The strong cells of the matrix on the papers' own tables."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.attack import Referee, run_attack

pytestmark = pytest.mark.data
CHAOTIC = {"method": "chaotic", "parameters": {"amplitude": 0.1}}


def read(folder, name, drop=0):
    table = np.genfromtxt(folder / f"{name}.csv", delimiter=",", skip_header=1)
    table = table[np.isfinite(table).all(axis=1)]
    return table[:, : table.shape[1] - drop]


TABLES = {"wine": 1, "breast_cancer_wisconsin": 1, "census": 0}


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("release", ["translated", "scaled", "rotated", "hybrid"])
def test_geometric_methods_fall_to_d_plus_2_rows(make, data_folder, name, release):
    table = read(data_folder, name, TABLES[name])
    referee = Referee(table, getattr(make, release)(table))
    assert referee.run("affine").rate == 1.0
    if release in {"translated", "rotated"}:
        assert referee.run("trilateration").rate == 1.0


@pytest.mark.parametrize("name", ["wine", "census"])
def test_distance_signatures_find_known_people_in_a_rotation(make, data_folder, name):
    table = read(data_folder, name, TABLES[name])
    result = run_attack("distances", table, make.rotated(table))
    assert (result.rate, result.cost) == (1.0, "few records")


@pytest.mark.parametrize("name", TABLES)
def test_a_rotation_with_a_tenth_of_noisy_rows_falls_to_ransac(make, data_folder, name):
    table = read(data_folder, name, TABLES[name])
    rates = [run_attack("ransac", table, make.rotated_with_noisy_rows(table, seed=s), seed=s).rate for s in range(3)]
    assert np.median(rates) >= 0.85


@pytest.mark.parametrize("name", ["census", "housing", "tarragona", "wages"])
@pytest.mark.parametrize("shuffled", [False, True])
def test_one_known_row_lays_every_column_of_an_orbit_open(make, data_folder, name, shuffled):
    table = read(data_folder, name)
    order = np.random.default_rng(3).permutation(len(table)) if shuffled else np.arange(len(table))
    referee = Referee(table, make.orbit(table)[order], order=order, **CHAOTIC)
    result = referee.run("orbit-known")
    assert (result.known, result.cell_rate) == (1, 1.0)
    assert max(result.residual) < 1e-12


@pytest.mark.parametrize("name", ["wages", "wine", "housing"])
def test_an_orbit_is_found_knowing_nobody(make, data_folder, name):
    table = read(data_folder, name)
    assert run_attack("orbit", table, make.orbit(table), **CHAOTIC).rate == 1.0


@pytest.mark.parametrize("name", ["census", "housing", "tarragona", "wages", "wine"])
def test_an_orbit_of_public_range_is_found_knowing_nobody(make, data_folder, name):
    table = read(data_folder, name)
    result = run_attack("orbit-range", table, make.orbit(table), **CHAOTIC)
    assert (result.cell_rate, result.cost) == (1.0, "nothing")


@pytest.mark.parametrize(("name", "least"), [("wine", 0.75), ("breast_cancer_wisconsin", 0.9), ("census", 0.9)])
def test_scaling_falls_to_the_lattice_knowing_nobody(make, data_folder, name, least):
    table = read(data_folder, name, TABLES[name])
    result = run_attack("lattice", table, make.scaled(table))
    assert result.rate > 0.99
    assert result.cell_rate >= least


def test_one_dimensional_resampling_publishes_most_of_wine(make, data_folder):
    table = read(data_folder, "wine", 1)
    assert run_attack("as-released", table, make.interval_resampled(table)).cell_rate >= 0.6


@pytest.mark.parametrize(("name", "amplitude"), [("wine", 0.5), ("census", 0.3)])
def test_likelihood_linkage_beats_nearest_row_on_bounded_noise(make, data_folder, name, amplitude):
    table = read(data_folder, name, TABLES[name])
    told = {"method": "chaotic", "parameters": {"amplitude": amplitude}}
    referee = Referee(table, make.arcsine(table, amplitude=amplitude), **told)
    assert referee.run("likelihood").rate > referee.run("nearest").rate + 0.3


@pytest.mark.parametrize("name", TABLES)
def test_noise_with_the_datas_covariance_stays_near_the_baseline(make, data_folder, name):
    table = read(data_folder, name, TABLES[name])
    referee = Referee(table, make.with_own_covariance(table), method="cov", parameters={"scale": 1.0})
    for result in referee.run_all():
        assert result.status != "error", (result.attack, result.reason)
        if result.goal == "values" and result.rate is not None:
            assert result.lift_low < 0.05, result.attack
