from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.datasets import load_wine

from sfumato.auditing.utility import known
from sfumato.auditing.utility.clusterings import kmeans_from, ward_labels
from sfumato.auditing.utility.comparisons import MORE_STARTS, MOST_CHAMELEON_ROWS, luck_of, prepare_study
from sfumato.auditing.utility.luck import compare, expect
from sfumato.auditing.utility.measure import measure_utility
from sfumato.auditing.utility.optima import Optima, Table, best_of, find_optima, optima_plan
from sfumato.auditing.utility.rescaling import SCALINGS, rescaling_by
from sfumato.auditing.utility.result import estimate
from sfumato.cluster import lloyd_kmeans
from sfumato.core.plans import share_plans
from sfumato.core.sharing import shared_by
from sfumato.exceptions import DataError, MissingComponentError, ParameterError
from sfumato.metrics import adjusted_rand, misclassification_rate, variation_of_information

QUICK = {"n_init": 3, "repetitions": 2}


def blobs(n, d, k, seed=0, spread=6.0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) + spread * rng.normal(size=(k, d))[rng.integers(0, k, n)]


def z_scored(table):
    return (table - table.mean(axis=0)) / table.std(axis=0)


def whitened(table):
    centred = table - table.mean(axis=0)
    values, vectors = np.linalg.eigh(np.cov(centred, rowvar=False, bias=True))
    return centred @ vectors / np.sqrt(values)


def turn(d, seed=1):
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(d, d)))[0]


def rows_of(found, **wanted):
    rows = [row for row in found.agreements if all(getattr(row, name) == value for name, value in wanted.items())]
    assert rows, wanted
    return rows


def missed(found, **wanted):
    return [row.misclassification.mean for row in rows_of(found, **wanted)]


@pytest.fixture(scope="module")
def wine():
    return load_wine().data


@pytest.fixture(scope="module")
def wine_copy(wine):
    return measure_utility(wine, wine.copy(), n_init=10)


def test_a_copy_loses_nothing_in_any_scaling(wine_copy):
    assert wine_copy.excess_mean == 0.0
    assert wine_copy.excess_stable == 0.0
    assert wine_copy.shared_max == 0.0
    assert wine_copy.rescaled_worst == 0.0
    assert wine_copy.rescaled_shared_max == 0.0
    assert set(missed(wine_copy, clusterer="ward", start=None)) == {0.0}
    for row in rows_of(wine_copy, start="shared"):
        assert row.variation_of_information.mean == 0.0
        assert row.adjusted_rand.mean == 1.0


def test_on_wine_three_clusters_are_stable_and_others_are_not(wine_copy):
    # two clusters have optima within 0.02 % of each other in z-scores, which differ in 15 % of the rows
    floors = {(row.scaling, row.k): row.floor for row in wine_copy.excesses}
    # starts stop as scikit-learn's do, so a second run is as far from the first as a second run of it
    points = z_scored(load_wine().data)
    runs = [KMeans(3, n_init=20, random_state=seed).fit(points).labels_ for seed in range(8)]
    apart = np.mean([misclassification_rate(a, b) for a in runs[:4] for b in runs[4:]])
    assert floors["owner", 3] == pytest.approx(apart, abs=0.004)
    assert floors["range", 2] < 0.01
    assert floors["range", 3] < 0.01
    assert max(floors.values()) > 0.1
    assert 3 in wine_copy.stable_clusters
    assert 8 not in wine_copy.stable_clusters
    assert [row.k for row in rows_of(wine_copy, clusterer="k-means", scaling="owner", start="rerun")] == list(
        range(2, 9)
    )


def test_on_wine_noise_costs_more_the_more_there_is(wine):
    noise = np.random.default_rng(5).normal(size=wine.shape) * wine.std(axis=0)
    losses = [measure_utility(wine, wine + size * noise, clusters=[3], n_init=10) for size in (0.1, 1.0, 3.0)]
    assert 0.0 < losses[0].excess_mean < 0.05 < losses[1].excess_mean < losses[2].excess_mean
    assert losses[2].excess_mean > 0.4
    assert losses[0].shared_max < losses[1].shared_max < losses[2].shared_max


def test_the_named_clustering_of_wine_is_the_best_that_k_means_finds(wine):
    points = z_scored(wine)
    best = KMeans(3, n_init=50, random_state=1, tol=0).fit(points)
    found = find_optima(points, 3, 20, (0, 1))
    assert misclassification_rate(best.labels_, found.labels[0]) == 0.0
    again = kmeans_from(points, found.centres[0])
    assert np.array_equal(again.labels, found.labels[0])


def test_independent_noise_misclassifies_most_rows():
    table = blobs(600, 4, 4)
    noise = np.random.default_rng(9).normal(size=table.shape)
    found = measure_utility(table, noise, clusters=[4], **QUICK)
    assert min(missed(found, clusterer="k-means", start="free")) > 0.4
    assert found.excess_mean > 0.4
    assert found.rescaled_worst > 0.4
    assert found.shared_max > 0.4
    assert abs(rows_of(found, start="free")[0].adjusted_rand.mean) < 0.1


def test_a_rotation_costs_a_free_miner_nothing_but_the_named_centres_do_not_turn_with_it():
    # In the owner's scaling z-scored rows stay as they are, so that all distances of the release are the
    # original ones: best of the same starts, same clusters. Shared starts are points of the unturned space.
    table = z_scored(blobs(500, 5, 6))
    found = measure_utility(table, table @ turn(5), clusters=range(2, 7), n_init=5, repetitions=2)
    assert found.excess_mean <= 0.01
    assert max(missed(found, clusterer="ward", start=None)) == 0.0
    assert found.shared_max > 0.1


def test_a_rotation_of_white_rows_survives_the_miners_z_scoring_too():
    table = whitened(blobs(500, 4, 4))
    found = measure_utility(table, table @ turn(4), clusters=[3, 4], n_init=5, repetitions=2)
    assert max(row.excess for row in found.excesses if row.scaling in {"owner", "std"}) <= 0.01


def test_a_contraction_is_invisible_after_the_miners_own_rescaling():
    table = blobs(300, 3, 3)
    found = measure_utility(table, 5.0 + 0.25 * table, clusters=[2, 3], **QUICK)
    assert found.rescaled_worst == 0.0
    assert found.rescaled_shared_max == 0.0


def test_the_named_clustering_is_of_the_original_in_the_same_kind_of_scaling():
    # column 0 has two far groups and wins after z-scoring; column 1 is even, and wins after min-max scaling
    rng = np.random.default_rng(3)
    outlier = np.where(np.arange(400) == 0, 60.0, 0.0)
    table = np.column_stack([rng.choice([-1.0, 1.0], 400) + 0.1 * rng.normal(size=400) + outlier, rng.random(400)])
    found = measure_utility(table, table.copy(), clusters=[2], **QUICK)
    by_std, by_range = (
        find_optima(rescaling_by(table, kind).apply(table), 2, 3, (0, 1)).labels[0] for kind in ("std", "range")
    )
    assert misclassification_rate(by_std, by_range) > 0.1
    assert missed(found, start="shared", k=2) == [0.0, 0.0, 0.0]
    assert {row.excess for row in found.excesses} == {0.0}


def test_the_floor_is_above_zero_where_k_means_is_unstable():
    even = np.random.default_rng(2).random((400, 6))
    found = measure_utility(even, even.copy(), clusters=[7], n_init=1, repetitions=4, scalings=["owner"])
    (row,) = found.excesses
    assert row.floor > 0.05
    assert row.excess == 0.0
    assert found.excess_stable is None
    (rerun,) = rows_of(found, clusterer="k-means", start="rerun")
    assert rerun.misclassification.low < rerun.misclassification.mean < rerun.misclassification.high


def test_excess_is_the_release_less_the_floor_and_never_negative():
    table = blobs(300, 4, 3, spread=1.5)
    found = measure_utility(table, table + np.random.default_rng(0).normal(size=table.shape), n_init=2, repetitions=3)
    for row in found.excesses:
        wanted = {"k": row.k, "scaling": row.scaling}
        assert row.release == pytest.approx(missed(found, start="free", **wanted)[0])
        assert row.floor == pytest.approx(missed(found, start="rerun", **wanted)[0])
        assert row.excess == pytest.approx(max(0.0, row.release - row.floor))
        assert row.difference_low <= row.release - row.floor <= row.difference_high
    owner = [row.excess for row in found.excesses if row.scaling == "owner"]
    assert found.excess_mean == pytest.approx(np.mean(owner))
    assert found.shared_max == max(missed(found, start="shared", scaling="owner"))
    assert found.rescaled_worst == pytest.approx(
        max(np.mean([row.excess for row in found.excesses if row.scaling == name]) for name in ("std", "range"))
    )


def test_a_projection_has_no_shared_starts_and_says_why():
    table = blobs(300, 6, 3)
    found = measure_utility(table, table @ turn(6)[:, :3], clusters=[3], **QUICK)
    assert (found.columns, found.released_columns, found.headline_scaling) == (6, 3, "none")
    assert found.excess_mean is not None
    assert found.rescaled_worst is not None
    assert found.shared_max is None
    assert found.rescaled_shared_max is None
    without = [*rows_of(found, start="shared"), *rows_of(found, scaling="owner")]
    assert all(row.misclassification is None and "columns" in row.reason for row in without)
    assert any("shared starts" in note for note in found.notes)
    assert all(row.misclassification is not None for row in rows_of(found, start="free", scaling="none"))


def test_a_projection_that_keeps_all_distances_loses_nothing_unscaled():
    table = blobs(300, 4, 3)
    wider = np.column_stack([table @ turn(4), np.zeros(300)])
    found = measure_utility(table, wider, clusters=[2, 3], **QUICK)
    assert found.excess_mean == 0.0
    assert found.headline_scaling == "none"


def test_renamed_columns_can_be_declared_although_there_are_as_many():
    table = blobs(100, 3, 2)
    found = measure_utility(table, table @ turn(3), clusters=[2], same_columns=False, **QUICK)
    assert found.shared_max is None
    assert found.excess_mean == 0.0


def test_constant_columns_are_no_trouble():
    table = blobs(200, 3, 3)
    before = np.column_stack([table, np.full(200, 0.1)])
    after = np.column_stack([np.full(200, 7.0), table[:, 1:], np.full(200, 0.1)])
    found = measure_utility(before, after, clusters=[2, 3], **QUICK)
    json.dumps(found.to_data(), allow_nan=False)
    assert found.excess_mean > 0.0
    same = measure_utility(before, before.copy(), clusters=[2, 3], **QUICK)
    assert (same.excess_mean, same.shared_max, same.rescaled_worst) == (0.0, 0.0, 0.0)


def test_a_release_of_one_repeated_row_is_measured_as_one_cluster():
    table = blobs(100, 2, 4, spread=20.0)
    found = measure_utility(table, np.full((100, 2), 3.0), clusters=[4], **QUICK)
    largest = np.bincount(find_optima(z_scored(table), 4, 3, (0, 1)).labels[0]).max()
    assert missed(found, start="free", scaling="owner")[0] >= 1.0 - (largest + 4) / 100


def test_five_rows_measure_what_they_can_and_say_what_they_cannot():
    table = np.array([[0.0, 1.0], [0.1, 1.1], [5.0, 0.0], [5.1, 0.2], [9.0, 9.0]])
    found = measure_utility(table, table + 0.01, **QUICK)
    assert sorted({row.k for row in found.excesses}) == [2, 3, 4]
    assert len(found.notes) == 4
    assert all("5 distinct" in note for note in found.notes)
    assert found.shared_max == 0.0


@pytest.mark.parametrize("n", [1, 2])
def test_a_table_too_small_for_any_clustering_has_no_figures(n):
    found = measure_utility(np.ones((n, 2)), np.ones((n, 2)), **QUICK)
    assert found.agreements == ()
    assert (found.excess_mean, found.shared_max, found.rescaled_worst, found.excess_stable) == (None,) * 4
    assert len(found.notes) == 7


def test_equal_rows_count_once():
    table = np.repeat([[0.0], [1.0], [5.0]], 30, axis=0)
    found = measure_utility(table, table + 0.0, clusters=[2, 3], **QUICK)
    assert {row.k for row in found.excesses} == {2}
    assert "3 distinct" in found.notes[0]


def test_the_same_seed_gives_the_same_result_and_another_another_one():
    even = np.random.default_rng(2).random((300, 5))
    noisy = even + 0.2 * np.random.default_rng(3).normal(size=even.shape)
    first, second, other = (
        measure_utility(even, noisy, clusters=[4, 6], n_init=2, repetitions=3, seed=seed) for seed in (4, 4, 5)
    )
    assert first == second
    assert first.excesses != other.excesses


def test_any_number_of_threads_gives_the_same_figures():
    table = blobs(300, 3, 4, spread=1.0)
    noisy = table + 0.5 * np.random.default_rng(3).normal(size=table.shape)
    found = []
    for cores in (1, 3):
        known._known.clear()
        with shared_by(cores):
            found.append(measure_utility(table, noisy, clusters=[2, 3, 4], **QUICK))
    assert found[0] == found[1]


def test_the_order_of_the_rows_hardly_matters():
    table = blobs(400, 3, 3)
    noisy = table + 0.3 * np.random.default_rng(3).normal(size=table.shape)
    order = np.random.default_rng(4).permutation(400)
    found, shuffled = (
        measure_utility(a, b, clusters=[2, 3], **QUICK) for a, b in ((table, noisy), (table[order], noisy[order]))
    )
    assert found.shared_max == pytest.approx(shuffled.shared_max, abs=0.01)


def test_large_tables_are_measured_on_a_stated_sample():
    table = blobs(3000, 3, 3)
    found = measure_utility(table, table.copy(), clusters=[3], max_rows=500, ward_rows=100, **QUICK)
    assert (found.rows, found.rows_measured, found.tree_rows) == (3000, 500, 100)
    assert "500 of 3000 rows" in found.notes[-1]
    assert {row.rows for row in rows_of(found, clusterer="k-means")} == {500}
    assert {row.rows for row in rows_of(found, clusterer="ward")} == {100}
    assert found.excess_mean == 0.0


def test_a_sample_is_scaled_by_the_statistics_of_the_whole_table():
    table = blobs(2000, 2, 2)
    table[:, 1] *= 1000.0
    moved = table + np.array([0.0, 900.0])
    whole = measure_utility(table, moved, clusters=[2], **QUICK)
    sample = measure_utility(table, moved, clusters=[2], max_rows=1000, **QUICK)
    assert sample.excess_mean == pytest.approx(whole.excess_mean, abs=0.02)


def test_starts_on_all_rows_find_a_small_cluster_far_out():
    table = blobs(12_000, 5, 6, spread=3.0)
    table[:8] = 60.0 + np.arange(40.0).reshape(8, 5)  # a cluster that hardly any sample of 3,000 rows would hold
    points = z_scored(table)
    best = KMeans(7, n_init=10, random_state=0, tol=0).fit(points)
    found = find_optima(points, 7, 6, (0, 1))
    assert found.costs[0] <= (1 + 1e-4) * best.inertia_
    assert misclassification_rate(found.labels[0], best.labels_) < 0.01
    told = measure_utility(table, table.copy(), clusters=[2], ward_rows=50, scalings=["owner"], **QUICK)
    assert (told.excess_mean, told.shared_max) == (0.0, 0.0)


def test_more_starts_go_on_from_those_that_were_made():
    table = Table(z_scored(blobs(400, 3, 5, spread=1.0)))
    first = share_plans([optima_plan(table, 4, 6, (0, 1))])[0]
    more = share_plans([optima_plan(table, 4, 15, (0, 1), begun=first)])[0]
    whole = find_optima(table.points, 4, 15, (0, 1))
    assert more.prices == pytest.approx(whole.prices)
    assert (more.starts, more.hits.sum()) == (15, 30)
    assert len(more.labels) == len(whole.labels)


def heavy(n=21_000):
    """Return a correlated cloud with heavy tails, on which the best optima of k-means are rare."""
    draw = np.random.default_rng(1)
    table = draw.standard_t(3, size=(n, 4)) @ (np.eye(4) + 0.4 * draw.normal(size=(4, 4)))
    return table, table + 0.15 * table.std(axis=0) * draw.normal(size=table.shape)


def test_the_headline_of_a_large_table_does_not_hang_on_the_seed_and_is_scikit_learns():
    table, noisy = heavy()
    options = {"clusters": [3, 5], "scalings": ["owner"], "ward_rows": 50}
    means = [measure_utility(table, noisy, **options, seed=seed).excess_mean for seed in range(4)]
    assert np.std(means, ddof=1) < 0.005
    middle, spread = table.mean(axis=0), table.std(axis=0)
    lost = []
    for k in (3, 5):
        one, two, other = (
            [KMeans(k, n_init=20, random_state=seed).fit((t - middle) / spread).labels_ for seed in seeds]
            for t, seeds in ((table, range(3)), (table, range(3, 6)), (noisy, range(6, 9)))
        )
        floor = np.mean([misclassification_rate(a, b) for a in one for b in two])
        lost.append(np.mean([misclassification_rate(a, b) for a in (*one, *two) for b in other]) - floor)
    assert np.mean(means) == pytest.approx(np.mean(lost), abs=0.005)


def test_another_seed_lies_in_the_interval_where_optima_are_rare():
    table = blobs(800, 4, 5, spread=1.0)
    noisy = table + 0.3 * np.random.default_rng(3).normal(size=table.shape)
    options = {"clusters": [3, 4], "scalings": ["owner"], "ward_rows": 50}
    found = [measure_utility(table, noisy, **options, seed=seed) for seed in range(4)]
    inside = [a.excess_low <= b.excess_mean <= a.excess_high for a in found for b in found if a is not b]
    assert np.mean(inside) >= 0.8  # of twelve; 95 of 100 are meant
    assert np.std([one.excess_mean for one in found], ddof=1) < 0.02


def test_a_miner_is_expected_to_find_what_the_best_of_twenty_starts_is():
    points = blobs(300, 3, 5, spread=1.0)
    runs = [KMeans(6, n_init=20, random_state=seed).fit(points).labels_ for seed in range(12)]
    often = np.mean([misclassification_rate(a, b) for a in runs[:6] for b in runs[6:]])
    found = find_optima(points, 6, 60, (0, 1))
    assert expect(found, found, 20).floor[0].mean == pytest.approx(often, abs=0.06)
    assert expect(found, found, 20).difference.mean == pytest.approx(0.0, abs=1e-12)


def test_rare_optima_are_found_as_often_as_tries_allow():
    chances = best_of(np.array([0] * 2 + [1] * 38), 2, 20)
    assert chances[0] == pytest.approx(1 - (1 - 2 / 40) ** 20)
    assert chances.sum() == pytest.approx(1.0)
    near = best_of(np.array([0, 1] * 20), 2, 20)  # runs that end here and there cost what those of the other do
    assert near[0] == pytest.approx(0.62, abs=0.02)


def test_the_floor_does_not_take_one_run_for_two():
    # every start ends elsewhere: a second run finds something else, and so does a run on the same table released
    labels = tuple(np.random.default_rng(seed).integers(0, 2, 400) for seed in range(4))
    found = Optima(labels, (np.zeros((2, 1)),) * 4, np.ones(4), np.array([[0, 1], [2, 3]]), np.ones((2, 2)))
    told = expect(found, found, 1)
    assert told.floor[0].mean > 0.3
    assert told.difference.mean == 0.0


@given(st.integers(0, 10_000), st.integers(2, 6), st.integers(2, 6))
@settings(max_examples=25, deadline=None)
def test_agreement_from_counts_is_that_of_the_metrics(seed, k, other):
    rng = np.random.default_rng(seed)
    one, two = rng.integers(0, k, 60), rng.integers(0, other, 60)
    wanted = (misclassification_rate(one, two), variation_of_information(one, two), adjusted_rand(one, two))
    assert compare(one, two) == pytest.approx(wanted, abs=1e-12)


@given(st.integers(0, 10_000), st.integers(2, 5))
@settings(max_examples=25, deadline=None)
def test_shared_starts_agree_with_our_own_lloyd(seed, k):
    points = blobs(150, 3, k, seed=seed, spread=3.0)
    start = points[:k]
    ours, theirs = lloyd_kmeans(points, start, max_iter=1000), kmeans_from(points, start)
    if len(np.unique(ours.labels)) == k:  # scikit-learn moves the centre of an empty cluster, ours waits
        assert misclassification_rate(ours.labels, theirs.labels) == 0.0


@given(st.integers(0, 10_000), st.integers(1, 30), st.sampled_from(["ties", "free"]))
@settings(max_examples=40, deadline=None)
def test_wards_tree_is_cut_into_as_many_clusters_as_asked_and_cuts_are_nested(seed, n, kind):
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 3, (n, 2)).astype(float) if kind == "ties" else rng.normal(size=(n, 2))
    if n == 1:
        points = np.vstack([points, points])
    cuts = ward_labels(points, range(1, len(points) + 1))
    for k, labels in cuts.items():
        assert len(np.unique(labels)) == k
        if k > 1:
            pairs = set(zip(labels.tolist(), cuts[k - 1].tolist(), strict=True))
            assert len(pairs) == k


@given(st.integers(0, 10_000), st.sampled_from(["std", "range", "none"]), st.floats(-140, 140))
@settings(max_examples=50, deadline=None)
def test_every_scaling_is_finite_and_undoes_units(seed, kind, exponent):
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(20, 2)) * 10.0**exponent
    scaled = rescaling_by(table, kind).apply(table)
    assert np.isfinite(scaled).all()
    if kind == "std":
        assert np.allclose(scaled.std(axis=0), 1.0)
        assert np.allclose(scaled.mean(axis=0), 0.0, atol=1e-9)
    if kind == "range":
        assert np.allclose([scaled.min(axis=0), scaled.max(axis=0)], [[0, 0], [1, 1]])


@pytest.mark.parametrize("size", [1e-300, 1e300, 1.7e308])
def test_extreme_values_give_finite_figures(size):
    table = z_scored(blobs(60, 2, 2))
    table *= size / np.abs(table).max()
    for before, after in ((table, table.copy()), (z_scored(blobs(60, 2, 2)), table), (table, z_scored(table / size))):
        found = measure_utility(before, after, clusters=[2], **QUICK)
        json.dumps(found.to_data(), allow_nan=False)


def test_the_result_is_plain_data():
    table = blobs(80, 2, 2)
    data = measure_utility(table, table + 1.0, clusters=[2], **QUICK).to_data()

    def plain(value):
        if isinstance(value, dict):
            return all(isinstance(key, str) and plain(item) for key, item in value.items())
        if isinstance(value, tuple):
            return all(map(plain, value))
        return value is None or type(value) in {str, int, float}

    assert plain(data)
    assert {row["scaling"] for row in data["agreements"]} <= set(SCALINGS)
    json.dumps(data, allow_nan=False)


def test_progress_is_told_up_to_the_end():
    table, told = blobs(80, 2, 2), []
    measure_utility(table, table, clusters=[2, 3], progress=lambda text, share: told.append((text, share)), **QUICK)
    shares = [share for _, share in told]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert any("k-means" in text for text, _ in told)


def test_an_error_in_progress_ends_the_measurement():
    class StoppedError(Exception):
        pass

    def stop(text, share):
        raise StoppedError

    with pytest.raises(StoppedError):
        measure_utility(blobs(80, 2, 2), blobs(80, 2, 2), progress=stop, **QUICK)


def test_chameleon_runs_on_request_and_agrees_on_a_copy():
    table = blobs(150, 2, 2, spread=30.0)
    found = measure_utility(table, table.copy(), clusters=[2], chameleon=True, **QUICK)
    (row,) = rows_of(found, clusterer="chameleon", start=None)
    assert row.misclassification.mean == 0.0
    assert rows_of(found, clusterer="chameleon", start="rerun")[0].misclassification.mean < 0.05
    assert row.rows == min(150, MOST_CHAMELEON_ROWS)
    without = measure_utility(table, table.copy(), clusters=[2], **QUICK)
    assert all(row.clusterer != "chameleon" for row in without.agreements)


def test_chameleon_without_its_library_does_not_apply(monkeypatch):
    def missing(*arguments):
        raise MissingComponentError("no METIS here")

    monkeypatch.setattr("sfumato.auditing.utility.comparisons.chameleon_labels", missing)
    table = blobs(60, 2, 2)
    found = measure_utility(table, table, clusters=[2], chameleon=True, **QUICK)
    (row,) = rows_of(found, clusterer="chameleon")
    assert row.misclassification is None
    assert row.reason == "no METIS here"


def test_intervals_of_equal_repetitions_have_no_width_and_of_one_there_is_none():
    assert (estimate([0.25, 0.25]).low, estimate([0.25, 0.25]).high) == (0.25, 0.25)
    assert estimate([0.25]).low is None
    assert estimate([0.0, 1.0], 0.0, 1.0).high == 1.0
    found = estimate([1.0, 2.0, 3.0, 4.0, 5.0])  # t(4, 0.975) = 2.7764
    assert found.high == pytest.approx(3.0 + 2.7764 * math.sqrt(2.5 / 5), abs=1e-3)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_missing_and_infinite_values_are_refused_with_their_row(bad):
    table = blobs(20, 2, 2)
    broken = table.copy()
    broken[7, 1] = bad
    with pytest.raises(DataError, match="released: 1 cells are missing or infinite, the first in row 7"):
        measure_utility(table, broken)
    with pytest.raises(DataError, match="original"):
        measure_utility(broken, table)


@pytest.mark.parametrize(
    ("original", "released"),
    [
        (np.ones((3, 2)), np.ones((4, 2))),
        (np.ones((0, 2)), np.ones((0, 2))),
        (np.ones(3), np.ones(3)),
        ([["a"]], [[1.0]]),
    ],
)
def test_tables_that_do_not_fit_are_refused(original, released):
    with pytest.raises(DataError):
        measure_utility(original, released)


@pytest.mark.parametrize(
    "wrong",
    [
        {"clusters": []},
        {"clusters": [1]},
        {"clusters": [2.5]},
        {"n_init": 0},
        {"repetitions": 0},
        {"max_rows": 0},
        {"ward_rows": 0},
        {"seed": -1},
        {"scalings": ["z"]},
        {"scalings": []},
        {"scalings": ["owner"], "same_columns": False},
    ],
)
def test_parameters_out_of_range_are_refused(wrong):
    with pytest.raises(ParameterError):
        measure_utility(blobs(20, 2, 2), blobs(20, 2, 2), **wrong)


def test_headlines_of_large_tables_take_more_starts_only_where_what_is_found_is_luck() -> None:
    draw = np.random.default_rng(3)
    even, sure = draw.uniform(size=(3_500, 2)), draw.normal(size=(3_500, 2)) + 9.0 * (np.arange(3_500) % 2)[:, None]
    for table, k, times in ((even, 5, MORE_STARTS), (sure, 2, 1)):
        noisy = table + 0.05 * draw.normal(size=table.shape)
        study = prepare_study(table, noisy, np.arange(3_500), ["owner", "range"], True, 3, 4, 0)
        assert luck_of(study, "owner", k)[1].starts == 4 * times
        assert luck_of(study, "range", k)[1].starts == 2
