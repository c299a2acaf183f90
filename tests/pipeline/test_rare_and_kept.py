"""Whom a release must not give away: people with rare categories, and people whom kept columns single out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import sfumato as sf
from sfumato.cli import sfumato
from sfumato.exceptions import SingledOutWarning
from sfumato.files.finish import KeptCombinations
from tests.values import FEW, exchanged

pytestmark = pytest.mark.usefixtures("everybody")

ONE_DRAW = "[method]\nname = 'exchange'\ndraws = 1\nclusterings = [2, 3]\n"


def people(n: int = 300, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    job = rng.choice(["clerk", "nurse", "cook"], n).astype(object)
    job[:3], job[3:5] = "king", "pope"
    return pl.DataFrame({"age": rng.integers(18, 90, n), "wage": rng.normal(30, 9, n).round(2), "job": job.tolist()})


def release(tmp_path: Path, table: pl.DataFrame, policy: str = "", **more: Any) -> tuple[pl.DataFrame, sf.Receipt]:
    table.write_csv(tmp_path / "table.csv")
    (tmp_path / "policy.toml").write_text(policy)
    receipt = sf.release(
        tmp_path / "table.csv", tmp_path / "out.csv", tmp_path / "policy.toml", key=tmp_path / "k", **more
    )
    return pl.read_csv(tmp_path / "out.csv"), receipt


def test_rare_categories_stay_unless_somebody_says_otherwise(tmp_path: Path) -> None:
    rows, _ = release(tmp_path, people(), ONE_DRAW)
    assert set(rows["job"]) == set(people()["job"])
    assert exchanged(people()["job"], rows["job"])


@pytest.mark.usefixtures("few_clusters")
def test_rare_categories_are_merged(tmp_path: Path) -> None:
    rows, receipt = release(tmp_path, people(), "[columns]\nrare = 'merge'\n" + ONE_DRAW)
    assert set(rows["job"]) == {"clerk", "nurse", "cook", "other"}
    assert 3 <= (rows["job"] == "other").sum() <= 7
    assert any("2 rare value(s) of 5 people are 'other'" in note for note in receipt.notes)
    assert "king" not in str(receipt)
    files = [str(tmp_path / "table.csv"), str(tmp_path / "out.csv")]
    audited = CliRunner().invoke(sfumato, ["audit", *files, "--key", str(tmp_path / "k")])
    assert audited.exit_code == 0, audited.output


def test_rare_categories_are_masked(tmp_path: Path) -> None:
    rows, receipt = release(tmp_path, people(), ONE_DRAW + "[column.job]\nrare = 'mask'\n")
    assert set(rows["job"]) == {"clerk", "nurse", "cook", None}
    assert 3 <= rows["job"].null_count() <= 7
    assert any("are missing in the release" in note for note in receipt.notes)


def test_too_few_to_be_merged_are_masked(tmp_path: Path) -> None:
    table = people().with_columns(job=pl.col("job").replace("king", "pope").replace("pope", "cook"))
    table = table.with_columns(job=pl.when(pl.int_range(pl.len()) < 2).then(pl.lit("king")).otherwise("job"))
    rows, _ = release(tmp_path, table, "[columns]\nrare = 'merge'\n" + ONE_DRAW)
    assert set(rows["job"]) == {"clerk", "nurse", "cook", None}


def test_kept_columns_that_single_people_out_are_named_with_the_number_of_people(tmp_path: Path) -> None:
    table = people().with_columns(town=pl.int_range(pl.len()) // 150)
    with pytest.warns(SingledOutWarning, match=r"of 300 rows 0 have a combination of their own, and 5 share theirs"):
        release(tmp_path, table, ONE_DRAW, keep=["job", "town"])


def test_kept_columns_that_many_share_are_no_reason_to_warn(tmp_path: Path) -> None:
    table = people().with_columns(town=pl.int_range(pl.len()) // 150)
    _, receipt = release(tmp_path, table, ONE_DRAW, keep=["town"])
    assert receipt.notes == ()


def test_combinations_are_counted_in_any_order_and_in_bounded_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sfumato.files.finish._MOST_COMBINATIONS", 64)
    rng = np.random.default_rng(1)
    table = pl.DataFrame({"a": rng.integers(0, 4000, 6000), "b": rng.integers(0, 3, 6000)})
    parts = [KeptCombinations.of(table.slice(start, 700)) for start in range(0, 6000, 700)]
    totals = []
    for order in (parts, parts[::-1]):
        seen = KeptCombinations()
        for part in order:
            seen.merge(part)
        totals.append((seen.alone, seen.among_few))
    assert totals[0] == totals[1]
    exact = table.group_by(pl.all()).len()["len"]
    assert totals[0][0] == pytest.approx(int((exact == 1).sum()), rel=0.5)


def numbers(n: int = 300) -> pl.DataFrame:
    rng = np.random.default_rng(2)
    return pl.DataFrame({"wage": rng.normal(30, 9, n).round(2), "rent": np.exp(rng.normal(6, 1, n)).round(2)})


@pytest.mark.parametrize(
    "column",
    [
        pytest.param(lambda rng, n: rng.integers(1, 5, n), id="code"),
        pytest.param(lambda rng, n: np.where(rng.random(n) < 0.6, 0.0, rng.gamma(2, 300, n).round(2)), id="spike"),
        pytest.param(lambda rng, n: np.where(rng.random(n) < 0.04, -1.0, rng.gamma(2, 300, n).round(2)), id="sentinel"),
    ],
)
def test_numbers_that_stand_for_something_are_exchanged_by_default(tmp_path: Path, column: Any) -> None:
    table = numbers(150).with_columns(x=column(np.random.default_rng(3), 150))
    rows, receipt = release(tmp_path, table)
    assert receipt.method == "exchange"
    value, count = table["x"].value_counts().sort("count", descending=True).row(0)
    assert (rows["x"] == value).sum() == pytest.approx(count, rel=FEW, abs=2)


def test_parameters_alone_leave_the_choice_of_the_method_to_the_table(tmp_path: Path) -> None:
    _, receipt = release(tmp_path, people(), parameters={"draws": 1, "clusterings": [2]})
    assert receipt.method == "exchange"
    (tmp_path / "other").mkdir()
    _, receipt = release(tmp_path / "other", numbers(), parameters={"draws": 1, "clusterings": [2]})
    assert receipt.method == "mix"


def test_columns_that_the_kept_clusters_follow_are_named(tmp_path: Path) -> None:
    rng, n = np.random.default_rng(3), 300
    smokes = np.where(np.arange(n) % 3 == 0, "yes", "no")
    table = numbers(n).with_columns(
        pl.col("wage") + 200.0 * pl.Series(smokes == "yes"),
        smokes=pl.Series(smokes),
        owns=pl.Series(rng.choice(["yes", "no"], n)),
    )
    _, receipt = release(tmp_path, table, method="exchange", parameters={"clusterings": [2, 3], "draws": 1})
    [note] = [note for note in receipt.notes if "mostly knows" in note]
    assert "knows smokes: the kept clusters follow it" in note
    (tmp_path / "other").mkdir()
    other = table.drop("smokes", "wage")
    _, receipt = release(tmp_path / "other", other, method="exchange", parameters={"clusterings": [2], "draws": 1})
    assert not any("mostly knows" in note for note in receipt.notes)


def test_measurements_are_mixed_by_default_and_stay_in_a_range_that_is_nobodys(tmp_path: Path) -> None:
    table = numbers()
    rows, receipt = release(tmp_path, table)
    assert receipt.method == "mix"
    assert rows["rent"].min() >= 0
    assert rows["rent"].max() <= 1.1 * table["rent"].max()


def test_decimal_commas_need_no_flag(tmp_path: Path) -> None:
    table = numbers(120)
    lines = [f"{wage};{rent}".replace(".", ",") for wage, rent in table.rows()]
    (tmp_path / "table.csv").write_text("wage;rent\n" + "\n".join(lines) + "\n")
    receipt = sf.release(tmp_path / "table.csv", tmp_path / "out.csv", key=tmp_path / "k")
    assert receipt.method == "exchange"
    text = (tmp_path / "out.csv").read_text()
    assert "." not in text
    assert text.count(",") == 2 * 120
