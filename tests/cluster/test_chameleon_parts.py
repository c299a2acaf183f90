"""The steps of Chameleon against their definitions, on graphs small enough to enumerate."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.cluster.chameleon.agglomerate import Cut, Merge, cross_cuts, internal_cut, merge_pieces, merge_score
from sfumato.cluster.chameleon.consensus import agreed_labels
from sfumato.cluster.chameleon.graph import Graph, nearest_neighbours, neighbour_graph, subgraph
from sfumato.cluster.chameleon.levels import absorb_small, labels_at, last_level
from sfumato.cluster.chameleon.pieces import connected_pieces, glue_crumbs, small_pieces
from sfumato.cluster.chameleon.points import distinct_points

UNIT = 1_000_000
# Two squares with diagonals, joined by two edges; weights in millionths.
SQUARES = {
    (0, 1): 5,
    (1, 2): 4,
    (2, 3): 5,
    (0, 3): 4,
    (0, 2): 1,
    (4, 5): 6,
    (5, 6): 3,
    (6, 7): 6,
    (4, 7): 3,
    (5, 7): 1,
    (1, 4): 2,
    (2, 7): 1,
}


def _graph(edges, size, masses=None):
    rows = [[] for _ in range(size)]
    for (first, second), weight in edges.items():
        rows[first].append((second, weight * UNIT))
        rows[second].append((first, weight * UNIT))
    rows = [sorted(row) for row in rows]
    return Graph(
        np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64),
        np.array([other for row in rows for other, _ in row], dtype=np.int64),
        np.array([weight for row in rows for _, weight in row], dtype=np.int64),
        np.ones(size, dtype=np.int64) if masses is None else np.asarray(masses, dtype=np.int64),
    )


def _even_bisection(edges, members):
    """Try every even split; return the weight and the number of edges of the lightest."""
    best = None
    for half in itertools.combinations(members, len(members) // 2):
        cut = [w for (a, b), w in edges.items() if a in members and b in members and (a in half) != (b in half)]
        if best is None or sum(cut) < best[0]:
            best = (sum(cut), len(cut))
    return best


def test_relative_interconnectivity_and_closeness_are_those_of_every_possible_bisection():
    graph = _graph(SQUARES, 8)
    left, right = list(range(4)), list(range(4, 8))
    cuts = [internal_cut(graph, np.array(side), seed=0) for side in (left, right)]
    brute = [_even_bisection(SQUARES, side) for side in (left, right)]
    assert [(cut.weight // UNIT, cut.edges) for cut in cuts] == brute == [(9, 3), (7, 3)]
    cross = cross_cuts(graph, np.repeat([0, 1], 4))
    assert cross == {(0, 1): Cut(3 * UNIT, 2)}
    interconnectivity = 3 / ((9 + 7) / 2)
    closeness = (3 / 2) / (4 / 8 * 9 / 3 + 4 / 8 * 7 / 3)
    for alpha in (0.0, 1.0, 2.0):
        score = merge_score(cross[0, 1], (cuts[0], cuts[1]), (4, 4), alpha)
        assert math.isclose(score, interconnectivity * closeness**alpha)


def test_closeness_weighs_the_larger_cluster_more():
    cuts = (Cut(10, 1), Cut(2, 1))
    heavy_first = merge_score(Cut(4, 2), cuts, (90, 10), 1.0)
    heavy_second = merge_score(Cut(4, 2), cuts, (10, 90), 1.0)
    assert math.isclose(heavy_first, 4 / 6 * 2 / 9.2)
    assert math.isclose(heavy_second, 4 / 6 * 2 / 2.8)


@settings(max_examples=40)
@given(st.integers(0, 10_000))
def test_cuts_between_clusters_are_plain_sums(seed):
    random = np.random.RandomState(seed)
    edges = {pair: int(random.randint(1, 9)) for pair in itertools.combinations(range(9), 2) if random.rand() < 0.4}
    labels = random.randint(0, 3, size=9)
    brute: dict[tuple[int, int], list[int]] = {}
    for (a, b), weight in edges.items():
        if labels[a] != labels[b]:
            brute.setdefault((min(labels[a], labels[b]), max(labels[a], labels[b])), []).append(weight)
    found = cross_cuts(_graph(edges, 9), labels)
    assert found == {pair: Cut(sum(weights) * UNIT, len(weights)) for pair, weights in brute.items()}


@settings(max_examples=40)
@given(st.integers(0, 10_000), st.integers(1, 9))
def test_a_subgraph_keeps_exactly_the_inner_edges(seed, size):
    random = np.random.RandomState(seed)
    edges = {pair: int(random.randint(1, 9)) for pair in itertools.combinations(range(9), 2) if random.rand() < 0.4}
    members = np.sort(random.permutation(9)[:size])
    inner = subgraph(_graph(edges, 9), members)
    found = {
        (int(members[a]), int(members[b])): int(w) // UNIT
        for a, b, w in zip(inner.sources, inner.neighbours, inner.weights, strict=True)
        if a < b
    }
    assert found == {(a, b): w for (a, b), w in edges.items() if a in members and b in members}


def test_merging_takes_the_best_pair_first_and_the_score_decides():
    # Three squares in a row; the middle is tied closely to the left and loosely to the right.
    edges = {pair: 5 for start in (0, 4, 8) for pair in itertools.combinations(range(start, start + 4), 2)}
    edges |= {(1, 4): 5, (2, 5): 5, (7, 8): 1}
    positions = np.arange(12.0).reshape(-1, 1)
    merges = merge_pieces(_graph(edges, 12), positions, np.repeat([0, 1, 2], 4), down_to=1, alpha=2.0, seed=0)
    assert merges == [Merge(0, 1), Merge(2, 3)]


def test_clusters_without_edges_join_the_nearest_smallest_first():
    edges = {(0, 1): 1, (2, 3): 1, (3, 4): 1, (5, 6): 1, (6, 7): 1}
    positions = np.array([0.0, 1, 5, 6, 7, 3, 2.5, 2]).reshape(-1, 1)
    pieces = np.array([0, 0, 1, 1, 1, 2, 2, 2])
    merges = merge_pieces(_graph(edges, 8), positions, pieces, down_to=1, alpha=2.0, seed=0)
    assert merges[0] == Merge(0, 2)


def test_the_last_level_counts_large_clusters_only():
    merges = [Merge(0, 1), Merge(2, 3), Merge(4, 5), Merge(6, 7)]
    masses = np.array([30, 30, 40, 1, 1])
    # large clusters after 0, 1, 2, ... merges: 3, 2, 2, 1 (crumb joins), ...
    assert last_level(masses, [Merge(0, 1), Merge(2, 3), Merge(5, 6)], 2, 10) == 2
    assert last_level(masses, merges, 3, 10) == 0
    assert last_level(np.array([1, 1, 1, 1]), [Merge(0, 1), Merge(2, 3)], 3, 10) == 1


def test_labels_follow_the_merges():
    pieces = np.array([0, 1, 2, 3, 0])
    merges = [Merge(0, 2), Merge(1, 4), Merge(3, 5)]
    assert labels_at(pieces, merges, 0).tolist() == [0, 1, 2, 3, 0]
    assert labels_at(pieces, merges, 2).tolist() == [1, 1, 1, 0, 1]
    assert len(set(labels_at(pieces, merges, 3).tolist())) == 1


def test_crumbs_go_to_their_strongest_neighbour_even_through_other_crumbs():
    edges = {(0, 1): 9, (2, 3): 9, (1, 4): 1, (4, 2): 2, (4, 5): 1, (6, 6): 0}
    del edges[6, 6]
    graph = _graph(edges, 7, masses=[10, 10, 10, 10, 1, 1, 1])
    positions = np.array([0.0, 1, 8, 9, 5, 4, -20]).reshape(-1, 1)
    labels = absorb_small(graph, positions, np.array([0, 0, 1, 1, 2, 3, 4]), 2)
    # 4 hangs on 2-3, 5 hangs on 4, and 6 hangs on nothing: the nearest cluster is 0-1
    assert labels.tolist() == [0, 0, 1, 1, 1, 1, 0]


def test_pieces_are_connected_and_crumbs_are_glued():
    edges = {(0, 1): 5, (1, 2): 1, (2, 3): 5, (3, 4): 2}
    graph = _graph(edges, 5, masses=[9, 9, 9, 9, 1])
    assert connected_pieces(graph, np.array([0, 1, 0, 1, 1])).tolist() == [0, 1, 2, 3, 3]
    assert glue_crumbs(graph, np.array([0, 0, 1, 1, 2]), 5, 1).tolist() == [0, 0, 1, 1, 1]
    assert glue_crumbs(graph, np.array([0, 0, 1, 1, 2]), 5, 3).tolist() == [0, 0, 1, 1, 2]


@settings(max_examples=20)
@given(st.integers(0, 1000), st.integers(30, 200), st.integers(1, 12))
def test_first_pieces_are_connected_enough_and_complete(seed, n, least):
    graph = neighbour_graph(distinct_points(np.random.RandomState(seed).normal(size=(n, 2))), 5)
    pieces = small_pieces(graph, 10.0, least, 0)
    assert len(np.unique(pieces)) == pieces.max() + 1 >= least
    assert len(np.unique(connected_pieces(graph, pieces))) == pieces.max() + 1


@settings(max_examples=30)
@given(st.integers(0, 1000), st.integers(1, 3), st.integers(2, 40))
def test_points_are_the_distinct_rows_in_row_order(seed, d, n):
    X = np.random.RandomState(seed).randint(0, 4, size=(n, d)).astype(float)
    points = distinct_points(X)
    assert points.weights.sum() == n
    assert len(points.weights) == len({tuple(row) for row in X.tolist()})
    seen = points.of_row.tolist()
    assert [seen.index(value) for value in range(len(points.weights))] == sorted(
        seen.index(value) for value in range(len(points.weights))
    )
    same = (X[:, None] == X[None]).all(axis=2)
    assert np.array_equal(same, points.of_row[:, None] == points.of_row[None])


def test_rows_torn_apart_by_rounding_are_one_point_and_others_are_not():
    base = np.random.RandomState(0).normal(size=(50, 3)) + 1000.0
    rows = np.concatenate([base, np.nextafter(base, np.inf), base + 1e-6])
    assert len(distinct_points(rows).weights) == 100
    assert len(distinct_points(np.concatenate([base, [[1e12, 0.0, 0.0]]])).weights) == 51


@settings(max_examples=20)
@given(st.integers(0, 1000), st.sampled_from([2, 20]))
def test_neighbours_are_the_nearest(seed, d):
    X = np.random.RandomState(seed).normal(size=(40, d))
    distances = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    np.fill_diagonal(distances, np.inf)
    found, lengths = nearest_neighbours(X, 5)
    assert np.allclose(lengths, np.sort(distances, axis=1)[:, :5])
    assert np.allclose(np.take_along_axis(distances, found, axis=1), lengths)


def test_tied_neighbours_are_all_linked():
    grid = np.array([[float(x), float(y)] for x in range(5) for y in range(5)])
    graph = neighbour_graph(distinct_points(grid), 3)
    middle = 12
    linked = graph.neighbours[graph.starts[middle] : graph.starts[middle + 1]].tolist()
    assert linked == [7, 11, 13, 17]


@settings(max_examples=20)
@given(st.integers(0, 1000))
def test_the_graph_is_symmetric_and_heavier_where_points_are_closer(seed):
    points = distinct_points(np.random.RandomState(seed).normal(size=(60, 2)))
    graph = neighbour_graph(points, 4)
    weights = {(a, b): w for a, b, w in zip(graph.sources, graph.neighbours, graph.weights, strict=True)}
    assert all(weights[b, a] == w and a != b for (a, b), w in weights.items())
    lengths = [math.dist(points.positions[a], points.positions[b]) for a, b in weights]
    by_length = [list(weights.values())[i] for i in np.argsort(lengths)]
    assert all(first >= second for first, second in itertools.pairwise(by_length))


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ([[0, 0, 1, 1], [0, 0, 1, 1]], [0, 0, 1, 1]),
        ([[0, 1, 0, 1], [0, 0, 1, 1], [0, 1, 1, 0], [1, 1, 0, 0]], [0, 0, 1, 1]),
        ([[0, 1, 0, 1]], [0, 1, 0, 1]),
    ],
)
def test_runs_vote(answers, expected):
    assert agreed_labels(lambda number: np.array(answers[number]), len(answers)).tolist() == expected


def test_two_runs_that_agree_end_the_vote():
    calls = []

    def run(number):
        calls.append(number)
        return np.array([0, 0, 1, 1])

    agreed_labels(run, 5)
    assert calls == [0, 1]
