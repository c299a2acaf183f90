from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sfumato.cluster import nearest_centre
from sfumato.cluster.fixed_order import BLOCK_ROWS, checked_rows, column_blocks, squared_distances
from sfumato.cluster.starting_centres import column_moments, random_rows, variance_partition
from sfumato.core.linear import fixed_order_sum
from sfumato.exceptions import DataError, ParameterError

NUMBERS = st.floats(-1e6, 1e6, allow_subnormal=False)


@given(arrays(np.float64, st.integers(0, 70), elements=NUMBERS))
def test_the_folded_sum_is_as_good_as_exact_arithmetic_allows(values):
    exact = sum((Fraction(value) for value in values.tolist()), Fraction(0))
    bound = 8 * np.finfo(float).eps * sum(abs(value) for value in values.tolist())
    assert abs(float(Fraction(float(fixed_order_sum(values))) - exact)) <= bound


@given(st.integers(1, 40), st.integers(1, 6))
def test_a_sum_does_not_depend_on_what_is_summed_beside_it(length, others):
    values = np.random.RandomState(length).normal(size=(others, length))
    together = fixed_order_sum(values)
    assert [float(fixed_order_sum(row.copy())) for row in values] == together.tolist()


def test_blocks_cover_all_rows_once_in_any_memory_layout():
    X = np.random.RandomState(0).normal(size=(2 * BLOCK_ROWS + 5, 3))
    for layout in (X, np.asfortranarray(X), np.repeat(X, 2, axis=0)[::2]):
        assert np.array_equal(np.concatenate([block.T for _, _, block in column_blocks(layout)]), X)


@given(st.integers(1, 30), st.integers(1, 5), st.integers(1, 4), st.integers(0, 1000))
def test_distances_and_nearest_centres_are_those_of_the_definition(n, k, d, seed):
    random = np.random.RandomState(seed)
    X, centres = random.normal(size=(n, d)), random.normal(size=(k, d))
    brute = [[math.dist(row, centre) ** 2 for centre in centres] for row in X]
    assert np.allclose(squared_distances(np.ascontiguousarray(X.T), centres).T, brute)
    assert np.array_equal(nearest_centre(X, centres), np.argmin(brute, axis=1))


def test_a_row_has_the_same_distances_alone_and_among_others():
    random = np.random.RandomState(1)
    X, centres = random.normal(size=(50, 7)), random.normal(size=(3, 7))
    together = squared_distances(np.ascontiguousarray(X.T), centres)
    alone = [squared_distances(np.ascontiguousarray(X[i : i + 1].T), centres)[:, 0] for i in range(50)]
    assert np.array_equal(together.T, alone)


def test_equal_distances_go_to_the_lowest_index():
    assert nearest_centre([[0.0], [5.0]], [[-1.0], [1.0], [1.0], [9.0]]).tolist() == [0, 1]


@pytest.mark.parametrize("bad", [[[np.nan]], [[np.inf]], [[1e200]], [["a"]], [1.0, 2.0], np.zeros((0, 2)), [[]]])
def test_rows_that_cannot_be_used_are_refused(bad):
    with pytest.raises(DataError):
        checked_rows(bad)


def test_centres_with_other_columns_are_refused():
    with pytest.raises(ParameterError, match="have 1 columns, the rows have 2"):
        nearest_centre([[0.0, 0.0]], [[0.0]])


def test_moments_are_the_mean_and_the_squared_deviations():
    X = np.random.RandomState(2).normal(5.0, 2.0, size=(3 * BLOCK_ROWS, 2))
    means, deviations = column_moments(X)
    assert np.allclose(means, X.mean(axis=0))
    assert np.allclose(deviations, len(X) * X.var(axis=0))


@given(st.integers(0, 1000))
def test_starting_centres_do_not_depend_on_the_order_of_rows(seed):
    random = np.random.RandomState(seed)
    X = random.normal(size=(40, 2))
    assert np.allclose(variance_partition(X, 4), variance_partition(X[random.permutation(40)], 4))


def test_starting_centres_find_well_separated_groups():
    random = np.random.RandomState(3)
    places = np.array([[0.0, 0.0], [50.0, 0.0], [0.0, 80.0], [50.0, 80.0]])
    X = np.repeat(places, 100, axis=0) + random.normal(size=(400, 2))
    found = variance_partition(X, 4)
    assert sorted(nearest_centre(places, found).tolist()) == [0, 1, 2, 3]


@given(st.integers(1, 4), st.integers(1, 6))
def test_starting_centres_are_finite_when_rows_run_out(distinct, k):
    X = np.repeat(np.arange(float(distinct)), 3).reshape(-1, 1)
    centres = variance_partition(X, k)
    assert centres.shape == (k, 1)
    assert np.isfinite(centres).all()
    assert len(np.unique(centres)) == min(k, distinct)


def test_random_rows_are_rows_and_follow_the_seed():
    X = np.arange(20.0).reshape(10, 2)
    first = random_rows(X, 4, np.random.RandomState(5))
    assert len(np.unique(first, axis=0)) == 4
    assert np.isin(first[:, 0], X[:, 0]).all()
    assert np.array_equal(first, random_rows(X, 4, np.random.RandomState(5)))
