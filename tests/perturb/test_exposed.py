"""People without company are held back, and the others are released as if these had never been there."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sfumato.exceptions import DataError, HeldBackWarning, ParameterError
from sfumato.perturb import AdditiveNoise, AtomExchange, AtomMixing, Guarded

METHODS = [
    lambda **more: AtomMixing(insecure_seed=3, draws=1, **more),
    lambda **more: AtomExchange(insecure_seed=3, draws=1, **more),
    lambda **more: Guarded(AdditiveNoise(scale=0.5), insecure_seed=3, **more),
]


def crowd(n: int = 900, alone: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """Return three clusters with a few rows far away from everybody, and the numbers of these rows."""
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(n, 4)) + 4.0 * rng.integers(0, 3, size=(n, 1))
    far = np.sort(rng.choice(n, alone, replace=False))
    rows[far] = rng.normal(size=(alone, 4)) * 120.0
    return rows, far


@pytest.mark.parametrize("make", METHODS, ids=["mix", "exchange", "guard"])
def test_who_is_far_from_everybody_is_not_released_and_the_others_are_as_if_they_had_been_alone(make) -> None:
    rows, far = crowd()
    method = make()
    with pytest.warns(HeldBackWarning, match=f"{len(far)} of 900 rows"):
        released = method.fit_transform(rows)
    assert method.held_back_rows() == tuple(far)
    left = np.delete(rows, far, axis=0)
    assert np.array_equal(released, make().fit_transform(left))
    assert np.abs(released).max() < 1.5 * np.abs(left).max()


@pytest.mark.parametrize("make", METHODS, ids=["mix", "exchange", "guard"])
def test_batches_and_row_numbers_of_the_whole_table_find_the_same_rows(make) -> None:
    rows, far = crowd()
    frame = pd.DataFrame(rows, columns=list("abcd"), index=[f"p{i}" for i in range(len(rows))])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HeldBackWarning)
        method = make()
        whole = method.fit_transform(frame)
        again = make().fit_batches([frame[:7], frame[7:500], frame[500:]])
    assert list(whole.index) == list(frame.index.delete(far))
    assert again.transform(frame).equals(whole)
    parts = [again.transform(frame[start : start + 250], row_start=start) for start in range(0, 900, 250)]
    assert pd.concat(parts).equals(whole)


@pytest.mark.data
@pytest.mark.parametrize("name", ["census", "tarragona", "housing"])
@pytest.mark.filterwarnings("ignore::sfumato.SfumatoWarning")
def test_no_kept_clustering_has_a_cluster_of_fewer_than_ten_people(data_folder: Path, name: str) -> None:
    rows = np.loadtxt(data_folder / f"{name}.csv", delimiter=",", skiprows=1)
    method = AtomMixing(insecure_seed=1, draws=1)
    released = method.fit_transform(rows)
    left = np.delete(rows, method.held_back_rows(), axis=0)
    assert len(released) == len(left) >= 0.97 * len(rows)
    unit = np.where(left.std(axis=0) > 0, left.std(axis=0), 1.0)
    for centres in method.named_centres():
        apart = (((left[:, None] - centres) / unit) ** 2).sum(axis=2)
        assert np.bincount(apart.argmin(axis=1), minlength=len(centres)).min() >= 9  # one may stand on a wall


def test_clusterings_of_ones_own_that_need_too_many_people_held_back_are_refused() -> None:
    rows, far = crowd(alone=40)
    with pytest.raises(DataError, match="at most 27 may be held back") as told:
        AtomMixing(clusterings=range(2, 9), insecure_seed=1, draws=1).fit_transform(rows)
    assert "ladder" in str(told.value)
    assert "publish" in str(told.value)
    assert "most_held_back" in str(told.value)
    with pytest.warns(HeldBackWarning):
        method = AtomMixing(clusterings=range(2, 9), insecure_seed=1, draws=1, most_held_back=0.1).fit(rows)
    assert set(method.held_back_rows()) >= set(far[:1])
    everyone = AtomMixing(clusterings=range(2, 9), insecure_seed=1, draws=1, exposed="publish").fit(rows)
    assert everyone.held_back_rows() == ()


def test_nobody_is_held_back_where_everybody_has_company() -> None:
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(1500, 3)) + 6.0 * rng.integers(0, 3, size=(1500, 1))
    method = AtomMixing(insecure_seed=1, draws=1)
    assert len(method.fit_transform(rows)) == 1500
    assert method.held_back_rows() == ()


def test_the_choice_is_checked() -> None:
    with pytest.raises(ParameterError, match="exposed"):
        AtomMixing(exposed="hide").fit(np.zeros((5, 2)))
