"""Audits of releases that keep clusters: residual security counts the atom's mean, the grade counts half records."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.auditing.inversion import invert
from sfumato.auditing.run import audit
from sfumato.datasets import CONFIDENTIAL, demo_table
from tests.attack.test_atoms import clustered, mixed, named

pytestmark = pytest.mark.usefixtures("everybody")

QUICK = ["as-released", "moments", "atom-mean", "nearest", "atom-likelihood", "span", "cluster-sums", "affine"]


@pytest.fixture(scope="module")
def well_clustered():
    return clustered(900, 6)


def test_residual_security_is_the_smallest_over_all_attacks_and_counts_the_atoms_mean(well_clustered):
    x = well_clustered
    report = audit(x, mixed(x, named(x, range(2, 9))), attacks=QUICK, utility=False)
    by_attack = {column.residual_attack for column in report.privacy.columns}
    assert by_attack <= {"atom-mean", "cluster-sums"}
    for column in report.privacy.columns:
        assert 0.0 < column.residual < 0.9 * column.security


def test_small_atoms_that_were_mixed_are_completed_from_half_a_record_and_the_verdict_says_so():
    draw = np.random.default_rng(1)
    # far apart and few in each: k-means finds the groups again
    groups = np.repeat(np.arange(8), 7)
    x = 6.0 * draw.normal(size=(8, 16))[groups] + draw.normal(size=(56, 16))
    report = audit(x, mixed(x, {8: groups}), attacks=["span", "nearest"], utility=False)
    line = next(line for line in report.attacks if line.id == "span")
    assert (line.cost, line.rate) == ("half record", 1.0)
    assert report.grade == "C"
    assert "knows half of a person's values completes the record in 100%" in report.verdict


def test_an_attack_on_people_is_no_inversion_of_rows(well_clustered):
    x = well_clustered[:200]
    referee = sf.attack.Referee(x, x)
    results = referee.run_all(["span"])
    assert invert(referee, results, x).attack == "as-released"


def test_linkage_before_and_after_inversion_is_measured_on_the_same_rows():
    x = np.random.default_rng(0).normal(size=(6000, 3))
    report = audit(x, x + 0.05, attacks=["moments", "nearest"], utility=False)
    assert report.inverted.rows == 2000
    assert report.inverted.linked_as_released == pytest.approx(report.inverted.linked_inverted)


def test_what_the_ladder_tells_of_everybody_is_no_leak_and_a_near_copy_is():
    table = demo_table().select(CONFIDENTIAL).head(1500)
    method = sf.perturb.AtomMixing(draws=1, insecure_seed=1)
    attacks = ["as-released", "quantiles", "spectral"]
    found = audit(table, method.fit_transform(table), method=method, attacks=attacks, utility=False)
    assert found.grade == "A"
    told = next(result for result in found.attacks if result.id == "quantiles")
    assert told.baseline > told.rate - 0.05  # somebody else of the same clusters is guessed as well
    draw = np.random.default_rng(0)
    near = table.with_columns(pl.col(name) * (1 + 0.001 * draw.normal(size=len(table))) for name in CONFIDENTIAL)
    assert audit(table, near, method=method, attacks=attacks, utility=False).grade == "F"
