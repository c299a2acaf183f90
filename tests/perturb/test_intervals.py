"""1-d clustering: it ends on every kind of column, and its clusters are what the rule says."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.perturb import IntervalResampling
from sfumato.perturb.intervals.counts import positions
from sfumato.perturb.intervals.merge import merge_intervals, occupied_intervals

COLUMNS = {
    "equally spaced": np.arange(1000.0),
    "whole numbers": np.random.default_rng(0).integers(0, 50, 1000).astype(float),
    "two values": np.repeat([1.0, 7.0], 500),
    "constant": np.full(1000, 3.0),
    "one outlier": np.concatenate([np.zeros(999), [1e9]]),
    "powers": 2.0 ** np.arange(60),
}


@pytest.mark.filterwarnings("ignore::sfumato.exceptions.SfumatoWarning")
@pytest.mark.parametrize("final_merge", ["greedy", "static"])
@pytest.mark.parametrize("n_clusters", [1, 2, 24, 5000])
@pytest.mark.parametrize("name", COLUMNS)
def test_it_ends_and_stays_in_the_range(name: str, n_clusters: int, final_merge: str) -> None:
    column = COLUMNS[name][:, None]
    perturber = IntervalResampling(n_clusters, final_merge=final_merge, insecure_seed=1)
    released = perturber.fit_transform(column)
    assert released.min() >= column.min()
    assert released.max() <= column.max()
    fitted = perturber._state.fitted.columns[0]
    assert len(fitted.means) <= max(n_clusters, 1)


def slow_clusters(values: np.ndarray, n_intervals: int, n_clusters: int, final_merge: str) -> list[list[float]]:
    """The algorithm as the paper writes it, on lists."""
    low, high = values.min(), values.max()
    index = np.minimum(((values - low) / (high - low) * n_intervals).astype(int), n_intervals - 1)
    clusters = [sorted(values[index == i]) for i in sorted(set(index))]

    def distances(c):
        return [len(a) * len(b) * (np.mean(a) - np.mean(b)) ** 2 / (len(a) + len(b)) for a, b in itertools.pairwise(c)]

    while len(clusters) >= 2 * n_clusters and len(clusters) > 1:
        d = distances(clusters)
        marks = [x < np.median(d) for x in d]
        if not any(marks):
            break
        merged = [clusters[0]]
        for mark, cluster in zip(marks, clusters[1:], strict=True):
            if mark:
                merged[-1] = merged[-1] + cluster
            else:
                merged.append(cluster)
        clusters = merged
    if final_merge == "static" and len(clusters) > n_clusters:
        order = np.argsort(distances(clusters), kind="stable")[: len(clusters) - n_clusters]
        merged = [clusters[0]]
        for i, cluster in enumerate(clusters[1:]):
            if i in order:
                merged[-1] = merged[-1] + cluster
            else:
                merged.append(cluster)
        return merged
    while len(clusters) > n_clusters:
        i = int(np.argmin(distances(clusters)))
        clusters[i : i + 2] = [clusters[i] + clusters[i + 1]]
    return clusters


@given(st.integers(0, 10_000), st.integers(5, 120), st.integers(1, 8), st.sampled_from(["greedy", "static"]))
@settings(max_examples=60, deadline=None)
def test_clusters_agree_with_the_paper_written_out(seed: int, n: int, n_clusters: int, final_merge: str) -> None:
    values = np.random.default_rng(seed).normal(size=n)
    interval, place = positions(values, values.min(), values.max(), n // 2)
    counts = np.bincount(interval, minlength=n // 2)
    sums = np.bincount(interval, weights=np.rint(place * 2**30), minlength=n // 2).astype(np.int64)
    merged = merge_intervals(occupied_intervals(counts, sums), n_clusters, final_merge)
    expected = slow_clusters(values, n // 2, n_clusters, final_merge)
    assert merged.counts.tolist() == [len(cluster) for cluster in expected]


def test_draws_stay_within_the_radius_of_their_cluster() -> None:
    values = np.random.default_rng(0).normal(size=3000)
    perturber = IntervalResampling(6, insecure_seed=1)
    released = perturber.fit_transform(values[:, None]).ravel()
    fitted = perturber._state.fitted.columns[0]
    interval, _ = positions(values, fitted.low, fitted.high, len(fitted.cluster_of))
    cluster = fitted.cluster_of[interval]
    assert (np.abs(released - fitted.means[cluster]) <= fitted.radii[cluster] * (1 + 1e-12)).all()
    for c in range(6):
        assert fitted.means[c] == pytest.approx(values[cluster == c].mean(), abs=1e-6)


def test_the_cost_is_linear_in_the_rows() -> None:
    """Work is counted, not timed: intervals are capped, and each value is looked at once per pass."""
    perturber = IntervalResampling(insecure_seed=1).fit(np.random.default_rng(0).normal(size=(400_000, 1)))
    assert len(perturber._state.fitted.columns[0].cluster_of) == 32_768


def test_new_rows_outside_the_range_count_as_its_ends() -> None:
    perturber = IntervalResampling(4, min_radius=0.1, insecure_seed=1).fit(np.arange(100.0)[:, None])
    released = perturber.transform(np.array([[-50.0], [500.0]]))
    assert released[0] < 50
    assert released[1] > 50
