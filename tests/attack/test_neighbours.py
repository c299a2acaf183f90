"""The nearest rows are as far away as they are, whoever looks for them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from sfumato.attack.engine.neighbours import RowIndex
from sfumato.core import fast
from sfumato.core.sharing import shared_by


def tables() -> dict[str, np.ndarray]:
    draw = np.random.default_rng(0)
    rows = draw.normal(size=(2_500, 14))
    far, near = rows.copy(), np.vstack([rows[:1_250], rows[:1_250] + 1e-6 * rows[1_250:]])
    far[3] = 1e45  # beyond single precision
    return {
        "rows": rows,
        "one far out": far,
        "near copies": near,
        "ties": draw.integers(0, 2, (1_500, 13)).astype(float),
        "far from zero": 1e5 + rows,
        "equal rows": np.repeat(rows[:30], 50, axis=0),
    }


@pytest.mark.parametrize("name", tables())
@pytest.mark.parametrize("threads", [1, 3])
def test_rows_are_the_nearest_compiled_and_not(name, threads) -> None:
    table = tables()[name]
    asked = np.arange(0, len(table), 7)
    exact = np.sort(np.sqrt(((table[asked][:, None] - table[None]) ** 2).sum(axis=2)), axis=1)[:, :4]
    with warnings.catch_warnings(), shared_by(threads):
        warnings.simplefilter("error")
        fast.load()
        apart, near = RowIndex(table).nearest(asked, 4)
    assert np.allclose(apart, exact, rtol=1e-9, atol=1e-9 * np.abs(np.median(table)))
    assert np.allclose(np.sqrt(((table[asked][:, None] - table[near]) ** 2).sum(axis=2)), apart)
    with fast.turned_off():
        assert np.array_equal(RowIndex(table).nearest(asked, 4)[0], apart)
