"""Fixed-order linear algebra agrees with LAPACK and the mathematical functions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.linear import LARGEST_STEPS, cholesky, eigen_symmetric, exact_product
from sfumato.core.tile_maps import cos_sin_degrees, multiply_columns
from sfumato.exceptions import DataError

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("d", [1, 2, 7, 40])
def test_cholesky_and_eigenvectors_rebuild_their_matrix(d: int) -> None:
    rows = RNG.normal(size=(d + 5, d)) * RNG.uniform(0.01, 100, d)
    matrix = rows.T @ rows
    factor = cholesky(matrix)
    np.testing.assert_allclose(factor @ factor.T, matrix, rtol=1e-9, atol=1e-12 * matrix.max())
    assert (np.triu(factor, 1) == 0).all()
    values, vectors = eigen_symmetric(matrix)
    np.testing.assert_allclose(vectors @ np.diag(values) @ vectors.T, matrix, rtol=1e-9, atol=1e-10 * matrix.max())
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(d), atol=1e-12)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(matrix)[::-1], rtol=1e-9, atol=1e-9 * values[0])


def test_dependent_columns_get_no_noise_of_their_own() -> None:
    rows = RNG.normal(size=(100, 2))
    table = np.column_stack([rows, rows @ [1.0, -2.0]])
    covariance = np.cov(table.T)
    factor = cholesky(covariance)
    np.testing.assert_allclose(factor @ factor.T, covariance, atol=1e-9)
    assert factor[2, 2] == 0.0


@given(st.floats(-1e6, 1e6))
def test_cosine_and_sine_of_degrees(angle: float) -> None:
    cosine, sine = cos_sin_degrees(angle)
    radians = math.radians(math.fmod(angle, 360.0))
    assert cosine == pytest.approx(math.cos(radians), abs=1e-14)
    assert sine == pytest.approx(math.sin(radians), abs=1e-14)


@pytest.mark.parametrize(
    ("angle", "expected"), [(0, (1, 0)), (90, (0, 1)), (180, (-1, 0)), (270, (0, -1)), (360, (1, 0))]
)
def test_right_angles_are_exact(angle: float, expected: tuple[int, int]) -> None:
    assert cos_sin_degrees(float(angle)) == expected


def test_multiplication_does_not_depend_on_the_tile() -> None:
    matrix, tile = RNG.normal(size=(5, 7)), RNG.normal(size=(7, 1000))
    whole = multiply_columns(matrix, tile)
    np.testing.assert_allclose(whole, matrix @ tile, rtol=1e-12, atol=1e-12)
    for cut in (1, 13, 512):
        parts = [multiply_columns(matrix, tile[:, i : i + cut].copy()) for i in range(0, 1000, cut)]
        assert np.concatenate(parts, axis=1).tobytes() == whole.tobytes()


@pytest.mark.parametrize("columns", [8192, 8193, 10_000])
def test_products_of_many_columns_are_exact_or_refused(columns: int) -> None:
    rng = np.random.default_rng(columns)
    left = np.clip(np.rint(rng.normal(0, 2.0**17, (3, columns))), -LARGEST_STEPS, LARGEST_STEPS)
    right = np.clip(np.rint(rng.normal(0, 2.0**17, (columns, 4))), -LARGEST_STEPS, LARGEST_STEPS)
    whole = [[sum(int(a) * int(b) for a, b in zip(row, one, strict=True)) for one in right.T] for row in left]
    assert exact_product(left, right).tolist() == whole
    mixed = rng.permutation(columns)
    assert exact_product(left[:, mixed], right[mixed]).tolist() == whole, "in whatever order"
    far = np.full((1, columns), LARGEST_STEPS)
    if columns > 8192:
        with pytest.raises(DataError, match="more than can be multiplied exactly"):
            exact_product(far, far.T)
    else:
        assert exact_product(far, far.T)[0, 0] == columns * 2**40
