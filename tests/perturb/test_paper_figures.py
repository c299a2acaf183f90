"""Numbers that the papers print, or that their closed forms give, on the papers' own tables."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import load_wine

from sfumato.perturb import CorrelatedNoise, IntervalResampling, PCAProjection

# table -> clusters per column, components of the paper's PCA, PCA's MSE, 1-d's expected MSE greedy and static
TABLES = {
    "wine": (24, 1, 14.5115, 33.61, 39.01),
    "bcw": (6, 1, 7.06364, 1.025e9, 1.818e9),
    "shuttle": (28, 4, 53.8315, 26.29, 36.81),
}


def load(name: str, folder: Path) -> np.ndarray:
    files = {"wine": "wine.csv", "bcw": "breast_cancer_wisconsin.csv", "shuttle": "shuttle.csv.gz"}
    return pl.read_csv(folder / files[name]).drop_nulls().drop("class").to_numpy().astype(float)


def check_pca(table: np.ndarray, name: str) -> None:
    released = PCAProjection(n_components=TABLES[name][1], insecure_seed=0).fit_transform(table)
    assert ((released - table) ** 2).mean() == pytest.approx(TABLES[name][2], rel=1e-5)
    # the paper keeps more than 99 % of the variance: the default finds the same number of components
    by_share = PCAProjection(insecure_seed=0).fit_transform(table)
    np.testing.assert_array_equal(by_share, released)


@pytest.mark.filterwarnings("ignore::sfumato.exceptions.UnchangedCellsWarning")
def check_intervals(table: np.ndarray, name: str) -> None:
    for final_merge, expected in (("greedy", TABLES[name][3]), ("static", TABLES[name][4])):
        perturber = IntervalResampling(TABLES[name][0], final_merge=final_merge, insecure_seed=0).fit(table)
        assert perturber.expected_mse() == pytest.approx(expected, rel=0.01)


def check_correlated(table: np.ndarray, draws: int, tolerance: float) -> None:
    errors = [((CorrelatedNoise(insecure_seed=i).fit_transform(table) - table) ** 2).mean() for i in range(draws)]
    assert np.mean(errors) == pytest.approx(np.trace(np.cov(table.T)) / table.shape[1], rel=tolerance)


@pytest.mark.data
@pytest.mark.parametrize("name", TABLES)
def test_pca_projection_has_the_printed_error(name: str, data_folder: Path) -> None:
    check_pca(load(name, data_folder), name)


@pytest.mark.data
@pytest.mark.filterwarnings("ignore::sfumato.exceptions.UnchangedCellsWarning")
@pytest.mark.parametrize("name", TABLES)
def test_interval_resampling_has_the_expected_error(name: str, data_folder: Path) -> None:
    check_intervals(load(name, data_folder), name)


@pytest.mark.data
@pytest.mark.parametrize("name", TABLES)
def test_correlated_noise_has_the_trace_of_the_covariance(name: str, data_folder: Path) -> None:
    check_correlated(load(name, data_folder), 50, 0.04)


@pytest.mark.filterwarnings("ignore::sfumato.exceptions.UnchangedCellsWarning")
def test_the_same_on_the_wine_table_that_ships_with_scikit_learn() -> None:
    table = load_wine().data
    check_pca(table, "wine")
    check_intervals(table, "wine")
    check_correlated(table, 200, 0.04)


@pytest.mark.filterwarnings("ignore::sfumato.exceptions.UnchangedCellsWarning")
def test_the_closed_form_is_what_draws_average_to() -> None:
    table = load_wine().data
    for min_radius in (0.0, 0.25):
        fitted = [IntervalResampling(6, min_radius=min_radius, insecure_seed=i) for i in range(40)]
        errors = [((one.fit_transform(table) - table) ** 2).mean() for one in fitted]
        assert np.mean(errors) == pytest.approx(fitted[0].expected_mse(), rel=0.03)


@pytest.mark.data
@pytest.mark.filterwarnings("ignore:.*come out mostly as they went in")
def test_unchanged_cells_are_counted_and_the_hardened_setting_has_none(data_folder: Path) -> None:
    table = load("bcw", data_folder)[:, 1:]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        released = IntervalResampling(24, insecure_seed=0).fit_transform(table)
    counted = next(str(warning.message) for warning in caught if "released as they are" in str(warning.message))
    announced = float(counted.split("(")[1].split("%")[0]) / 100
    assert announced == pytest.approx((released == table).mean(), abs=0.001)
    assert announced > 0.3
    hardened = IntervalResampling(24, min_radius=0.25, insecure_seed=0).fit_transform(table)
    assert not (hardened == table).any()
