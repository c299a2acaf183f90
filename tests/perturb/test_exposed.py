"""People without company are held back, and the others are released as if these had never been there."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sfumato.core.keys import Key
from sfumato.core.stream import Streams
from sfumato.exceptions import DataError, HeldBackWarning, ParameterError
from sfumato.perturb import AdditiveNoise, AtomExchange, AtomMixing, Guarded
from sfumato.perturb.guard.exposed import exposed_in, isolated

METHODS = [
    lambda **more: AtomMixing(insecure_seed=3, draws=1, **more),
    lambda **more: AtomExchange(insecure_seed=3, draws=1, **more),
    lambda **more: Guarded(AdditiveNoise(scale=0.5), insecure_seed=3, **more),
]


def crowd(n: int = 900, alone: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """Return three clusters with a few rows far away from everybody, and the numbers of these rows.

    The others stand on rings, at equal distances: everybody has as much company as anybody else.
    """
    rng = np.random.default_rng(5)
    rows = rings(n) + rng.normal(size=(n, 4)) * 0.01
    far = np.sort(rng.choice(n, alone, replace=False))
    rows[far] = rng.normal(size=(alone, 4)) * 120.0
    return rows, far


def rings(n: int) -> np.ndarray:
    """Return three clusters of rows, each a closed surface without edges."""
    place = np.arange(n) // 3
    first, second = place % 15 * (2 * np.pi / 15), place // 15 * (2 * np.pi / -(-n // 45))
    ring = np.stack([np.cos(first), np.sin(first), np.cos(second), np.sin(second)], axis=1)
    return ring + 4.0 * (np.arange(n) % 3)[:, None]


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


def test_who_is_clipped_is_released_and_does_not_stand_out() -> None:
    rows, far = crowd()
    method = AtomMixing(insecure_seed=3, draws=1, exposed="clip")
    released = method.fit_transform(rows)
    assert released.shape == rows.shape
    assert method.held_back_rows() == ()
    left = np.delete(rows, far, axis=0)
    assert np.abs(rows[far]).max() > 20 * np.abs(left).max()
    assert np.abs(released).max() < 2 * np.abs(left).max()
    farthest = np.argsort(-np.linalg.norm(released - released.mean(axis=0), axis=1))[: len(far)]
    assert not set(farthest) & set(far)
    assert not np.array_equal(released, AtomMixing(insecure_seed=3, draws=1, exposed="publish").fit_transform(rows))


def test_only_mixed_rows_can_be_clipped() -> None:
    for method in (AtomExchange(exposed="clip"), Guarded(AdditiveNoise(scale=0.5), exposed="clip")):
        with pytest.raises(ParameterError, match="exposed"):
            method.fit_transform(crowd()[0])


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
    method = AtomMixing(insecure_seed=1, draws=1)
    assert len(method.fit_transform(rings(1500))) == 1500
    assert method.held_back_rows() == ()


def test_who_is_held_back_hardly_hangs_on_single_people() -> None:
    rng = np.random.default_rng(8)
    rows = rng.standard_t(3, size=(800, 5)) + 6.0 * rng.integers(0, 3, size=(800, 1))
    held = {key: held_back(rows, key) for key in (1, 2)}
    assert 5 <= len(held[1]) < 24, "fewer than may be"
    assert held[1] == held[2], "everybody is asked, whatever the key"
    for gone in [*sorted(held[1])[:4], 0, 1]:
        left = {row + (row >= gone) for row in held_back(np.delete(rows, gone, axis=0), 1)}
        assert len(left ^ (held[1] - {gone})) <= 2, "one may take the place of who is gone"


def held_back(rows: np.ndarray, key: int) -> set[int]:
    return set(exposed_in(rows, Streams(Key.from_insecure_seed(key).derive("held"))).tolist())


def test_people_between_two_clusters_are_found_and_pairs_too() -> None:
    rows = rings(900)
    rows[[10, 20, 21]] = [[30.0, -30, 0, 0], [-20.0, 9, 9, 9], [-20.1, 9, 9, 9]]
    steps = np.ascontiguousarray(np.rint(rows.T * 2**20))
    assert np.flatnonzero(isolated(steps, 10, 20)).tolist() == [10, 20, 21]
    assert np.flatnonzero(isolated(steps, 10, 1)).tolist() == [10], "the farthest first"
    assert np.array_equal(isolated(steps * 2.0**30, 10, 20), isolated(steps, 10, 20)), "whatever the lattice"


def test_the_choice_is_checked() -> None:
    with pytest.raises(ParameterError, match="exposed"):
        AtomMixing(exposed="hide").fit(np.zeros((5, 2)))
