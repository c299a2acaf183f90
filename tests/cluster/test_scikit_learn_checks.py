"""Both estimators pass all of scikit-learn's own checks: there is no list of expected failures."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from sfumato.cluster import Chameleon, FuzzyCMeans

# Array libraries other than numpy are not claimed, and the check skips itself without a switch set before start.
NOT_CLAIMED = {"check_array_api_input"}


def _name(check):
    return getattr(check, "func", check).__name__


CHECKS = [
    pytest.param(estimator, check, id=f"{type(estimator).__name__}-{number}-{_name(check)}")
    for made in (FuzzyCMeans(), Chameleon())
    for number, (estimator, check) in enumerate(estimator_checks_generator(made))
    if _name(check) not in NOT_CLAIMED
]


@pytest.mark.parametrize(("estimator", "check"), CHECKS)
def test_scikit_learn_accepts_the_estimator(estimator, check):
    check(estimator)


def test_the_checks_are_really_there():
    assert len(CHECKS) > 60
