"""The yardstick of releases whose rows belong to nobody: centres of the release, applied to the original."""

from __future__ import annotations

import numpy as np
import pytest

import sfumato as sf
from sfumato.auditing.utility.by_centres import cost_by_centres
from sfumato.auditing.utility.measure import measure_utility
from sfumato.auditing.utility.yardstick import Yardstick


def three_groups(n: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    middles = np.array([[0.0, 0.0], [8.0, 0.0], [0.0, 600.0]])
    return middles[rng.integers(0, 3, n)] + rng.normal(size=(n, 2)) * [1.0, 30.0]


TABLE = three_groups(900, 0)
STICK = Yardstick(TABLE, clusters=(2, 3), n_init=4, repetitions=2)


def test_other_rows_of_the_same_law_keep_everything_and_their_order_and_number_do_not_matter() -> None:
    other = three_groups(1400, 1)
    found = STICK.measure(other, drawn=True, rescaled=True)
    assert found.excess_mean < 0.02
    assert found.rescaled_worst < 0.02
    assert found.shared_worst < 0.02
    assert 1.0 <= found.cost_mean < 1.03
    shuffled = STICK.measure(np.random.default_rng(2).permutation(other), drawn=True)
    assert shuffled.cost_mean == pytest.approx(found.cost_mean, abs=0.02)


def test_the_cost_is_that_of_the_centres_on_the_original() -> None:
    """A release of two points has one optimum for two clusters: these points, whose cost is known."""
    points = np.array([[0.0, 0.0], [0.0, 600.0]])
    release = np.concatenate([np.repeat(points, 300, axis=0), [[0.0, 300.0]]])  # a third value: k = 2 is a choice
    unit = TABLE.std(axis=0)
    cost = STICK.measure(release, drawn=True).by_clusters[0].cost
    scaled = TABLE / unit
    exact, labels = cost_by_centres(scaled, points / unit)
    splits = [TABLE[:, 1] > 300, TABLE[:, 0] > 4]
    middles = [np.stack([scaled[own].mean(axis=0), scaled[~own].mean(axis=0)]) for own in splits]
    best = min(cost_by_centres(scaled, centres)[0] for centres in middles)
    assert cost == pytest.approx(exact / best, rel=0.01)
    assert set(labels.tolist()) == {0, 1}


def test_a_release_that_lost_a_cluster_says_so() -> None:
    lost = three_groups(900, 3)
    lost[lost[:, 1] > 300] -= [0.0, 600.0]
    found = STICK.measure(lost, drawn=True)
    assert found.cost_mean > 1.5
    assert found.excess_worst > 0.2


def test_the_audit_measures_the_same_and_says_what_does_not_apply() -> None:
    other = three_groups(1400, 1)
    asked = {"clusters": (2, 3), "n_init": 4, "repetitions": 2}
    found = measure_utility(TABLE, other, **asked, drawn=True)
    assert found.cost_mean == STICK.measure(other, drawn=True).cost_mean
    assert all(row.reason for row in found.agreements if row.clusterer == "ward")
    claim = {"method": "dp", "epsilon": 1.0, "delta": 1e-6}
    report = sf.audit(TABLE, other, method=claim, effort="quick", clusters=[2, 3])
    assert "times the best" in report.to_text()
    assert "times the best" in report.to_html()
    assert report.utility.excess_mean < 0.03
