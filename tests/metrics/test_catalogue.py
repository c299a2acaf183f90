"""Promises that every metric keeps, walked through the catalogue: a new row is tested at once."""

from __future__ import annotations

import dataclasses
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato import metrics

ROWS = metrics.catalogue()


def arguments_for(row, seed, n=30, d=3):
    rng = np.random.default_rng(seed)
    made = {
        "table": lambda: rng.normal(size=(n, d)).round(1),
        "labels": lambda: np.concatenate([[0, 1], rng.integers(0, 4, n - 2)]),
        "centres": lambda: rng.normal(size=(int(rng.integers(1, 5)), d)),
        "column": lambda: rng.integers(0, 5, n),
    }
    return [made[need]() for need in row.needs]


def numbers_of(result):
    if dataclasses.is_dataclass(result):
        return np.concatenate([np.ravel(getattr(result, field.name)) for field in dataclasses.fields(result)])
    return np.ravel(np.asarray(result, dtype=float))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.function)
@settings(max_examples=15)
@given(seed=st.integers(0, 2**32 - 1))
def test_values_are_numbers_within_the_stated_bounds_and_shape(row, seed):
    result = row.load()(*arguments_for(row, seed))
    numbers = numbers_of(result)
    assert not np.isnan(numbers).any()
    assert numbers.min() >= row.bounds[0] - 1e-12
    assert numbers.max() <= row.bounds[1] + 1e-12
    shape = {"number": (), "one for each column": (3,), "one for each row": (30,), "record": None}[row.gives]
    assert shape is None or np.shape(result) == shape
    if row.gives == "number":
        assert type(result) in {float, int}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.function)
def test_metrics_do_not_touch_their_arguments_and_repeat_themselves(row):
    arguments = arguments_for(row, 3)
    for argument in arguments:
        argument.flags.writeable = False
    first, second = (numbers_of(row.load()(*arguments)) for _ in range(2))
    assert np.array_equal(first, second)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.function)
def test_the_order_of_the_rows_does_not_matter(row):
    arguments = arguments_for(row, 4)
    order = np.random.default_rng(5).permutation(30)
    shuffled = [a if need == "centres" else a[order] for a, need in zip(arguments, row.needs, strict=True)]
    expected = numbers_of(row.load()(*arguments))
    if row.gives == "one for each row":
        expected = expected[order]
    assert numbers_of(row.load()(*shuffled)) == pytest.approx(expected)


@pytest.mark.parametrize("row", [row for row in ROWS if row.needs == ("table", "table")], ids=lambda row: row.function)
def test_direction_tells_an_untouched_table_from_a_blurred_one(row):
    rng = np.random.default_rng(6)
    x = rng.normal(size=(200, 3)) @ [[1.0, 0.8, 0.0], [0.0, 0.6, 0.0], [0.0, 0.0, 1.0]]
    y = x + rng.normal(0.5, 1.0, size=x.shape)
    untouched, blurred = (np.abs(numbers_of(row.load()(x, released))).max() for released in (x, y))
    grows = row.direction in {"higher is more private", "lower is more useful"}
    assert (blurred > untouched) if grows else (blurred < untouched)


def test_every_row_is_complete_and_named_once():
    for field in ("name", "function", "summary"):
        values = [getattr(row, field) for row in ROWS]
        assert len(set(values)) == len(values)
    for row in ROWS:
        assert row.summary.endswith(".")
        assert "\n" not in row.summary
        assert row.unit
        assert row.paper
        assert row.bounds[0] < row.bounds[1]
        assert row.function in metrics.__all__


def test_the_catalogue_holds_every_promised_metric():
    promised = [
        "misclassification_rate",
        "variation_of_information",
        "variance_security",
        "min_variance_security",
        "anonymization_degree",
        "mean_squared_error",
        "privacy_protection",
        "information_loss",
        "comprehensive_index",
        "dunn_index",
        "davies_bouldin_index",
        "hiding_failure",
        "equivalence_class_sizes",
        "t_closeness",
        "interval_disclosure",
        "mean_shift",
        "adjusted_rand",
        "adjusted_mutual_information",
        "column_drift",
    ]
    assert set(promised) <= {row.function for row in ROWS}


def test_every_export_exists_and_nothing_else_does():
    for name in metrics.__all__:
        assert getattr(metrics, name) is not None
    assert set(metrics.__all__) == set(dir(metrics))
    with pytest.raises(AttributeError, match="no attribute 'accuracy'"):
        metrics.accuracy  # noqa: B018


def test_rows_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        ROWS[0].name = "other"  # type: ignore[misc]


def test_reading_the_catalogue_imports_neither_scipy_nor_scikit_learn():
    program = "import sys, sfumato.metrics as m; m.catalogue(); print({'scipy', 'sklearn', 'numpy'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
