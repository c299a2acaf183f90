"""The few whom an average hides: counted by themselves, against chance, without false alarms."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import binom

import sfumato as sf
from sfumato.auditing.exposed import lower_bound, most_exposed, weigh_group


def people(n: int, d: int, kind: str, seed: int) -> np.ndarray:
    draw = np.random.default_rng([seed, n, d])
    mixing = np.eye(d) + 0.5 * draw.normal(size=(d, d))
    table = {
        "normal": lambda: draw.normal(size=(n, d)),
        "skewed": lambda: draw.lognormal(0.0, 1.2, size=(n, d)),
        "clusters": lambda: draw.normal(size=(n, d)) + 7 * draw.integers(0, 4, (n, 1)),
        "codes": lambda: draw.poisson(1.5, size=(n, d)).astype(float),
    }[kind]()
    return table @ mixing if kind == "normal" else table


@pytest.mark.parametrize("people_of", [3, 10, 30])
@pytest.mark.parametrize("chance", [0.001, 0.02, 0.2])
def test_the_bound_passes_chance_at_most_once_in_a_hundred(people_of: int, chance: float) -> None:
    alarms = [found for found in range(people_of + 1) if lower_bound(found, people_of) > chance]
    assert sum(binom.pmf(found, people_of, chance) for found in alarms) <= 0.01
    assert people_of in alarms


def test_a_group_that_is_found_no_more_than_by_chance_has_no_lift() -> None:
    one = weigh_group("most exposed", "nearest", np.array([1.0] + 29 * [0.0]), np.full(30, 1 / 30))
    assert (one.found, round(one.chance, 6)) == (1.0, 1.0)
    assert one.lift_low < 0
    assert one.words == "Of the 30 most exposed people 1 are linked to their row (chance: 1)."


def test_the_most_exposed_stand_far_from_everybody_and_not_only_from_the_middle() -> None:
    table = people(1500, 4, "clusters", 0)
    table[3], table[700] = table.mean(axis=0) + np.array([14.0, -14.0, 14.0, -14.0]), 60.0
    assert set(most_exposed(table)[:2].tolist()) == {3, 700}
    assert len(most_exposed(table)) == 15
    assert len(most_exposed(table[:20])) == 5


def test_outliers_that_stay_recognisable_cost_the_a_although_the_average_is_chance() -> None:
    draw = np.random.default_rng(5)
    table = people(600, 5, "skewed", 1)
    far = most_exposed(table)
    released = people(600, 5, "skewed", 2)
    released[far] = table[far] * (1 + 0.02 * draw.normal(size=(len(far), 5)))
    report = sf.audit(table, released, utility=False, attacks=["nearest"])
    line = next(line for line in report.attacks if line.id == "nearest")
    assert line.rate < 0.02
    assert report.grade in {"B", "C"}
    assert f"Of the 10 most exposed people {report.exposed[0].found:.0f} are linked to their row" in report.verdict
    told = json.loads(report.to_json())["exposed"][0]
    assert (told["group"], told["people"]) == ("most exposed", 10)
    assert told["found"] >= 4
    assert report.exposed[0].words in report.to_text()
    assert "people who stand alone" in report.to_html()


def test_a_lone_far_row_that_keeps_its_direction_is_recognised_where_distances_say_nothing() -> None:
    draw = np.random.default_rng(3)
    table, released = draw.normal(size=(500, 6)), draw.normal(size=(500, 6))
    table[:10] *= 14 / np.linalg.norm(table[:10], axis=1)[:, None]
    released[:10] = 0.6 * table[:10] + 0.1 * draw.normal(size=(10, 6))
    report = sf.audit(table, released, utility=False, attacks=["farthest"])
    assert "Of the 10 most exposed people 10 are recognised by their direction" in report.verdict
    assert report.grade == "C"
    turned = released.copy()
    turned[:10] = np.roll(released[:10], 1, axis=0)  # as far out, but each in somebody else's place
    assert sf.audit(table, turned, utility=False, attacks=["farthest"]).grade == "A"


@pytest.mark.parametrize("kind", ["normal", "skewed", "clusters", "codes"])
def test_independent_samples_of_one_population_raise_no_alarm(kind: str) -> None:
    for seed in range(5):
        n, d = 100 + 50 * seed, 2 + seed
        both = people(2 * n, d, kind, seed)
        report = sf.audit(both[:n], both[n:], utility=False, attacks=["nearest", "farthest"], seed=seed)
        assert report.grade == "A", (kind, seed, report.verdict)
        assert all(one.lift_low <= 0 for one in report.exposed)
