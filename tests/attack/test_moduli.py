"""Sums in a modulus, generators of row numbers, tables laid upon one another: found where they are, nowhere else."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.attack import run_attack
from sfumato.attack.engine.congruences import Cancelled, binomials
from sfumato.attack.engine.interface import Deadline
from sfumato.attack.engine.registration import laid_upon, laid_upon_best, projected_upon
from sfumato.attack.engine.shapes import how_often, near_distances
from sfumato.attack.linkage.twins import count_twins, nearest_pairs
from sfumato.attack.places.place_codes import code_of_places


def people(rows: int, seed: int = 0) -> np.ndarray:
    draw = np.random.default_rng([seed, 8])
    kind = draw.integers(0, 4, rows)
    columns = [
        np.round(40 + 9 * kind + 8 * draw.normal(size=rows)),
        np.round(np.exp(9.8 + 0.25 * kind + 0.5 * draw.normal(size=rows))),
        draw.poisson(2 + 2 * kind),
        np.round(170 + 9 * draw.normal(size=rows), 1),
    ]
    return np.column_stack(columns).astype(float)


@pytest.mark.parametrize("modulus", [2, 10, 97, 1_000, 4_096, 9_973, 10_000, 65_537, 2**31 - 1])
def test_any_modulus_is_found_and_what_is_added_up(modulus: int) -> None:
    draw = np.random.default_rng(modulus)
    seen = draw.integers(0, 10**6, size=(80, 3))
    weights = draw.integers(1, modulus, 3)
    written = (seen.astype(object) @ weights.astype(object) + 5) % modulus
    found = Cancelled(seen).congruence(written.astype(np.int64))
    assert found is not None
    assert found.modulus == modulus
    assert np.array_equal(found.of(seen), found.written(written.astype(np.int64)))


def test_one_row_in_ten_that_was_changed_by_something_else_hides_no_modulus() -> None:
    draw = np.random.default_rng(0)
    seen = draw.integers(0, 10**6, size=(150, 1))
    written = (seen[:, 0] * 1237 + 5) % 10_000
    written[::10] = draw.integers(0, 10_000, 15)
    found = Cancelled(seen).congruence(written)
    assert found is not None
    assert found.modulus == 10_000


def test_numbers_that_have_nothing_to_do_with_one_another_are_no_sums() -> None:
    found = []
    for seed in range(60):
        draw = np.random.default_rng(seed)
        seen = [draw.poisson(9, size=(60, 3)), draw.integers(0, 2, size=(60, 2)), people(60, seed)[:, :3].astype(int)]
        written = [draw.poisson(4, 60), draw.integers(0, 10**6, 60), 5 * draw.integers(0, 40, 60)]
        found += [Cancelled(one).congruence(other) for one in seen for other in written]
    assert not any(found)


@pytest.mark.parametrize(("factor", "more", "modulus"), [(5, 0, 10_007), (4_093, 257, 9_973), (21, 7, 4_096)])
def test_steps_of_a_generator_tell_everybody_s_place(factor: int, more: int, modulus: int) -> None:
    every = [1]
    while len(every) < 1_000:
        every.append((factor * every[-1] + more) % modulus)
    known = np.sort(np.random.default_rng(0).permutation(1_000)[:120])
    told = code_of_places(np.array(every), known, known, Deadline())
    assert told is not None
    there, code = told
    assert (there == code(np.arange(1_000))).mean() > 0.95
    assert code_of_places(np.random.default_rng(1).permutation(1_000), known, known, Deadline()) is None


def test_polynomials_of_places_are_whole_in_every_modulus() -> None:
    places = np.arange(40)
    for modulus in (2_048, 1_999, 10_000):
        found = Cancelled(binomials(places, 3)).congruence((3 * places**3 + 5 * places**2 + 1) % modulus, 20)
        assert found is not None
        assert found.modulus * found.unit == modulus


def test_ciphers_by_the_row_s_number_are_read_and_sums_of_columns_are_linked() -> None:
    table = people(900)
    units = np.rint(table * [1, 1, 1, 10]).astype(int)
    size = units.max(axis=0) + 1
    moved = (units + 7919 * np.arange(900)[:, None]) % size
    assert run_attack("remainders", table, moved.astype(float)).rate > 0.9
    large = (units[:, [1, 3]] * 1237 + 11 * np.arange(900)[:, None]) % 1_000_003
    assert run_attack("congruences", table[:, [1, 3]], large.astype(float)).rate == 1.0
    both = np.column_stack([units[:, 1] ^ units[:, 3], units[:, 1] + 3 * units[:, 3]])
    noise = np.random.default_rng(2).integers(0, 500, size=(900, 2))
    assert run_attack("remainders", table, np.column_stack([noise, both % [1 << 30, 9_973]]).astype(float)).rate > 0.8


def test_strangers_are_neither_read_nor_linked() -> None:
    both = people(1_200, 3)
    for attack in ("congruences", "remainders"):
        assert run_attack(attack, both[:600], both[600:]).status == "ineffective"


@pytest.mark.parametrize("noise", [0.0, 0.02, 0.1])
def test_a_turned_table_is_laid_upon_its_original_in_any_order(noise: float) -> None:
    table, draw = people(900), np.random.default_rng(1)
    scaled = (table - table.mean(axis=0)) / table.std(axis=0)
    order = draw.permutation(900)
    turned = scaled @ np.linalg.qr(draw.normal(size=(4, 4)))[0] + noise * draw.normal(size=scaled.shape)
    laid = laid_upon_best({"as it is": table}, turned[order])
    assert laid is not None
    twins = count_twins(nearest_pairs(*laid[1:]))
    assert twins.likely < 1e-9
    assert (order[twins.second] == twins.first).mean() > 0.6


def test_strangers_may_be_laid_upon_one_another_and_are_no_twins() -> None:
    likely = []
    for seed in range(12):
        both = people(1_000, seed)
        laid = laid_upon(both[:500], both[500:])
        assert laid is not None
        likely.append(count_twins(nearest_pairs(*laid)).likely)
    assert min(likely) > 1e-3


def test_fewer_sums_of_all_columns_are_enough_to_know_rows_again() -> None:
    table, draw = people(600), np.random.default_rng(3)
    order = draw.permutation(600)
    fewer = ((table - table.mean(axis=0)) / table.std(axis=0)) @ draw.normal(size=(4, 3))
    laid = projected_upon(table, fewer[order])
    assert laid is not None
    twins = count_twins(nearest_pairs(*laid))
    assert (order[twins.second] == twins.first).mean() > 0.9


def test_groups_that_are_turned_keep_distances_and_ciphers_keep_counts() -> None:
    table = people(600)
    scaled = (table - table.mean(axis=0)) / table.std(axis=0)
    turned = np.vstack([scaled[:300] * [1, -1, 1, -1], scaled[300:] + 50])
    far = np.vstack([scaled[:300], scaled[300:] + 50])
    assert np.allclose(near_distances(turned), near_distances(far), atol=1e-6)
    enciphered = np.column_stack([(column * 7919 + 13) % 100_003 for column in table.T])
    assert np.array_equal(how_often(enciphered), how_often(table))
    assert how_often(np.random.default_rng(0).normal(size=(100, 3))) is None
