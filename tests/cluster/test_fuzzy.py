from __future__ import annotations

import gzip

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from sfumato.cluster import FuzzyCMeans, fuzzy_centres, fuzzy_memberships
from sfumato.cluster.fixed_order import BLOCK_ROWS
from sfumato.exceptions import DataError, ParameterError

SMALL_INTEGERS = arrays(np.float64, st.tuples(st.integers(4, 30), st.just(2)), elements=st.integers(0, 3).map(float))


def _blobs(n=300, seed=0):
    random = np.random.RandomState(seed)
    labels = np.arange(n) % 3
    return np.array([[0.0, 0.0], [12.0, 0.0], [0.0, 12.0]])[labels] + random.normal(size=(n, 2)), labels


def _brute_memberships(X, centres, fuzziness):
    out = np.zeros((len(X), len(centres)))
    for i, row in enumerate(X):
        distances = [np.sqrt(((row - centre) ** 2).sum()) for centre in centres]
        if 0.0 in distances:
            out[i] = [float(value == 0.0) for value in distances]
            out[i] /= out[i].sum()
            continue
        for j, own in enumerate(distances):
            out[i, j] = 1.0 / sum((own / other) ** (2.0 / (fuzziness - 1.0)) for other in distances)
    return out


@given(st.integers(0, 1000), st.sampled_from([1.5, 2.0, 3.0]), st.integers(1, 4))
def test_memberships_are_those_of_the_definition(seed, fuzziness, k):
    random = np.random.RandomState(seed)
    X, centres = random.normal(size=(12, 3)), random.normal(size=(k, 3))
    centres[0] = X[0]
    found = fuzzy_memberships(X, centres, fuzziness=fuzziness)
    assert np.allclose(found, _brute_memberships(X, centres, fuzziness))


@settings(max_examples=50)
@given(SMALL_INTEGERS, st.integers(1, 4), st.sampled_from([1.3, 2.0]))
def test_duplicates_and_coincident_centres_never_give_nan(X, k, fuzziness):
    found = fuzzy_centres(X, k, fuzziness=fuzziness)
    assert np.isfinite(found.centres).all()
    memberships = fuzzy_memberships(X, found.centres, fuzziness=fuzziness)
    assert (memberships >= 0.0).all()
    assert np.allclose(memberships.sum(axis=1), 1.0)


def test_a_row_on_several_centres_is_shared_equally():
    assert fuzzy_memberships([[1.0], [4.0]], [[1.0], [1.0], [9.0]])[0].tolist() == [0.5, 0.5, 0.0]


def test_tiny_distances_do_not_overflow():
    X = np.array([[0.0], [1e-160], [3e-160], [1.0]])
    assert np.isfinite(fuzzy_memberships(X, [[0.0], [2e-160]])).all()


@given(st.integers(0, 500))
def test_the_centres_are_a_fixed_point_of_the_definition(seed):
    X = np.random.RandomState(seed).normal(size=(60, 2))
    found = fuzzy_centres(X, 3, tol=1e-9, max_iter=5000)
    weights = _brute_memberships(X, found.centres, 2.0) ** 2
    again = (weights.T @ X) / weights.sum(axis=0)[:, None]
    assert found.converged
    assert np.allclose(again, found.centres, atol=1e-6)


@pytest.mark.parametrize("fuzziness", [1.5, 2.0, 2.5])
def test_separated_groups_are_found(fuzziness):
    X, labels = _blobs()
    model = FuzzyCMeans(3, fuzziness=fuzziness).fit(X)
    assert adjusted_rand_score(labels, model.labels_) == 1.0
    assert np.array_equal(model.labels_, model.predict(X))
    assert np.array_equal(model.labels_, model.memberships(X).argmax(axis=1))


def test_the_result_does_not_depend_on_layout_and_hardly_on_row_order():
    X, _ = _blobs(2 * BLOCK_ROWS + 100)
    base = fuzzy_centres(X, 3).centres
    assert np.array_equal(fuzzy_centres(np.asfortranarray(X), 3).centres, base)
    shuffled = X[np.random.RandomState(0).permutation(len(X))]
    assert np.allclose(fuzzy_centres(shuffled, 3).centres, base, atol=1e-4)


def test_one_cluster_is_the_mean():
    X, _ = _blobs()
    assert np.allclose(fuzzy_centres(X, 1).centres, X.mean(axis=0))


def test_given_and_random_starts_reach_the_same_separated_groups():
    X, _ = _blobs()
    base = fuzzy_centres(X, 3).centres
    given_start = fuzzy_centres(X, 3, init=base + 1.0).centres
    drawn = fuzzy_centres(X, 3, init="random", random_state=7).centres
    assert np.allclose(given_start, base, atol=1e-4)
    assert np.allclose(drawn[np.lexsort(drawn.T)], base[np.lexsort(base.T)], atol=1e-4)


def test_the_starting_centres_given_are_left_alone():
    X, _ = _blobs()
    start = np.ascontiguousarray(X[:3])
    copy = start.copy()
    fuzzy_centres(X, 3, init=start)
    assert np.array_equal(start, copy)


def test_stopping_too_early_warns():
    X, _ = _blobs()
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        FuzzyCMeans(3, max_iter=1).fit(X)


@pytest.mark.parametrize(
    "wrong",
    [
        {"k": 0},
        {"k": 2.5},
        {"k": 99},
        {"fuzziness": 1.0},
        {"fuzziness": np.nan},
        {"max_iter": 0},
        {"tol": -1.0},
        {"init": "k-means++"},
        {"init": [[0.0, 0.0]]},
        {"init": [[0.0], [1.0], [2.0]]},
    ],
)
def test_wrong_parameters_are_named(wrong):
    arguments = {"k": 3} | wrong
    with pytest.raises(ParameterError):
        fuzzy_centres(_blobs(30)[0], **arguments)


def test_missing_values_are_refused():
    with pytest.raises(DataError, match="missing"):
        fuzzy_centres([[np.nan], [1.0]], 1)


@pytest.mark.data
def test_it_converges_on_adult_within_the_rounds(data_folder):
    with gzip.open(data_folder / "adult.csv.gz", "rt", encoding="utf-8") as file:
        header = next(file).rstrip("\n").split(",")
        age, hours, work = (header.index(name) for name in ("age", "hours-per-week", "workclass"))
        cells = [line.rstrip("\n").split(",") for line in file]
    X = np.array([[float(row[age]), float(row[hours])] for row in cells if row[work]])
    assert X.shape == (30725, 2)
    found = fuzzy_centres(X, 2)
    assert found.converged
    assert found.n_iter <= 50
    assert found.centres.round(1).tolist() == [[29.2, 39.5], [49.4, 42.3]]
