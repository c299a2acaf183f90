from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score

from sfumato import metrics
from sfumato.exceptions import DataError


@st.composite
def two_labellings(draw, largest=4):
    n = draw(st.integers(1, 25))
    labels = st.lists(st.integers(-1, largest - 2), min_size=n, max_size=n)
    return np.array(draw(labels)), np.array(draw(labels))


def misclassification_by_trying_every_matching(a, b):
    names_a, names_b = sorted(set(a)), sorted(set(b))
    if len(names_a) > len(names_b):
        return misclassification_by_trying_every_matching(b, a)
    stayed = (
        sum(np.sum((a == p) & (b == q)) for p, q in zip(names_a, matching, strict=True))
        for matching in itertools.permutations(names_b, len(names_a))
    )
    return 1 - max(stayed) / len(a)


def entropy(*labellings):
    n = len(labellings[0])
    _, counts = np.unique(np.column_stack(labellings), axis=0, return_counts=True)
    return -sum(c / n * math.log2(c / n) for c in counts)


@given(two_labellings())
def test_misclassification_is_the_best_of_all_matchings(pair):
    assert metrics.misclassification_rate(*pair) == pytest.approx(misclassification_by_trying_every_matching(*pair))


@given(two_labellings())
def test_variation_of_information_is_twice_the_joint_entropy_less_both(pair):
    a, b = pair
    expected = 2 * entropy(a, b) - entropy(a) - entropy(b)
    assert metrics.variation_of_information(a, b) == pytest.approx(expected, abs=1e-12)


@given(two_labellings())
def test_variation_of_information_is_within_its_bounds(pair):
    a, b = pair
    found = metrics.variation_of_information(a, b)
    k = max(len(set(a)), len(set(b)))
    assert 0 <= found <= min(math.log2(len(a)), 2 * math.log2(k)) + 1e-12


@given(two_labellings(largest=3), st.integers(0, 2**32 - 1))
def test_variation_of_information_obeys_the_triangle_inequality(pair, seed):
    a, b = pair
    c = np.random.default_rng(seed).integers(0, 3, len(a))
    direct = metrics.variation_of_information(a, b)
    assert direct <= metrics.variation_of_information(a, c) + metrics.variation_of_information(c, b) + 1e-12


@pytest.mark.parametrize("measure", [metrics.misclassification_rate, metrics.variation_of_information])
@given(pair=two_labellings())
def test_both_directions_and_any_names_give_the_same_number(measure, pair):
    a, b = pair
    renamed = np.array([f"cluster {7 - label}" for label in b])
    assert measure(a, b) == pytest.approx(measure(b, a))
    assert measure(a, b) == pytest.approx(measure(a, renamed))
    assert measure(a, a) == 0


@given(two_labellings())
def test_chance_corrected_scores_are_those_of_scikit_learn(pair):
    assert metrics.adjusted_rand(*pair) == adjusted_rand_score(*pair)
    assert metrics.adjusted_mutual_information(*pair) == adjusted_mutual_info_score(*pair)


def test_chance_corrected_scores_are_quiet_about_many_small_clusters():
    everybody_alone = np.arange(60)
    assert metrics.adjusted_rand(everybody_alone, everybody_alone) == 1
    assert metrics.adjusted_mutual_information(everybody_alone, everybody_alone) == pytest.approx(1)


def test_rows_of_a_cluster_without_partner_are_misclassified():
    before = [0] * 6
    after = [0, 0, 0, 1, 1, 2]
    assert metrics.misclassification_rate(before, after) == 0.5
    assert metrics.misclassification_rate(after, before) == 0.5


def test_empty_clusters_leave_no_trace():
    assert metrics.misclassification_rate([0, 0, 9, 9], [5, 5, 2, 2]) == 0
    assert metrics.variation_of_information([0, 0, 9, 9], [5, 5, 2, 2]) == 0


def test_columns_of_measurements_are_not_matched_as_labels():
    with pytest.raises(DataError, match="6000 clusters"):
        metrics.misclassification_rate(np.arange(6000), np.arange(6000))


@pytest.mark.parametrize(
    "measure",
    [
        metrics.misclassification_rate,
        metrics.variation_of_information,
        metrics.adjusted_rand,
        metrics.adjusted_mutual_information,
    ],
)
@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ([0, 1], [0, 1, 1], "2 labels, after has 3"),
        ([], [], "no labels"),
        ([[0, 1]], [0, 1], "one label for each row"),
        ([0.5, 1.0], [0, 1], "whole numbers or strings"),
        ([0, float("nan")], [0, 1], "whole numbers or strings"),
        ([None, "a"], [0, 1], "mix strings"),
        ([None, None], [0, 1], "whole numbers or strings"),
        (np.array([1, "1"], dtype=object), [0, 1], "mix strings"),
        (np.ma.array([0, 1], mask=[True, False]), [0, 1], "masked"),
    ],
)
def test_bad_labels_are_refused_with_the_reason(measure, before, after, message):
    with pytest.raises(DataError, match=message):
        measure(before, after)


@pytest.mark.parametrize(
    "labels",
    [
        np.array([False, True, True]),
        np.array([0.0, 1.0, 1.0]),
        np.array(["a", "b", "b"], dtype=object),
        pd.Series(["a", "b", "b"]),
        pl.Series(["a", "b", "b"]),
        np.array([b"a", b"b", b"b"]),
        np.array([3, 7, 7], dtype=object),
    ],
)
def test_every_kind_of_label_works(labels):
    assert metrics.misclassification_rate(labels, [0, 1, 1]) == 0
