"""Sec, mSec, DA, MSE, PPD, HF, interval disclosure, mean shift and drift against their definitions."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from sfumato import metrics
from sfumato.exceptions import DataError, ParameterError

PAIRED = [
    metrics.variance_security,
    metrics.min_variance_security,
    metrics.anonymization_degree,
    metrics.mean_squared_error,
    metrics.privacy_protection,
    metrics.hiding_failure,
    metrics.interval_disclosure,
    metrics.interval_disclosure_by_column,
]
UNPAIRED = [metrics.mean_shift, metrics.column_drift]


@st.composite
def two_tables(draw):
    shape = draw(st.tuples(st.integers(2, 12), st.integers(1, 4)))
    cells = st.integers(-50, 50).map(float)
    x = draw(hnp.arrays(np.float64, shape, elements=cells))
    y = draw(hnp.arrays(np.float64, shape, elements=cells))
    x[0], x[1] = -51.0, 51.0  # no constant column
    return x, y


@given(two_tables())
def test_every_definition_holds_cell_by_cell(pair):
    x, y = pair
    n, d = x.shape
    security = [np.var(x[:, j] - y[:, j]) / np.var(x[:, j]) for j in range(d)]
    close = [sum(abs(x[i, j] - y[i, j]) <= 0.05 * np.std(x[:, j]) for i in range(n)) / n for j in range(d)]
    assert metrics.variance_security(x, y) == pytest.approx(security, abs=1e-12)
    assert metrics.min_variance_security(x, y) == pytest.approx(min(security), abs=1e-12)
    assert metrics.anonymization_degree(x, y) == pytest.approx(100 * sum(security), abs=1e-9)
    assert metrics.mean_squared_error(x, y) == pytest.approx(((x - y) ** 2).sum() / (n * d))
    assert metrics.privacy_protection(x, y) == pytest.approx(
        sum(math.dist(a, b) for a, b in zip(x, y, strict=True)) / n
    )
    assert metrics.hiding_failure(x, y) == sum(tuple(a) == tuple(b) for a, b in zip(x, y, strict=True)) / n
    assert metrics.interval_disclosure_by_column(x, y) == pytest.approx(close)
    assert metrics.interval_disclosure(x, y) == pytest.approx(np.mean(close))
    shift = [abs(y[:, j].mean() - x[:, j].mean()) / np.std(x[:, j]) for j in range(d)]
    assert metrics.mean_shift(x, y) == pytest.approx(shift, abs=1e-12)


@given(two_tables())
def test_drift_is_what_numpy_says_about_the_two_tables(pair):
    x, y = pair
    y[0], y[1] = 60.0, -60.0
    drift = metrics.column_drift(x, y)
    assert drift.mean == pytest.approx((y.mean(axis=0) - x.mean(axis=0)) / x.std(axis=0), abs=1e-12)
    assert drift.variance == pytest.approx(y.var(axis=0) / x.var(axis=0) - 1, abs=1e-12)
    change = np.abs(np.atleast_2d(np.corrcoef(y.T)) - np.atleast_2d(np.corrcoef(x.T)))
    np.fill_diagonal(change, 0)
    assert drift.correlation == pytest.approx(change.max(axis=1), abs=1e-12)


@given(two_tables(), st.floats(0.01, 100), st.floats(-1000, 1000))
def test_security_does_not_depend_on_the_unit(pair, factor, offset):
    x, y = pair
    plain = metrics.variance_security(x, y)
    assert metrics.variance_security(factor * x + offset, factor * y + offset) == pytest.approx(
        plain, rel=1e-6, abs=1e-9
    )


def test_security_is_blind_to_a_translation_and_mean_shift_is_not():
    x = np.array([[29, 48], [38, 72], [34, 51], [43, 65], [42, 60], [48, 53]], dtype=float)
    assert metrics.variance_security(x, x + np.array([-3, 5])) == pytest.approx([0, 0], abs=1e-28)
    assert metrics.mean_shift(x, x + np.array([-3, 5])) == pytest.approx([3, 5] / x.std(axis=0))


def test_security_survives_tiny_and_huge_units():
    x = np.array([[1.0], [2.0], [4.0]])
    for unit in (1e-300, 1e149):
        assert metrics.variance_security(unit * x, unit * x * 0.5) == pytest.approx([0.25])


def test_hiding_failure_needs_all_columns_unchanged_and_takes_a_tolerance():
    x = np.zeros((4, 2))
    y = np.array([[0, 0], [0, 1], [0.2, 0.1], [5, 5]])
    assert metrics.hiding_failure(x, y) == 0.25
    assert metrics.hiding_failure(x, y, tolerance=0.2) == 0.5


def test_wider_intervals_disclose_no_fewer_cells():
    rng = np.random.default_rng(5)
    x = rng.normal(size=(200, 3))
    y = x + 0.2 * rng.normal(size=x.shape)
    shares = [metrics.interval_disclosure(x, y, width=width) for width in (0.0, 0.05, 0.2, 1.0, 10.0)]
    assert shares == sorted(shares)
    assert shares[0] == 0
    assert shares[-1] == 1


@pytest.mark.parametrize("value", [0.1, 1 / 3, 1e9 + 0.1])
@pytest.mark.parametrize(
    "measure",
    [
        metrics.variance_security,
        metrics.min_variance_security,
        metrics.anonymization_degree,
        metrics.mean_shift,
        metrics.column_drift,
    ],
)
def test_a_constant_column_is_named_or_gets_the_stated_value(measure, value):
    frame = pd.DataFrame({"age": [1.0, 2.0, 3.0], "branch": [value] * 3})
    with pytest.raises(DataError, match="'branch'") as caught:
        measure(frame, frame * 1.5)
    assert "'age'" not in str(caught.value)
    assert "constant_value" in str(caught.value)
    stated = measure(frame, frame * 1.5, constant_value=0.0)
    numbers = stated.mean if isinstance(stated, metrics.ColumnDrift) else np.atleast_1d(stated)
    assert np.isfinite(numbers).all()


def test_the_stated_value_is_used_as_it_is():
    x = np.array([[1.0, 5.0], [3.0, 5.0]])
    assert metrics.variance_security(x, x * 0.5, constant_value=3.0) == pytest.approx([0.25, 3.0])
    assert metrics.mean_shift(x, x, constant_value=math.inf)[1] == math.inf
    with pytest.raises(ParameterError, match="NaN"):
        metrics.mean_shift(x, x, constant_value=math.nan)


def test_a_column_released_as_a_constant_lost_its_variance_and_correlations():
    x = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]])
    y = np.array([[0.0, 0.1], [1.0, 0.1], [2.0, 0.1]])
    drift = metrics.column_drift(x, y)
    assert drift.variance == pytest.approx([0, -1])
    assert drift.correlation == pytest.approx([1, 1])
    alone = metrics.column_drift(x[:, :1], y[:, 1:])
    assert alone.correlation.tolist() == [0]


def test_constant_columns_are_disclosed_exactly_when_they_are_equal():
    x = np.full((2, 1), 0.1)
    assert metrics.interval_disclosure(x, x) == 1
    assert metrics.interval_disclosure(x, x + np.array([[0.0], [1e-9]])) == 0.5


@pytest.mark.parametrize("measure", UNPAIRED)
def test_statistics_of_columns_do_not_need_aligned_rows(measure):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(30, 2))
    y = np.vstack([x, x])[rng.permutation(60)]
    found = measure(x, y)
    numbers = found if isinstance(found, np.ndarray) else np.stack([found.mean, found.variance, found.correlation])
    assert numbers == pytest.approx(np.zeros_like(numbers), abs=1e-12)


@pytest.mark.parametrize("measure", PAIRED)
def test_tables_of_different_length_are_refused(measure):
    with pytest.raises(DataError, match="3 rows, released has 2"):
        measure(np.ones((3, 2)), np.ones((2, 2)))


@pytest.mark.parametrize("measure", PAIRED + UNPAIRED)
@pytest.mark.parametrize(
    ("table", "message"),
    [
        (np.empty((0, 2)), "empty"),
        (np.empty((2, 0)), "empty"),
        (np.zeros((2, 2, 2)), "got shape"),
        ([[1.0, math.nan], [2.0, 3.0]], "1 cells are missing or infinite, the first in row 0, column 1"),
        ([[1.0, 2.0], [math.inf, 3.0]], "row 1, column 0"),
        ([["secret-name", "x"]], "not numbers"),
        (pd.DataFrame({"a": [1.0], "b": ["secret-name"]}), "not numbers"),
        (np.ma.array([[1.0, 2.0]], mask=[[True, False]]), "masked"),
        ([[1e200, 0.0]], "cannot be squared"),
        (np.array([["2020-01-01"]], dtype="datetime64[D]"), "numbers only"),
    ],
)
def test_bad_tables_are_refused_and_no_cell_is_quoted(measure, table, message):
    with pytest.raises(DataError, match=message) as caught:
        measure(table, table)
    assert "secret-name" not in str(caught.value)


@pytest.mark.parametrize("measure", PAIRED + UNPAIRED)
def test_other_columns_are_refused(measure):
    with pytest.raises(DataError, match="2 columns, released has 3"):
        measure(np.ones((2, 2)), np.ones((2, 3)))
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 5.0]})
    with pytest.raises(DataError, match="another order"):
        measure(frame, frame[["b", "a"]])


@pytest.mark.parametrize("width", [-0.1, math.nan, math.inf])
def test_impossible_widths_and_tolerances_are_refused(width):
    with pytest.raises(ParameterError, match="width"):
        metrics.interval_disclosure([[1.0]], [[1.0]], width=width)
    with pytest.raises(ParameterError, match="tolerance"):
        metrics.hiding_failure([[1.0]], [[1.0]], tolerance=width)


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_dataframes_give_the_numbers_of_their_arrays(library):
    columns = {"a": [1, 2, 4], "b": [0.5, 0.25, 0.125]}
    x = np.column_stack([columns["a"], columns["b"]])
    frame, released = library(columns), library({name: [2 * v for v in values] for name, values in columns.items()})
    assert np.array_equal(metrics.variance_security(frame, released), metrics.variance_security(x, 2 * x))
    assert metrics.privacy_protection(frame, released) == metrics.privacy_protection(x, 2 * x)
