"""What an independent reading of the proof against the code has found, and docs/dp.md's table of it."""

from __future__ import annotations

import importlib
import re
from concurrent.futures import ThreadPoolExecutor
from math import exp
from pathlib import Path
from threading import Barrier

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.exceptions import ParameterError, PolicyError, RepeatedReleaseError
from sfumato.perturb import PrivateMixture
from sfumato.perturb.private.counting import FAILURE, released_rows
from sfumato.perturb.private.noise import epsilon_of
from sfumato.pipeline.budget import Claim, PrivacyLedger, spent_by

ROOT = Path(__file__).resolve().parents[2]


def blobs(n: int = 1500) -> np.ndarray:
    rng = np.random.default_rng(2)
    return rng.normal(size=(n, 3)) + 5.0 * rng.normal(size=(3, 3))[rng.integers(0, 3, n)]


@pytest.mark.parametrize(("sigma", "rows"), [(3.0, 1), (3.0, 8), (40.0, 5), (700.0, 2)])
def test_the_number_of_rows_is_not_cut_for_a_table_or_its_neighbour(sigma: float, rows: int) -> None:
    n, delta = 100_000, 1e-6
    noise = next(t for t in range(20_000) if released_rows(float(n + t), sigma, delta, rows) > n - rows)
    assert exp(-(noise**2) / (2 * sigma**2)) <= FAILURE * delta


def test_a_dataframe_comes_back_without_its_index_and_metadata() -> None:
    table = pd.DataFrame(blobs(), columns=list("abc"), index=[f"customer {i}" for i in range(1500)])
    table.attrs["source"] = "secret"
    method = PrivateMixture(epsilon=5.0, bounds=(-40, 40))
    for made in (method.fit_transform(table), method.transform(table)):
        assert made.index.equals(pd.RangeIndex(len(made)))
        assert not made.attrs
    arrow = pa.Table.from_pandas(table, preserve_index=False)
    assert arrow.schema.metadata
    assert not PrivateMixture(epsilon=5.0, bounds=(-40, 40)).fit_transform(arrow).schema.metadata


def test_no_column_of_the_old_rows_passes_through() -> None:
    with pytest.raises(ParameterError, match="pass through"):
        PrivateMixture(epsilon=5.0, bounds=(-40, 40), columns=[0, 1]).fit(blobs())


def test_a_release_does_not_depend_on_what_an_audit_finds(tmp_path: Path) -> None:
    pl.DataFrame(blobs(300), schema=list("abc")).write_csv(tmp_path / "in.csv")
    for limit in ({"min_grade": "B"}, {"max_misclassification": 0.1}):
        policy = sf.Policy.model_validate(
            {"method": {"name": "dp", "epsilon": 5.0, "bounds": [-40.0, 40.0]}, "audit": limit}
        )
        with pytest.raises(PolicyError, match="would tell of them"):
            sf.release(tmp_path / "in.csv", tmp_path / "out.csv", policy=policy, key=tmp_path / "k")


def test_categories_are_those_of_the_policy_in_the_type_of_the_column_too(tmp_path: Path) -> None:
    rows = blobs(2500)
    kinds = pl.Enum(["cook", "clerk", "Mr Secret of the third floor"])
    table = pl.DataFrame(rows, schema=list("abc")).with_columns(job=pl.Series(["cook", "clerk"] * 1250, dtype=kinds))
    table.write_parquet(tmp_path / "in.parquet")
    policy = sf.Policy.model_validate(
        {
            # one pair of bounds for all numbers stands beside the categories
            "method": {"name": "dp", "epsilon": 5.0, "bounds": [-40.0, 40.0]},
            "column": {"job": {"categories": ["cook", "clerk"]}},
        }
    )
    sf.release(tmp_path / "in.parquet", tmp_path / "out.parquet", policy=policy, key=tmp_path / "k")
    assert b"Secret" not in (tmp_path / "out.parquet").read_bytes()
    assert set(pl.read_parquet(tmp_path / "out.parquet")["job"].unique().to_list()) <= {"cook", "clerk", None}


def test_of_two_releases_at_a_time_the_budget_lets_one_through(tmp_path: Path) -> None:
    claim = Claim(1.0, 1e-6)
    all_found_room = Barrier(4)

    def note(name: str) -> bool:
        ledger = PrivacyLedger(tmp_path)
        ledger.require(claim, 1.2)  # each finds room before it begins
        all_found_room.wait()
        try:
            ledger.note(name, claim, 1.2)
        except RepeatedReleaseError:
            return False
        return True

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(note, "abcd")) == 1


def test_lines_are_taken_back_by_their_own_name(tmp_path: Path) -> None:
    ledger = PrivacyLedger(tmp_path)
    first, second = ledger.note("same", Claim(1.0, 1e-6)), ledger.note("same", Claim(2.0, 1e-6))
    ledger.forget(first)
    assert ledger.require(Claim(0.1, 1e-6), None).epsilon > 2.0
    ledger.forget(second)
    assert ledger.require(Claim(0.1, 1e-6), None).epsilon <= 0.1


def test_releases_of_other_neighbours_and_units_add_up_as_they_must() -> None:
    private, public = Claim(1.0, 1e-6).line(), Claim(1.0, 1e-6, replaced=True).line()
    assert spent_by([private]).epsilon == pytest.approx(1.0, rel=1e-3)
    assert spent_by([public]).epsilon <= 1.0
    # a release that protects against leaving out protects half as well against replacing
    both = spent_by([private, public])
    assert both.epsilon >= epsilon_of(4 * private["rho"] + public["rho"], 1e-6)
    assert "replaced" in both.words
    # the chance of a number of rows that is too large adds up
    many = spent_by([private] * 500)
    assert many.epsilon > epsilon_of(500 * private["rho"], 1e-6) * 1.01
    assert spent_by([private] * 1001).epsilon == float("inf")
    assert "one row" in spent_by([private, Claim(1.0, 1e-6, person=True).line()]).words


def test_the_table_of_the_reading_names_what_exists() -> None:
    page = (ROOT / "docs" / "dp.md").read_text(encoding="utf-8")
    block = re.search(r"<!-- reading -->(.*)<!-- /reading -->", page, re.DOTALL)
    assert block is not None
    rows = [line.strip("| ").split(" | ") for line in block[1].strip().splitlines()[2:]]
    assert len(rows) > 20
    tests = "".join(file.read_text(encoding="utf-8") for file in (ROOT / "tests").rglob("test_*.py"))
    for _, where, checked in rows:
        for module, name in re.findall(r"`([\w/]+)\.py: ([\w.]+)`", where):
            found = importlib.import_module("sfumato." + module.replace("/", "."))
            for part in name.split("."):
                found = getattr(found, part)
        assert "`" in where
        for name in re.findall(r"`(test_\w+)`", checked):
            assert f"def {name}(" in tests, name
