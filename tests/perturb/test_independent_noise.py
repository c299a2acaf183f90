"""Independent noise: a row's nearest reference, kept by the ball and almost kept by the box."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from sfumato.exceptions import DataError
from sfumato.perturb import IndependentNoise
from sfumato.perturb.groups.nearest_two import all_distances, two_nearest
from sfumato.perturb.groups.references import direct_classification


def clustered(seed: int, d: int, n: int = 2000, k: int = 5) -> np.ndarray:
    rng = np.random.default_rng(seed)
    scales = 10.0 ** rng.integers(-1, 4, d)
    return (rng.uniform(-8, 8, (k, d))[rng.integers(0, k, n)] + rng.normal(size=(n, d))) * scales


def broken(perturber: IndependentNoise, table: np.ndarray) -> float:
    released = perturber.fit_transform(table)
    fitted = perturber._state.fitted
    nearest = [cdist(rows / fitted.units, fitted.references).argmin(axis=1) for rows in (table, released)]
    return float((nearest[0] != nearest[1]).mean())


@pytest.mark.parametrize("d", [2, 10, 50])
@given(seed=st.integers(0, 10_000), alpha=st.sampled_from(["range", "std"]), beta=st.floats(3, 12))
@settings(max_examples=15, deadline=None)
def test_ball_noise_never_changes_the_nearest_reference(d: int, seed: int, alpha: str, beta: float) -> None:
    table = clustered(seed, d, n=1000)
    assert broken(IndependentNoise(beta, 200, alpha, "ball", insecure_seed=seed), table) == 0.0


def test_box_noise_breaks_it_for_a_few_rows_in_two_dimensions() -> None:
    shares = [broken(IndependentNoise(insecure_seed=seed), clustered(seed, 2, n=10_000)) for seed in range(12)]
    assert 0.0002 <= np.mean(shares) <= 0.022
    assert max(shares) > 0


def test_box_noise_fills_the_box_and_ball_noise_the_ball() -> None:
    table = clustered(1, 2, n=20_000)
    sizes = {}
    for noise in ("box", "ball"):
        perturber = IndependentNoise(noise=noise, insecure_seed=1)
        released = perturber.fit_transform(table)
        fitted = perturber._state.fitted
        nearest, second = two_nearest((table / fitted.units).T, fitted.references)
        unit = (released - table) / fitted.widths / ((second - nearest) / 2)[:, None]
        sizes[noise] = unit
    assert np.abs(sizes["box"]).max() <= 1.0 + 1e-9
    assert np.abs(sizes["box"]).max() > 0.999
    assert np.var(sizes["box"]) == pytest.approx(1 / 3, rel=0.02)
    assert np.hypot(*sizes["ball"].T).max() <= 1.0
    assert np.var(sizes["ball"]) == pytest.approx(1 / 4, rel=0.02)  # three quarters of the box


def test_references_are_leaders_with_running_means() -> None:
    sample = np.array([[0.0, 0.0], [0.2, 0.0], [1.0, 1.0], [0.9, 1.0], [0.1, 0.0]])
    # diagonal sqrt(2), radius sqrt(2)/5 = .283
    np.testing.assert_allclose(direct_classification(sample, 5.0), [[0.1, 0.0], [0.95, 1.0]])


@given(seed=st.integers(0, 1000), b=st.integers(2, 9), d=st.integers(1, 6))
@settings(max_examples=30, deadline=None)
def test_two_nearest_agrees_with_brute_force(seed: int, b: int, d: int) -> None:
    rng = np.random.default_rng(seed)
    rows, references = rng.normal(size=(40, d)), rng.normal(size=(b, d))
    expected = np.sort(cdist(rows, references), axis=1)[:, :2]
    np.testing.assert_allclose(np.column_stack(two_nearest(rows.T.copy(), references)), expected, rtol=1e-12)


@given(
    seed=st.integers(0, 10_000),
    b=st.integers(2, 60),
    d=st.integers(1, 7),
    offset=st.sampled_from([0.0, 3.0, 1e6, 1e15]),
    far=st.sampled_from([1.0, 1e8, 1e30, 1e140]),
    grid=st.booleans(),
)
@settings(max_examples=80, deadline=None)
def test_choosing_by_blas_never_changes_a_bit(seed, b, d, offset, far, grid) -> None:
    """Ties, references that occur twice, rows far away, columns with a large mean: the exact distances all the same."""
    rng = np.random.default_rng(seed)
    rows, references = rng.normal(size=(d, 300)), rng.normal(size=(b, d))
    if grid:
        rows, references = np.rint(rows * 2), np.rint(references * 2)
    rows[:, :50] *= far
    rows, references = rows + offset, references + offset
    best, second = all_distances(rows, references)
    nearest, next_one = two_nearest(rows, references)
    assert nearest.tobytes() == np.sqrt(best).tobytes()
    assert next_one.tobytes() == np.sqrt(second).tobytes()


def test_one_reference_is_not_enough_and_the_error_says_what_to_change() -> None:
    with pytest.raises(DataError, match="single reference point") as error:
        IndependentNoise(beta=0.5, insecure_seed=1).fit(clustered(0, 2))
    assert "raise beta" in str(error.value)
