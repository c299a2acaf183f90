"""Where nothing can be learned, no attack may claim that it learned something."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.attack import Referee, attacks, best_of

REPETITIONS = 40
#: replaying seeds takes seconds per run and answers only when it is sure; test_inversion covers it
QUICK = [row.id for row in attacks() if row.id not in {"seed", "orbit", "orbit-range", "orbit-known"}]


def pure_noise(draw, table):
    return draw.normal(size=table.shape)


def independent_sample(draw, table):
    fresh = draw.gamma(2.0, size=(len(table), 3))
    return np.round(np.column_stack([fresh[:, 0], fresh[:, 0] + fresh[:, 1], fresh[:, 2]]), 2)


@pytest.mark.parametrize("release", [pure_noise, independent_sample])
def test_no_attack_claims_a_lift_where_there_is_nothing_to_learn(release):
    claims = dict.fromkeys(QUICK, 0)
    best_claims = 0
    for repetition in range(REPETITIONS):
        draw = np.random.default_rng([repetition, 77])
        table = independent_sample(draw, np.empty((120, 3)))
        released = release(draw, table)
        told = {"method": "adp", "parameters": {"scale": 0.5}}
        results = Referee(table, released, releases=[release(draw, table)], seed=repetition, **told).run_all(QUICK)
        for result in results:
            assert result.status != "error", (result.attack, result.reason)
            claims[result.attack] += result.lift_low is not None and result.lift_low > 0.05
        best = best_of([result for result in results if result.goal == "values"], seed=repetition)
        best_claims += best.lift_low > 0.05
    assert max(claims.values()) <= 0.05 * REPETITIONS, claims
    assert best_claims <= 0.05 * REPETITIONS


def test_an_identity_copy_is_broken_by_everything_that_should_break_it():
    table = independent_sample(np.random.default_rng(0), np.empty((200, 3)))
    referee = Referee(table, table)
    for attack in ("as-released", "lattice", "moments", "affine", "affine-columns", "ransac", "trilateration", "ridge"):
        assert referee.run(attack).rate == 1.0, attack
    assert referee.run("nearest").rate > 0.99
