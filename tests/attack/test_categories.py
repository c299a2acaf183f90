"""Linkage over categories and kept columns: found where they tell, and silent where nothing does."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.attack import Kinds, Referee, run_attack

KINDS = Kinds(categories=np.array([False, True, True, True, True, True]), kept=np.zeros(6, dtype=np.bool_))
WHOLE = ["gower", "fellegi-sunter", "nearest", "equal-cells"]


def people(n: int, seed: int) -> np.ndarray:
    """Return one number and five categories, some of them rare."""
    draw = np.random.default_rng(seed)
    return np.column_stack([draw.normal(size=n), *(np.minimum(draw.geometric(0.25, n), 12) for _ in range(5))])


def swapped(table: np.ndarray, share: float, seed: int = 7) -> np.ndarray:
    """Return the table with a share of each column's values on other rows."""
    draw = np.random.default_rng(seed)
    out = table.copy()
    for column in out.T:
        some = draw.random(len(column)) < share
        column[some] = draw.permutation(column[some])
    return out


@pytest.mark.parametrize("attack", WHOLE)
def test_values_that_mostly_stay_are_linked(attack: str) -> None:
    table = people(400, 1)
    assert run_attack(attack, table, swapped(table, 0.2), kinds=KINDS).lift_low > 0.3


@pytest.mark.parametrize("attack", WHOLE)
@pytest.mark.parametrize("released", [people(400, 2), swapped(people(400, 1), 1.0)], ids=["strangers", "all swapped"])
def test_what_says_nothing_about_anybody_is_chance(attack: str, released: np.ndarray) -> None:
    found = run_attack(attack, people(400, 1), released, kinds=KINDS)
    assert found.lift_low < 0.01
    assert found.status == "ineffective"


def test_codes_are_not_numbers() -> None:
    """A category says equal or not: treated as a number, the mistakes of others drown the agreement of most."""
    table = people(600, 3)
    table[:, 1:] = np.random.default_rng(0).permutation(40)[table[:, 1:].astype(int)]
    released = swapped(table, 0.5)
    for attack in ("nearest", "fellegi-sunter"):
        told = run_attack(attack, table, released, kinds=KINDS).rate
        assert told > 1.2 * run_attack(attack, table, released).rate, attack


def test_kept_columns_rule_rows_out() -> None:
    table = people(600, 4)
    released = swapped(table, 0.7)
    released[:, 1] = table[:, 1]
    kept = Kinds(KINDS.categories, np.arange(6) == 1)
    for attack in ("gower", "nearest"):
        assert (
            run_attack(attack, table, released, kinds=kept).rate > run_attack(attack, table, released, kinds=KINDS).rate
        )


def test_gower_needs_to_know_the_kinds() -> None:
    table = people(300, 5)
    released = swapped(table, 0.3)
    without = Referee(table, released).run("gower")
    assert (without.status, without.rate) == ("not applicable", None)
    assert "categories" in without.reason


def test_a_table_of_numbers_is_linked_as_before() -> None:
    table = people(200, 6)
    nothing = Kinds(np.zeros(6, dtype=np.bool_), np.zeros(6, dtype=np.bool_))
    plain = run_attack("fellegi-sunter", table, swapped(table, 0.4))
    assert run_attack("fellegi-sunter", table, swapped(table, 0.4), kinds=nothing).rate == plain.rate


def test_crowds_that_share_a_kept_column_are_not_found_and_small_groups_are() -> None:
    draw = np.random.default_rng(0)
    town = np.concatenate([np.zeros(2_500), np.repeat(np.arange(1, 251), 2)])
    table = np.column_stack([draw.normal(size=3_000), town])
    released = np.column_stack([draw.normal(size=3_000), town])
    kinds = Kinds(np.array([False, True]), np.array([False, True]))
    found = run_attack("kept-columns", table, released, kinds=kinds)
    assert found.known == 1_000
    assert found.rate == pytest.approx(0.5 * 500 / 3_000, abs=0.02)
    assert found.cost == "kept columns"
