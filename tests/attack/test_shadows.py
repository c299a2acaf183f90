"""Shadow releases: who is in the table, and what one person changes; found where it is there, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest

import sfumato as sf
from sfumato.attack import membership, one_row_difference
from sfumato.exceptions import DataError, ParameterError


def people(n: int = 200, d: int = 4, seed: int = 0) -> np.ndarray:
    draw = np.random.default_rng(seed)
    return draw.normal(size=(n, d)) @ (np.eye(d) + 0.5 * draw.normal(size=(d, d)))


def noisy(size: float):
    return lambda rows, number: rows + size * rows.std(axis=0) * np.random.default_rng(number).normal(size=rows.shape)


def outliers_only(rows: np.ndarray, number: int) -> np.ndarray:
    """Strangers, but the farthest tenth stand nearly where they stood."""
    drawn = np.random.default_rng(number).normal(size=rows.shape) * rows.std(axis=0)
    far = np.argsort(-(rows**2).sum(axis=1))[: len(rows) // 10]
    drawn[far] = rows[far] * 1.01
    return drawn


def test_members_are_told_in_a_near_copy_and_not_in_huge_noise() -> None:
    copy = membership(noisy(0.02), people(), shadows=16)
    assert copy.auc_low > 0.9
    assert copy.tpr > 0.5
    assert (copy.targets, copy.exposed, copy.shadows) == (40, 10, 16)
    assert abs(copy.auc_control - 0.5) < 0.08
    hidden = membership(noisy(50.0), people(), shadows=32)
    assert abs(hidden.auc - 0.5) < 0.06
    assert max(hidden.auc_low, hidden.auc_exposed_low) < 0.5
    assert hidden.tpr < 0.06


def test_the_most_exposed_have_figures_of_their_own() -> None:
    found = membership(outliers_only, people(), shadows=16)
    assert found.auc_exposed > 0.9
    assert found.auc < found.auc_exposed - 0.1


def test_shadows_repeat_exactly_and_rows_may_be_held_back() -> None:
    def holding_back(rows: np.ndarray, number: int) -> np.ndarray:
        return noisy(0.02)(rows, number)[: len(rows) - 5]

    first = membership(holding_back, people(100), targets=range(20), shadows=8)
    assert first == membership(holding_back, people(100), targets=range(20), shadows=8)
    assert first.targets == 20
    assert first.auc > 0.8
    assert one_row_difference(holding_back, people(100), people=12).people == 12


@pytest.mark.parametrize("same_key", [False, True])
def test_sums_that_are_kept_tell_the_person_who_is_missing(same_key: bool) -> None:
    table = people(150, 5)
    kept = one_row_difference(lambda rows, _: rows.mean(axis=0) + 0 * rows, table, same_key=same_key)
    assert (kept.cells, kept.cells_exposed, kept.people, kept.exposed) == (1.0, 1.0, 20, 10)
    assert kept.guess < 0.4
    assert kept.error < 1e-9
    moved = one_row_difference(noisy(1.0), table, same_key=False)
    assert moved.cells < 0.05
    assert moved.error > 1.0


def test_a_perturber_is_tried_with_keys_of_its_own() -> None:
    method = sf.perturb.AdditiveNoise(0.05, key=sf.Key(bytes(32)))
    assert membership(method, people(100), shadows=8).auc > 0.9
    assert method.key is not None
    # two releases of one key have noise of their own: their tables differ
    assert one_row_difference(sf.perturb.AdditiveNoise(1.0), people(100), people=10, same_key=True).cells < 0.1


def test_what_cannot_be_asked_is_one_clear_error() -> None:
    with pytest.raises(DataError, match="too few"):
        membership(noisy(1.0), people(20))
    with pytest.raises(DataError, match="too few"):
        one_row_difference(noisy(1.0), people(5))
    with pytest.raises(ParameterError, match="at least 8"):
        membership(noisy(1.0), people(), shadows=2)
    with pytest.raises(ParameterError, match="between 0 and 199"):
        membership(noisy(1.0), people(), targets=[200])
    with pytest.raises(ParameterError, match="perturber or a function"):
        membership("mix", people())
    with pytest.raises(ParameterError, match="method itself"):
        sf.audit(people(), people(), method="adp", attacks=["nearest"], shadows=8, utility=False)


def test_an_audit_with_shadows_says_who_is_told() -> None:
    table = people(120)
    method = sf.perturb.AdditiveNoise(0.2, insecure_seed=1)
    plain = {"attacks": ["span"], "utility": False, "method": method}
    report = sf.audit(table, method.fit_transform(table), shadows=8, **plain)
    assert report.shadows is not None
    assert report.shadows.membership.auc > 0.7
    assert report.grade in ("B", "C")
    assert "Who is in the table is told" in report.verdict
    for line in report.shadows.lines:
        assert line in report.to_text()
    assert sf.audit(table, method.fit_transform(table), **plain).shadows is None
