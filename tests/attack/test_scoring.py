from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sfumato.attack import run_attack
from sfumato.attack.engine import scoring
from sfumato.attack.engine.result import Result, Scores, best_of, summarise


def test_half_of_the_cells_is_enough_and_less_is_not():
    truth = np.array([[1.0, 2.0, 3.0, 4.0]])
    tolerance = np.full(4, 0.1)
    assert scoring.record_scores(np.array([[1.0, 2.0, 9.0, 9.0]]), truth, tolerance) == [1.0]
    assert scoring.record_scores(np.array([[1.0, 9.0, 9.0, 9.0]]), truth, tolerance) == [0.0]


def test_cells_without_a_guess_are_misses():
    truth = np.zeros((2, 2))
    guess = np.array([[0.0, np.nan], [np.nan, np.nan]])
    assert scoring.record_scores(guess, truth, np.ones(2)).tolist() == [1.0, 0.0]
    assert scoring.cell_hits(guess, truth, np.ones(2)).sum() == 1


@given(st.integers(1, 6))
def test_tied_answers_share_one_point(ties):
    truth = np.zeros((1, 2))
    guess = np.full((ties, 1, 2), 99.0)
    guess[0] = 0.0
    assert scoring.record_scores(guess, truth, np.ones(2))[0] == 1 / ties
    assert scoring.link_scores((np.arange(ties),), np.array([0]))[0] == 1 / ties


def test_a_constant_column_is_not_scored():
    table = np.column_stack([np.arange(10.0), np.full(10, 0.1)])
    tolerance = scoring.tolerances(table)
    assert tolerance[1] == 0
    assert scoring.cell_hits(table, table, tolerance).shape == (10, 1)


def test_the_typical_record_is_the_best_constant_of_every_column():
    table = np.random.default_rng(0).gamma(1.0, size=(200, 2))
    tolerance = scoring.tolerances(table)
    typical = scoring.typical_record(table, tolerance)
    best = np.mean(np.abs(table - typical) <= tolerance * (1 + 1e-9), axis=0)
    for constant in np.linspace(0, 3, 400):
        assert (np.mean(np.abs(table - constant) <= tolerance, axis=0) <= best + 1e-12).all()


def test_residual_security_is_zero_for_a_shifted_copy_and_one_for_no_guess():
    truth = np.random.default_rng(0).normal(size=(50, 2))
    assert max(scoring.residual_security(truth + 7, truth, np.ones(2))) < 1e-20
    assert np.allclose(scoring.residual_security(np.full((50, 2), np.nan), truth, np.ones(2)), 1.0)


def _useless(number, seed, n=300, rate=0.09):
    draw = np.random.default_rng([seed, number])
    blank = Result(f"u{number}", "useless", 0, "nothing", "values", "ran")
    earned = (draw.random(n) < rate).astype(float)
    return summarise(blank, Scores(np.arange(n), earned, np.full(n, 0.09), np.zeros(n)))


def test_the_best_of_many_useless_attacks_is_not_praised():
    chosen, naive = [], []
    for seed in range(60):
        results = [_useless(number, seed) for number in range(15)]
        naive.append(max(result.rate for result in results))
        chosen.append(best_of(results, seed=seed).rate)
    assert np.mean(naive) > 0.11  # what choosing and reporting on the same records would claim
    assert abs(np.mean(chosen) - 0.09) < 0.01


def test_best_of_finds_the_attack_that_works_and_measures_it_on_all_records():
    results = [_useless(number, 0) for number in range(10)] + [_useless(99, 0, rate=0.8)]
    best = best_of(results)
    assert best.attack == "u99"
    assert best.scored == 300, "each half is measured by the choice of the other"


def test_best_of_nothing_is_nothing():
    assert best_of([Result("x", "x", 0, "nothing", "values", "not applicable")]) is None


def test_a_few_huge_values_do_not_make_everybody_look_recovered():
    draw = np.random.default_rng(0)
    incomes = draw.lognormal(size=(500, 3))
    incomes[:2] = 1e7
    stranger = draw.lognormal(size=(500, 3))
    assert run_attack("as-released", incomes, stranger).rate < 0.3
    assert scoring.tolerances(incomes).max() < 0.1
