"""k-prototypes finds what is known, and the same again."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans

from sfumato.cluster.k_prototypes import k_prototypes
from sfumato.exceptions import ParameterError
from sfumato.metrics import adjusted_rand


def mixed(n: int = 300, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return three kinds of people: numbers tell the first from the rest, categories the second from the third."""
    draw = np.random.default_rng(seed)
    kind = draw.integers(0, 3, n)
    numbers = np.column_stack([8.0 * (kind == 0), np.zeros(n)]) + draw.normal(size=(n, 2))
    categories = np.column_stack([np.where(draw.random(n) < 0.9, kind == 2, draw.integers(0, 2, n)) for _ in range(6)])
    return numbers, categories.astype(float), kind


def test_known_groups_come_out() -> None:
    numbers, categories, kind = mixed()
    found = k_prototypes(numbers, categories, 3, gamma=3.0)
    assert adjusted_rand(kind, found.labels) > 0.95
    assert adjusted_rand(kind, k_prototypes(numbers, categories[:, :0], 3).labels) < 0.8
    assert adjusted_rand(kind, k_prototypes(numbers[:, :0], categories, 3).labels) < 0.8


def test_without_categories_it_is_k_means() -> None:
    numbers, categories, _ = mixed()
    ours = k_prototypes(numbers, categories[:, :0], 4, n_init=20)
    theirs = KMeans(4, n_init=20, random_state=0).fit(numbers)
    assert ours.cost == pytest.approx(theirs.inertia_, rel=1e-6)
    assert adjusted_rand(theirs.labels_, ours.labels) == pytest.approx(1.0)


def test_the_cost_is_that_of_the_definition_and_modes_are_modes() -> None:
    numbers, categories, _ = mixed(60)
    found = k_prototypes(numbers, categories, 3, gamma=0.7)
    rows = zip(numbers, categories, found.labels, strict=True)
    cost = sum(((x - found.means[g]) ** 2).sum() + 0.7 * (c != found.modes[g]).sum() for x, c, g in rows)
    assert found.cost == pytest.approx(cost)
    for g in range(3):
        inside = categories[found.labels == g]
        for j in range(categories.shape[1]):
            values, counts = np.unique(inside[:, j], return_counts=True)
            assert found.modes[g, j] == values[counts.argmax()]
        assert found.means[g] == pytest.approx(numbers[found.labels == g].mean(axis=0))


def test_the_same_seed_gives_the_same_clusters() -> None:
    numbers, categories, _ = mixed(200, 3)
    first, second = (k_prototypes(numbers, categories, 5, seed=4) for _ in range(2))
    assert np.array_equal(first.labels, second.labels)
    assert first.cost == second.cost


def test_awkward_tables_end() -> None:
    same = np.zeros((6, 2))
    assert k_prototypes(same, same, 3).cost == 0.0
    assert sorted(k_prototypes(np.arange(4.0)[:, None], np.zeros((4, 1)), 4).labels) == [0, 1, 2, 3]
    for k in (0, 7):
        with pytest.raises(ParameterError, match="k must lie"):
            k_prototypes(same, same, k)
