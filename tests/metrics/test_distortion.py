from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from sfumato import metrics
from sfumato.exceptions import DataError


@st.composite
def two_sets_of_centres(draw):
    d = draw(st.integers(1, 3))
    cells = st.integers(-20, 20).map(float)
    sizes = draw(st.tuples(st.integers(1, 6), st.integers(1, 6)))
    return tuple(draw(hnp.arrays(np.float64, (k, d), elements=cells)) for k in sizes)


@given(two_sets_of_centres())
def test_each_original_centre_is_matched_with_its_nearest_also_with_unequal_numbers(centres):
    before, after = centres
    expected = np.mean([min(math.dist(a, b) for b in after) for a in before])
    assert metrics.information_loss(before, after) == pytest.approx(expected)


@given(two_sets_of_centres())
def test_nearest_rows_finds_a_row_at_the_smallest_distance(tables):
    rows, candidates = tables
    distances, positions = metrics.nearest_rows(rows, candidates)
    assert distances == pytest.approx([min(math.dist(a, b) for b in candidates) for a in rows])
    assert distances == pytest.approx([math.dist(a, candidates[p]) for a, p in zip(rows, positions, strict=True)])


def test_matching_is_not_exclusive():
    assert metrics.information_loss([[0.0], [2.0]], [[1.0], [100.0]]) == 1.0


def test_the_comprehensive_index_is_protection_over_loss():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(40, 3))
    y = x + rng.normal(size=x.shape)
    before, after = x[:4], y[:5]
    ratio = metrics.privacy_protection(x, y) / metrics.information_loss(before, after)
    assert metrics.comprehensive_index(x, y, before, after) == pytest.approx(ratio)


@pytest.mark.parametrize("centre", [0.0, 1e-320])
def test_the_comprehensive_index_is_infinite_when_no_centre_moved(centre):
    x = np.array([[0.0], [1.0]])
    assert metrics.comprehensive_index(x, x + 1, [[0.0]], [[centre]]) == math.inf


@pytest.mark.parametrize("moved", [0.0, 3.0])
def test_a_table_published_as_it_is_scores_zero_wherever_the_centres_are(moved):
    x = np.array([[0.0], [1.0]])
    assert metrics.comprehensive_index(x, x, [[0.5]], [[0.5 + moved]]) == 0


def test_centres_of_empty_clusters_and_other_columns_are_refused():
    with pytest.raises(DataError, match="released_centres: 1 cells are missing"):
        metrics.information_loss([[0.0]], [[math.nan]])
    with pytest.raises(DataError, match="2 columns, released centres have 1"):
        metrics.information_loss([[0.0, 1.0]], [[1.0]])
    with pytest.raises(DataError, match="original has 1 columns"):
        metrics.comprehensive_index([[0.0]], [[1.0]], [[0.0, 1.0]], [[0.0, 1.0]])
    with pytest.raises(DataError, match="candidates have 1"):
        metrics.nearest_rows([[0.0, 1.0]], [[1.0]])
    with pytest.raises(DataError, match="original_centres: the table is empty"):
        metrics.information_loss(np.empty((0, 2)), [[0.0, 1.0]])
