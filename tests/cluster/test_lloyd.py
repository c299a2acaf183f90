from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.cluster import KMeans

from sfumato.cluster import lloyd_kmeans, nearest_centre
from sfumato.exceptions import ParameterError


@given(st.integers(0, 1000), st.integers(1, 5))
def test_it_ends_where_scikit_learn_ends_from_the_same_centres(seed, k):
    random = np.random.RandomState(seed)
    X = random.normal(size=(80, 2))
    start = X[:k]
    found = lloyd_kmeans(X, start)
    known = KMeans(k, init=start, n_init=1, tol=0.0, algorithm="lloyd").fit(X)
    assert np.array_equal(found.labels, known.labels_)
    assert np.allclose(found.centres, known.cluster_centers_)
    assert np.isclose(found.inertia, known.inertia_)


@given(st.integers(0, 1000), st.integers(1, 6), st.integers(1, 5))
def test_labels_centres_and_inertia_belong_together(seed, k, max_iter):
    random = np.random.RandomState(seed)
    X = random.randint(0, 6, size=(40, 2)).astype(float)
    found = lloyd_kmeans(X, random.normal(size=(k, 2)), max_iter=max_iter)
    assert found.n_iter <= max_iter
    assert np.array_equal(found.labels, nearest_centre(X, found.centres))
    assert np.isclose(found.inertia, ((X - found.centres[found.labels]) ** 2).sum())


@given(st.integers(0, 1000))
def test_more_rounds_never_raise_the_inertia(seed):
    random = np.random.RandomState(seed)
    X = random.normal(size=(60, 3))
    inertias = [lloyd_kmeans(X, X[:4], max_iter=rounds).inertia for rounds in range(1, 8)]
    assert all(later <= earlier * (1 + 1e-12) for earlier, later in itertools.pairwise(inertias))


def test_an_empty_cluster_keeps_its_centre():
    found = lloyd_kmeans([[0.0], [1.0]], [[0.0], [100.0]])
    assert found.centres.tolist() == [[0.5], [100.0]]
    assert found.labels.tolist() == [0, 0]


def test_equal_distances_go_to_the_lowest_index():
    assert lloyd_kmeans([[0.0], [2.0], [4.0]], [[1.0], [3.0]], max_iter=1).labels.tolist() == [0, 0, 1]


def test_a_tolerance_stops_earlier():
    X = np.random.RandomState(0).normal(size=(2000, 2))
    assert lloyd_kmeans(X, X[:8], tol=0.05).n_iter < lloyd_kmeans(X, X[:8]).n_iter


def test_the_starting_centres_are_left_alone():
    X = np.random.RandomState(0).normal(size=(50, 2))
    start = np.ascontiguousarray(X[:3])
    copy = start.copy()
    lloyd_kmeans(X, start)
    assert np.array_equal(start, copy)


@pytest.mark.parametrize("wrong", [{"max_iter": 0}, {"tol": np.nan}, {"tol": -0.1}, {"centres": [[0.0]]}])
def test_wrong_parameters_are_named(wrong):
    arguments = {"centres": [[0.0, 0.0]]} | wrong
    with pytest.raises(ParameterError):
        lloyd_kmeans([[0.0, 1.0]], **arguments)
