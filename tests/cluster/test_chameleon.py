from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_circles, make_moons
from sklearn.metrics import adjusted_rand_score

from sfumato.cluster import Chameleon
from sfumato.exceptions import DataError, MissingComponentError, ParameterError


def _grid_blobs(separation, seed=0, n=600, d=2):
    random = np.random.RandomState(seed)
    places = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]) * separation
    centres = np.zeros((4, d))
    centres[:, :2] = places
    labels = np.arange(n) % 4
    return centres[labels] + random.normal(size=(n, d)), labels


def _rotation(angle):
    return np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])


TOYS = {
    "moons": make_moons(600, noise=0.05, random_state=0),
    "circles": make_circles(600, noise=0.04, factor=0.5, random_state=0),
    "separated blobs": _grid_blobs(12.0),
    "separated blobs in 5 columns": _grid_blobs(12.0, d=5),
    "separated blobs in 10 columns": _grid_blobs(12.0, d=10),
}


@pytest.mark.parametrize("name", TOYS)
@pytest.mark.parametrize("seed", [0, 1])
def test_toys_are_solved(name, seed):
    X, labels = TOYS[name]
    found = Chameleon(labels.max() + 1, random_state=seed).fit_predict(X)
    assert adjusted_rand_score(labels, found) >= 0.99


@pytest.mark.parametrize("name", ["moons", "circles"])
def test_toys_rounded_to_integers_are_solved(name):
    X, labels = TOYS[name]
    rounded = np.round(25.0 * X)
    assert len(np.unique(rounded, axis=0)) < len(X)
    assert adjusted_rand_score(labels, Chameleon(2).fit_predict(rounded)) >= 0.96


def test_blobs_that_touch_are_told_apart():
    X, labels = _grid_blobs(6.0, n=1200)
    scores = [adjusted_rand_score(labels, Chameleon(4, random_state=seed).fit_predict(X)) for seed in range(3)]
    assert np.median(scores) >= 0.96


def test_noise_around_the_clusters_does_not_become_a_cluster():
    X, labels = TOYS["moons"]
    noise = np.random.RandomState(1).uniform([-1.5, -1.0], [2.5, 1.5], size=(50, 2))
    found = Chameleon(2).fit_predict(np.concatenate([X, noise]))
    assert adjusted_rand_score(labels, found[: len(X)]) >= 0.95


@pytest.mark.parametrize("rounded", [False, True], ids=["exact", "rounded"])
def test_moving_and_turning_the_data_changes_no_label(rounded):
    X = TOYS["moons"][0] * 30.0
    X = np.round(X) if rounded else X
    base = Chameleon(4).fit_predict(X)
    for angle, shift in ((0.0, [1234.5, -1e6]), (0.7, [0.0, 0.0]), (2.0, [50.0, 3.0])):
        assert np.array_equal(Chameleon(4).fit_predict(X @ _rotation(angle) + shift), base)


def test_scaling_all_columns_alike_changes_no_label():
    X = TOYS["circles"][0]
    base = Chameleon(3).fit_predict(X)
    for factor in (1e-120, 3.7):
        assert np.array_equal(Chameleon(3).fit_predict(factor * X), base)


def test_the_same_seed_gives_the_same_labels_in_another_process():
    program = (
        "import numpy as np; from sfumato.cluster import Chameleon;"
        "X = np.random.RandomState(0).normal(size=(400, 2));"
        "print(''.join(map(str, Chameleon(5, random_state=3).fit_predict(X))))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    X = np.random.RandomState(0).normal(size=(400, 2))
    here = [Chameleon(5, random_state=3).fit_predict(X) for _ in range(2)]
    assert np.array_equal(here[0], here[1])
    assert done.stdout.strip() == "".join(map(str, here[0]))


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(1, 60),
    d=st.integers(1, 3),
    k=st.integers(1, 12),
    knn=st.integers(1, 12),
    values=st.integers(1, 8),
    seed=st.integers(0, 1000),
)
def test_any_small_table_gives_k_clusters_and_equal_rows_stay_together(n, d, k, knn, values, seed):
    X = np.random.RandomState(seed).randint(0, values, size=(n, d)).astype(float)
    distinct, groups = np.unique(X, axis=0, return_inverse=True)
    model = Chameleon(k, knn=knn)
    if k > len(distinct):
        with pytest.raises(ParameterError, match=f"found {len(distinct)}"):
            model.fit(X)
        return
    labels = model.fit_predict(X)
    assert sorted(set(labels.tolist())) == list(range(k))
    assert labels[0] == 0
    for group in range(len(distinct)):
        assert len(set(labels[groups.reshape(-1) == group].tolist())) == 1


def test_more_components_than_clusters_are_joined_to_their_nearest():
    random = np.random.RandomState(0)
    places = np.array([0.0, 3.0, 100.0, 103.0, 200.0, 203.0])
    X = (places[np.arange(600) % 6] + random.uniform(-0.5, 0.5, size=600)).reshape(-1, 1)
    labels = Chameleon(3).fit_predict(X)
    assert adjusted_rand_score(np.arange(600) % 6 // 2, labels) == 1.0


def test_many_scattered_components_are_no_trouble():
    random = np.random.RandomState(0)
    X = np.concatenate([random.normal(size=(12, 2)) * 0.01 + random.uniform(0, 1000, 2) for _ in range(60)])
    assert np.bincount(Chameleon(4).fit_predict(X)).min() > 0


def test_heavy_duplicates_do_not_hide_the_clusters():
    random = np.random.RandomState(0)
    X = np.round(np.concatenate([random.normal(0, 2, size=(2000, 2)), random.normal(25, 2, size=(2000, 2))]))
    labels = Chameleon(2).fit_predict(X)
    assert adjusted_rand_score(np.repeat([0, 1], 2000), labels) >= 0.99


@pytest.mark.parametrize(
    "wrong",
    [
        {"n_clusters": 0},
        {"n_clusters": 2.0},
        {"knn": 0},
        {"n_init": 0},
        {"alpha": -1.0},
        {"alpha": np.inf},
        {"min_share": 1.0},
        {"piece_share": -0.1},
    ],
)
def test_wrong_parameters_are_named(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        Chameleon(**wrong).fit(TOYS["moons"][0])


def test_huge_values_are_refused():
    with pytest.raises(DataError, match="cannot be squared"):
        Chameleon(2).fit([[1e200], [0.0], [1.0]])


def test_without_metis_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pymetis", None)
    with pytest.raises(MissingComponentError) as caught:
        Chameleon(2).fit(TOYS["moons"][0])
    assert caught.value.hint == "pip install sfumato[chameleon]"


@pytest.mark.data
@pytest.mark.parametrize(("name", "k"), [("chameleon_t4_8k", 6), ("chameleon_t7_10k", 9)])
@pytest.mark.parametrize("unit", [0, 8], ids=["exact", "rounded to 8"])
def test_the_authors_own_point_sets_are_solved(data_folder, name, k, unit):
    table = np.loadtxt(data_folder / f"{name}.csv", delimiter=",", skiprows=1)
    X, labels = table[:, :2], table[:, 2]
    if unit:
        X = np.round(X / unit) * unit
    real = labels > 0
    assert len(set(labels[real].tolist())) == k
    found = Chameleon(k).fit_predict(X)
    assert adjusted_rand_score(labels[real], found[real]) >= 0.95
