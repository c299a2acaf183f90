"""k-means of weighted rows: the same bits compiled and not, and where scikit-learn ends from the same centres."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.cluster import KMeans

from sfumato.cluster.weighted_kmeans import weighted_kmeans, weighted_starts
from sfumato.core import fast


def tables() -> dict[str, np.ndarray]:
    draw = np.random.default_rng(3)
    clusters = draw.normal(size=(700, 4)) + 8 * draw.integers(0, 4, (700, 1))
    far = clusters.copy()
    far[13] = 1e7
    return {
        "clusters": clusters,
        "no structure": draw.normal(size=(1500, 3)),
        "one row far out": far,
        "ties": draw.integers(0, 3, (600, 2)).astype(float),
        "a constant column": np.column_stack([clusters, np.zeros(700)]),
        "fewer rows than clusters": np.repeat([[0.0, 1.0], [5.0, 2.0]], 30, axis=0),
    }


@pytest.mark.parametrize("name", tables())
@pytest.mark.parametrize("weighted", [False, True])
def test_compiled_rounds_have_the_bits_of_numpy(name, weighted) -> None:
    if not fast.available():
        pytest.skip("numba is not installed")
    rows = tables()[name]
    columns = np.ascontiguousarray((rows - rows.mean(axis=0)).T)
    weights = np.random.default_rng(1).uniform(0.5, 40, len(rows)) if weighted else np.ones(len(rows))

    def found(k: int, rounds: int):
        starts = weighted_starts(columns, weights, k, np.random.default_rng(k))
        return starts, *weighted_kmeans(columns, weights, starts, rounds=rounds, tolerance=1e-9)

    for k, rounds in ((2, 300), (5, 4), (9, 60)):
        with fast.turned_off():
            plain = found(k, rounds)
        fast.load()
        for one, other in zip(plain, found(k, rounds), strict=True):
            assert np.array_equal(one, other)


@pytest.mark.parametrize("name", ["clusters", "no structure"])
def test_it_ends_where_scikit_learn_does(name) -> None:
    rows = tables()[name]
    columns = np.ascontiguousarray((rows - rows.mean(axis=0)).T)
    weights = np.random.default_rng(2).uniform(1, 9, len(rows))
    starts = weighted_starts(columns, weights, 6, np.random.default_rng(0))
    ours = weighted_kmeans(columns, weights, starts, rounds=500)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = KMeans(6, init=starts, n_init=1, max_iter=500, tol=0.0).fit(columns.T, sample_weight=weights)
    assert np.array_equal(ours.labels, theirs.labels_)
    assert ours.cost == pytest.approx(theirs.inertia_, rel=1e-9)


def test_starts_are_drawn_in_proportion_to_weights_and_squared_distances() -> None:
    columns, weights = np.array([[0.0, 1.0, 3.0]]), np.array([1.0, 2.0, 1.0])
    first, pairs = np.zeros(3), np.zeros((3, 3))
    for seed in range(4000):
        one, other = weighted_starts(columns, weights, 2, np.random.default_rng(seed)).ravel()
        first[np.flatnonzero(columns[0] == one)[0]] += 1
        pairs[np.flatnonzero(columns[0] == one)[0], np.flatnonzero(columns[0] == other)[0]] += 1
    assert np.allclose(first / 4000, [0.25, 0.5, 0.25], atol=0.03)
    # the better of two candidates: from 0 the far row saves more than the near one, unless both draws miss it
    missed = (2.0 / 11.0) ** 2
    assert pairs[0, 1] / pairs[0].sum() == pytest.approx(missed, abs=0.02)
