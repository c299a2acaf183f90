from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import sfumato.attack
from sfumato.attack import Attack, Referee, attacks, load
from sfumato.attack.catalogue import cost_of_known, default_known, entry

LADDER = {
    0: {"as-released", "lattice", "orbit", "seed", "spectral", "pca-dr", "bayes", "em", "contraction", "atom-mean",
        "releases"},
    1: {"moments", "quantiles", "orbit-range"},
    2: {"sample-pca", "ak-ica", "projection"},
    3: {"distances", "kept-columns", "nearest", "gower", "equal-cells", "fellegi-sunter", "ranks", "farthest",
        "likelihood", "near-copies", "views",
        "clip-slack", "atom-likelihood", "span"},
    4: {"shaped-affine", "group-affine", "chains", "look-up", "curves", "low-digits", "row-numbers", "directions",
        "forward", "invariants", "stacked-releases", "bit-sums", "digit-sums", "lags", "row-noise", "traces",
        "congruences", "remainders", "orbit-known", "affine", "affine-columns", "ransac", "trilateration", "ridge",
        "differencing", "cluster-sums"},
}  # fmt: skip


def test_the_catalogue_is_the_whole_ladder():
    assert {rung: {row.id for row in attacks() if row.rung == rung} for rung in range(5)} == LADDER


@pytest.mark.parametrize("row", attacks(), ids=lambda row: row.id)
def test_every_row_loads_an_attack_that_declares_the_same(row):
    attack = load(row.id)
    assert isinstance(attack, Attack)
    assert attack.entry is row
    assert (attack.rung, attack.cost) == (row.rung, row.cost)
    assert type(attack).__doc__
    assert row.summary.endswith(".")


def test_costs_follow_the_ladder():
    for row in attacks():
        if row.rung <= 1:
            assert row.cost == "nothing"
        if row.rung == 2:
            assert row.cost == "sample"
        if row.goal == "links":
            assert row.cost == ("kept columns" if row.id in {"kept-columns", "row-numbers"} else "full record")


def test_cost_grows_with_the_number_of_known_people():
    row = entry("affine")
    assert [cost_of_known(row, known, 1000, 8) for known in (10, 11, 100, 101)] == [
        "few records",
        "many records",
        "many records",
        "most records",
    ]


def test_default_knowledge_is_at_most_a_quarter_of_the_table():
    for row in attacks():
        if row.known not in {"persons", "lookups"}:  # there each known person is a question of its own
            assert default_known(row, 40, 20) <= 10


def test_every_export_exists_and_importing_stays_light():
    for name in sfumato.attack.__all__:
        assert getattr(sfumato.attack, name) is not None
    code = "import sys, sfumato.attack as a; a.attacks(); sys.exit('sklearn' in sys.modules or 'scipy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def awkward_tables():
    draw = np.random.default_rng(0)
    table = draw.normal(size=(40, 3)).round(1)
    gap = table.copy()
    gap[3, 1] = np.nan
    constant = table.copy()
    constant[:, 1] = 7.0
    ties = np.repeat(table[:4], 10, axis=0)
    return {
        "missing cell in the original": (gap, table),
        "missing cell in the release": (table, gap),
        "infinite cell in the original": (np.where(np.isnan(gap), -np.inf, gap), table),
        "infinite cell in the release": (table, np.where(np.isnan(gap), np.inf, gap)),
        "constant column": (constant, constant + 1.5),
        "constant release": (table, np.zeros_like(table)),
        "all columns constant": (np.ones((40, 3)), np.ones((40, 3))),
        "three rows": (table[:3], table[:3] + 1),
        "one row": (table[:1], table[:1] + 1),
        "five rows": (table[:5], table[:5] + 1),
        "nine rows": (table[:9], table[:9] + 1),
        "one column": (table[:, :1], table[:, :1] + 1),
        "repeated rows": (ties, ties + 0.3),
        "more columns than rows": (draw.normal(size=(20, 30)), draw.normal(size=(20, 30))),
        "fewer released columns": (table, table[:, :2]),
        "huge numbers": (table * 1e150, table * 1e150 + 1),
        "tiny numbers": (table * 1e-150, table * 1e-150),
    }


@pytest.mark.parametrize("case", list(awkward_tables()))
@pytest.mark.parametrize("told", [{}, {"method": "adp", "parameters": {"scale": 0.5}}, {"method": "chaotic"}], ids=str)
def test_awkward_tables_give_a_status_with_a_reason_and_never_an_error(case, told):
    original, released = awkward_tables()[case]
    referee = Referee(original, released, **told)
    identifiers = [row.id for row in attacks() if row.id != "seed" or case in {"constant column", "nine rows"}]
    for result in referee.run_all(identifiers):
        assert result.status != "error", (result.attack, result.reason)
        if result.status == "not applicable":
            assert result.reason
            assert result.rate is None
        if result.rate is not None:
            assert 0 <= result.low <= result.rate <= result.high <= 1


@pytest.mark.parametrize(
    "case",
    ["missing cell in the original", "infinite cell in the original", "missing cell in the release", "three rows"],
)
def test_what_cannot_be_attacked_is_not_applicable(case):
    original, released = awkward_tables()[case]
    assert {result.status for result in Referee(original, released).run_all()} == {"not applicable"}


@pytest.mark.parametrize(
    "parameters",
    [{"scale": "much"}, {"scale": -1}, {"scale": [1, 2]}, {"amplitude": "x"}, {"amplitude": 3}, {"beta": None},
     {"move": 0.5, "labels": [1]}, {"move": 0.5, "group_size": "x"}, {"move": "x"}, {"matrix": "x"},
     {"matrix": [[1.0]]}, {"distribution": "cauchy", "scale": 1}],
    ids=str,
)  # fmt: skip
def test_nonsense_in_the_public_description_breaks_no_attack(make, parameters):
    table = make.people(40, 3)
    for method in ("adp", "cov", "chaotic", "ina", "rp", "something else"):
        referee = Referee(table, table + 1, method=method, parameters=parameters)
        for result in referee.run_all([row.id for row in attacks() if row.id != "seed"]):
            assert result.status != "error", (method, result.attack, result.reason)
