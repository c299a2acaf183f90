from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.attack import lift, wilson_interval
from sfumato.exceptions import ParameterError


@given(st.integers(1, 5000), st.floats(0, 1))
def test_wilson_holds_the_rate_and_stays_in_the_unit_interval(trials, share):
    successes = share * trials
    low, high = wilson_interval(successes, trials)
    assert 0 <= low <= successes / trials + 1e-12
    assert successes / trials - 1e-12 <= high <= 1


@given(st.integers(2, 500), st.floats(0.01, 0.99))
def test_more_trials_give_a_narrower_interval(trials, share):
    few = wilson_interval(share * trials, trials)
    many = wilson_interval(share * trials * 10, trials * 10)
    assert many[1] - many[0] < few[1] - few[0]


def test_wilson_covers_the_true_rate_about_as_often_as_it_says():
    draw = np.random.default_rng(0)
    inside = [
        low <= 0.1 <= high for low, high in (wilson_interval(int(k), 100) for k in draw.binomial(100, 0.1, size=2000))
    ]
    assert 0.92 < np.mean(inside) < 0.98


def test_interval_of_a_known_case_agrees_with_the_formula_worked_by_hand():
    # p = 1/2, n = 4, z = 1.96: centre 1/2, half width sqrt(z2/16 + z2^2/64) / (1 + z2/4)
    z2 = 1.959963984540054**2
    half = np.sqrt(z2 / 16 + z2**2 / 64) / (1 + z2 / 4)
    assert wilson_interval(2, 4) == pytest.approx((0.5 - half, 0.5 + half))


def test_lift_uses_the_larger_of_baseline_and_control():
    assert lift(60, 100, baseline=0.2, control=0.5).value == pytest.approx(0.2)
    assert lift(60, 100, baseline=0.5, control=0.2).value == pytest.approx(0.2)


@given(st.integers(1, 300), st.floats(0, 1), st.floats(0, 0.99), st.floats(0, 0.99))
def test_the_lower_bound_never_exceeds_the_lift(trials, share, baseline, control):
    found = lift(share * trials, trials, baseline=baseline, control=control)
    assert found.lower <= found.value + 1e-12 <= 1 + 1e-9


def test_nothing_can_be_gained_where_everybody_is_guessed_anyway():
    assert lift(10, 10, baseline=1.0).value == 0.0


@pytest.mark.parametrize(("successes", "trials"), [(0, 0), (-1, 5), (6, 5)])
def test_impossible_counts_are_refused(successes, trials):
    with pytest.raises(ParameterError):
        wilson_interval(successes, trials)
