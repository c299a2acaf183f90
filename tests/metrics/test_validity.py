from __future__ import annotations

import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.spatial.distance import pdist, squareform
from sklearn.metrics import davies_bouldin_score

from sfumato import metrics
from sfumato.exceptions import DataError
from sfumato.metrics import extremes


@st.composite
def clustered_tables(draw):
    n = draw(st.integers(3, 25))
    d = draw(st.integers(1, 4))
    table = draw(hnp.arrays(np.float64, (n, d), elements=st.integers(-30, 30).map(float)))
    labels = draw(hnp.arrays(np.int64, n, elements=st.integers(0, 4)))
    labels[0], labels[1] = 0, 7  # two clusters at least, and empty ones in between
    return table, labels


def dunn_by_definition(table, labels):
    distances = squareform(pdist(table))
    same = labels[:, None] == labels
    separation, diameter = distances[~same].min(), distances[same].max()
    if separation == 0:
        return 0.0
    return separation / diameter if diameter > 0 else math.inf


def davies_bouldin_by_definition(table, labels):
    groups = [table[labels == name] for name in np.unique(labels)]
    centres = [group.mean(axis=0) for group in groups]
    scatter = [
        np.mean([math.dist(row, centre) for row in group]) for group, centre in zip(groups, centres, strict=True)
    ]
    worst, skipped = [0.0] * len(groups), 0
    for i in range(len(groups)):
        for j in range(len(groups)):
            apart = math.dist(centres[i], centres[j])
            if i != j and apart < 1e-9:
                skipped += i < j
            elif i != j:
                worst[i] = max(worst[i], (scatter[i] + scatter[j]) / apart)
    pairs = len(groups) * (len(groups) - 1) // 2
    return (math.inf if skipped == pairs else np.mean(worst)), skipped


@given(clustered_tables())
def test_dunn_is_smallest_gap_over_largest_diameter(clustered):
    assert metrics.dunn_index(*clustered) == pytest.approx(dunn_by_definition(*clustered))


@given(clustered_tables())
def test_davies_bouldin_follows_its_definition_and_counts_what_it_skips(clustered):
    index, skipped = davies_bouldin_by_definition(*clustered)
    assert metrics.davies_bouldin_index(*clustered) == pytest.approx(index)
    assert metrics.coincident_centroids(*clustered) == skipped


@given(st.integers(0, 2**32 - 1), st.integers(2, 6), st.integers(1, 5))
def test_davies_bouldin_agrees_with_scikit_learn_in_general_position(seed, k, d):
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(40, d))
    labels = np.concatenate([np.arange(k), rng.integers(0, k, 40 - k)])
    assert metrics.davies_bouldin_index(table, labels) == pytest.approx(davies_bouldin_score(table, labels), rel=1e-6)


@pytest.mark.parametrize("kind", ["normal", "sphere", "rounded", "triangle", "far from the origin", "elongated"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_dunn_is_exact_where_the_bounds_prune_and_where_they_cannot(monkeypatch, kind, seed):
    # Small blocks and batches, so that every branch is taken at a size that brute force can check.
    monkeypatch.setattr(extremes, "BLOCK_CELLS", 1 << 9)
    monkeypatch.setattr(extremes, "QUERY_ROWS", 32)
    monkeypatch.setattr(extremes, "SEED_ROWS", 2)
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(600, 3))
    if kind == "sphere":
        table /= np.linalg.norm(table, axis=1)[:, None]
    elif kind == "rounded":
        table = table.round(1)
    elif kind == "triangle":
        table = rng.dirichlet([0.3, 0.3, 0.3], size=600)
    elif kind == "far from the origin":
        table += 1e6
    elif kind == "elongated":
        table *= [1.0, 1e-3, 1e4]
    centres = table[:6]
    labels = ((table[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
    assert metrics.dunn_index(table, labels) == pytest.approx(dunn_by_definition(table, labels), rel=1e-9)
    shuffled = rng.integers(0, 4, 600)
    assert metrics.dunn_index(table, shuffled) == pytest.approx(dunn_by_definition(table, shuffled), rel=1e-9)


@settings(max_examples=25)
@given(clustered_tables(), st.integers(0, 2**32 - 1))
def test_order_of_rows_and_names_of_clusters_do_not_matter(clustered, seed):
    table, labels = clustered
    order = np.random.default_rng(seed).permutation(len(table))
    names = np.array([f"c{9 - label}" for label in labels])
    for index in (metrics.dunn_index, metrics.davies_bouldin_index, metrics.coincident_centroids):
        assert index(table[order], names[order]) == pytest.approx(index(table, labels))


def peak_of(function, *arguments):
    tracemalloc.start()
    try:
        function(*arguments)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("kind", ["normal", "sphere"])
def test_dunn_needs_no_matrix_of_all_distances(kind):
    rng = np.random.default_rng(7)
    n = 8000
    table = rng.normal(size=(n, 4))
    if kind == "sphere":  # no radius bound can prune these
        table /= np.linalg.norm(table, axis=1)[:, None]
    labels = (table[:, 0] > 0).astype(int)
    metrics.dunn_index(table[:50], labels[:50])
    assert peak_of(metrics.dunn_index, table, labels) < n * n * 8 / 20


def test_nearest_rows_and_davies_bouldin_of_many_groups_need_no_matrix_of_all_distances():
    rng = np.random.default_rng(8)
    n = 8000
    table = rng.normal(size=(n, 3))
    metrics.nearest_rows(table[:10], table[:10])
    assert peak_of(metrics.nearest_rows, table, table + 0.1) < n * n * 8 / 50
    groups = np.arange(n) // 2
    assert peak_of(metrics.davies_bouldin_index, table, groups) < (n // 2) ** 2 * 8 / 4


@pytest.mark.parametrize("unit", [1.0, 1e-9, 1e9])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_davies_bouldin_does_not_depend_on_the_unit(unit, offset):
    table = unit * (np.array([[0.0], [2.0], [5.0], [9.0]]) + offset)
    assert metrics.davies_bouldin_index(table, [0, 0, 1, 1]) == pytest.approx(0.5, rel=1e-6)


def test_centroids_that_differ_by_rounding_only_are_skipped_and_counted():
    # The same five rows in two orders: in floats the two means differ in the last bit.
    ring = np.array([[0.6, 0.9], [0.5, 0.6], [0.9, 0.7], [0.6, 0.5], [0.5, 0.9]])
    table = np.vstack([ring, ring[::-1], [[5.0, 5.0], [7.0, 7.0]]])
    labels = [0] * 5 + [1] * 5 + [2] * 2
    assert metrics.coincident_centroids(table, labels) == 1
    centre = ring.mean(axis=0)
    scatter = np.mean([math.dist(row, centre) for row in ring])
    similarity = (scatter + math.dist([6, 6], [7, 7])) / math.dist(centre, [6, 6])
    assert metrics.davies_bouldin_index(table, labels) == pytest.approx(similarity)
    # what a rounding difference taken for a distance does to the score
    assert davies_bouldin_score(table, labels) > 1000 * similarity


def test_clusters_with_one_common_centroid_are_not_separated_at_all():
    rings = [[-1.0], [1.0], [-5.0], [5.0]]
    assert metrics.davies_bouldin_index(rings, [0, 0, 1, 1]) == math.inf
    assert metrics.coincident_centroids(rings, [0, 0, 1, 1]) == 1
    assert metrics.davies_bouldin_index(np.ones((4, 2)), [0, 0, 1, 1]) == math.inf


def test_single_points_are_perfectly_compact():
    table = [[0.1, 0.3], [0.1, 0.3], [0.1, 0.3], [2.0, 2.0]]
    assert metrics.dunn_index(table, [0, 0, 0, 1]) == math.inf
    assert metrics.davies_bouldin_index(table, [0, 0, 0, 1]) == pytest.approx(0, abs=1e-15)
    assert metrics.dunn_index([[1.0], [2.0], [4.0]], [0, 1, 2]) == math.inf


def test_clusters_that_share_a_point_have_dunn_zero_even_without_diameter():
    assert metrics.dunn_index([[1.0], [1.0]], [0, 1]) == 0
    assert metrics.dunn_index([[1.0], [1.0], [3.0]], [0, 1, 1]) == 0


@pytest.mark.parametrize("index", [metrics.dunn_index, metrics.davies_bouldin_index, metrics.coincident_centroids])
def test_one_cluster_missing_labels_and_empty_tables_are_refused(index):
    with pytest.raises(DataError, match="one cluster"):
        index([[1.0], [2.0]], [3, 3])
    with pytest.raises(DataError, match="3 labels for 2 rows"):
        index([[1.0], [2.0]], [0, 1, 1])
    with pytest.raises(DataError, match="empty"):
        index(np.empty((0, 2)), [])
    with pytest.raises(DataError, match="missing or infinite"):
        index([[1.0], [math.nan]], [0, 1])


@pytest.mark.data
def test_dunn_is_exact_on_heavy_tailed_accounts(data_folder):
    table = np.genfromtxt(data_folder / "tarragona.csv", delimiter=",", skip_header=1)
    table = (table - table.min(axis=0)) / np.ptp(table, axis=0)
    labels = (table[:, 6] > np.median(table[:, 6])).astype(int) + 2 * (table[:, 0] > np.median(table[:, 0]))
    assert metrics.dunn_index(table, labels) == pytest.approx(dunn_by_definition(table, labels))
