"""What one person can change: two releases that differ by one person do not tell that person."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sfumato.attack.shadows.membership import membership
from sfumato.attack.shadows.one_row import one_row_difference
from sfumato.perturb import AtomExchange, AtomMixing
from sfumato.perturb.guard.leverage import NOTHING, Leverage


def table(n: int = 900) -> np.ndarray:
    rng = np.random.default_rng(5)
    rows = np.repeat(6.0 * np.eye(4)[:3], n // 3, axis=0) + np.abs(rng.normal(size=(n, 4))) ** 2
    rows[:, 2:] = np.round(3 * rows[:, 2:])
    return rows


@pytest.mark.parametrize("method", [AtomMixing, AtomExchange])
def test_one_person_cannot_be_subtracted_unless_exact_means_are_asked_for(method: Any) -> None:
    settings = {"clusterings": (3,), "draws": 1}
    told = one_row_difference(method(**settings), table(), people=12)
    assert told.cells <= told.guess + 0.02
    assert told.cells_exposed <= told.guess_exposed + 0.05
    exact = one_row_difference(method(exact_centres=True, **settings), table(), people=12)
    assert exact.cells > 0.9, "a fair test: with exact means everything is told"


def test_far_rows_count_less_the_farthest_not_at_all_and_others_as_they_are() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(2, 200))
    ways = np.array([[0.6, 0.8]]).T
    rows[:, :3] = ways * (1.7, 1.5, 40.0)
    of = np.repeat([0, 1], 100)
    leverage = Leverage.of_sample(rows, of, 2, nothing=NOTHING)
    middle = leverage.middles[0][:, None]
    usual = np.median(np.linalg.norm(rows[:, :100] - middle, axis=0))
    rows[:, :3] = middle + ways * usual * (1.7, 1.5, 40.0)
    counted = leverage.clip(rows, of)
    lengths = np.linalg.norm(counted[:, :3] - middle, axis=0) / usual
    assert lengths == pytest.approx([0.1 * 1.25, 0.5 * 1.25, 0.0], abs=0.05), "of 1.25 to 1.75 usual distances"
    assert (counted[:, 1:2] - middle)[0] / (rows[:, 1:2] - middle)[0] > 0.0, "in its own direction"
    near = ~leverage.far(rows, of)
    assert 100 <= near.sum() < 199, "most of them"
    assert np.array_equal(counted[:, near], rows[:, near])
    assert 0.5 < leverage.shrinks < 1.0, "what is lost is made up for"


@pytest.mark.filterwarnings("ignore::sfumato.exceptions.HeldBackWarning")
def test_who_is_in_a_table_of_ordinary_clusters_is_hardly_told_and_is_told_by_exact_means() -> None:
    rng = np.random.default_rng(1300)
    group, centres = rng.integers(0, 5, 1300), 2.5 * rng.normal(size=(5, 6))
    rows = np.round(centres[group] + rng.normal(size=(1300, 6)) * rng.uniform(0.5, 1.5, 6), 2)
    told = membership(AtomMixing(draws=1), rows, shadows=48)
    assert told.auc_exposed <= 0.6
    assert told.tpr <= 0.03
    assert told.tpr_exposed <= 0.04  # wanted .03: of 13 people, so one standard error is .01
    bare = membership(AtomMixing(draws=1, exact_centres=True), rows, shadows=48)
    assert bare.auc_exposed > 0.65, "a fair test"
