from __future__ import annotations

import tracemalloc
from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato import metrics
from sfumato.exceptions import DataError, ParameterError

rows_and_values = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 1), st.integers(-2, 2)), min_size=1, max_size=25
).map(np.array)


def sizes_by_counting(rows):
    counts = Counter(map(tuple, rows))
    return [counts[tuple(row)] for row in rows]


def farthest_class(rows, values, distance):
    domain = sorted(set(values))
    overall = np.array([np.mean(values == value) for value in domain])
    found = []
    for key in set(map(tuple, rows)):
        members = values[[tuple(row) == key for row in rows]]
        found.append(distance(np.array([np.mean(members == value) for value in domain]) - overall))
    return max(found)


def earth_movers_distance_of_ranks(difference):
    return np.abs(np.cumsum(difference)).sum() / max(1, len(difference) - 1)


def total_variation(difference):
    return np.abs(difference).sum() / 2


@given(rows_and_values)
def test_class_sizes_are_counts_of_equal_rows(table):
    assert metrics.equivalence_class_sizes(table).tolist() == sizes_by_counting(table)


@given(rows_and_values)
def test_numeric_closeness_is_the_earth_movers_distance_of_ranks(table):
    rows, values = table[:, :2], table[:, 2]
    expected = farthest_class(rows, values, earth_movers_distance_of_ranks)
    assert metrics.t_closeness(rows, values) == pytest.approx(expected, abs=1e-12)


@given(rows_and_values)
def test_categorical_closeness_is_the_total_variation_distance(table):
    rows, values = table[:, :2], table[:, 2]
    expected = farthest_class(rows, values, total_variation)
    assert metrics.t_closeness(rows, values, kind="categorical") == pytest.approx(expected, abs=1e-12)
    assert metrics.t_closeness(rows, [f"v{v}" for v in values]) == pytest.approx(expected, abs=1e-12)


@given(rows_and_values)
def test_only_the_ranks_of_the_sensitive_numbers_count(table):
    rows, values = table[:, :2], table[:, 2]
    assert metrics.t_closeness(rows, np.exp(values)) == pytest.approx(metrics.t_closeness(rows, values), abs=1e-12)


@pytest.mark.parametrize("kind", ["numeric", "categorical"])
def test_one_class_or_one_sensitive_value_has_nothing_to_give_away(kind):
    assert metrics.t_closeness([1, 1, 1], [4, 5, 6], kind=kind) == 0
    assert metrics.t_closeness([1, 2, 3], [4, 4, 4], kind=kind) == 0


def test_opposite_ends_of_the_scale_are_at_distance_one_half():
    assert metrics.t_closeness([0, 0, 1, 1], [10, 10, 99, 99]) == 0.5


def test_values_rarer_in_a_class_than_in_the_table_do_not_count_twice():
    assert metrics.t_closeness([0, 0, 1, 1], ["a", "b", "b", "b"]) == 0.25


def test_mixed_columns_and_missing_cells_form_classes():
    frame = pd.DataFrame({"city": ["a", "a", None, None, "b"], "age": [1.0, 1.0, np.nan, np.nan, 1.0]})
    assert metrics.equivalence_class_sizes(frame).tolist() == [2, 2, 2, 2, 1]
    nullable = pd.DataFrame({"age": pd.array([1, None, None], dtype="Int64")})
    assert metrics.equivalence_class_sizes(nullable).tolist() == [1, 2, 2]
    assert metrics.equivalence_class_sizes([[0.0], [-0.0], [np.nan], [np.nan]]).tolist() == [2, 2, 2, 2]
    mixed = pl.DataFrame({"city": ["a", "a", "b"], "age": [1, 1, 1]})
    assert metrics.equivalence_class_sizes(mixed).tolist() == [2, 2, 1]


def test_many_columns_do_not_overflow_the_codes():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(300, 40))
    table[200:] = table[:100]
    assert metrics.equivalence_class_sizes(table).tolist() == [2] * 100 + [1] * 100 + [2] * 100


def test_closeness_needs_no_matrix_of_classes_by_values():
    n = 6000
    everybody_alone, values = np.arange(n), np.random.default_rng(1).permutation(n)
    tracemalloc.start()
    try:
        found = metrics.t_closeness(everybody_alone, values)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # The person with the lowest value: every rank i of n is (n - 1 - i) / n away, over n - 1 steps.
    assert found == pytest.approx(0.5)
    assert peak < n * n * 8 / 20


def test_bad_input_is_refused_with_the_reason():
    with pytest.raises(DataError, match="2 values for 3 released rows"):
        metrics.t_closeness([1, 2, 3], [1, 2])
    with pytest.raises(DataError, match="one column"):
        metrics.t_closeness([1, 2], [[1], [2]])
    with pytest.raises(DataError, match="missing or infinite"):
        metrics.t_closeness([1, 2], [1.0, np.nan])
    with pytest.raises(DataError, match="shape"):
        metrics.equivalence_class_sizes(np.empty((0, 3)))
    with pytest.raises(DataError, match="shape"):
        metrics.equivalence_class_sizes(np.empty((3, 0)))
    with pytest.raises(ParameterError, match="'numeric'"):
        metrics.t_closeness([1, 2], [1, 2], kind="ordinal")  # type: ignore[arg-type]
