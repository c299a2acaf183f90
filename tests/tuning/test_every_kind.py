"""Comparing and tuning on a table of texts, flags, dates and gaps: whole where a method takes it, said where not."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

import sfumato as sf
from sfumato import cli
from tests.perturb.test_exchange import bank


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    people = pl.Series([f"person {i}" for i in range(160)])
    return bank(160).select("age", "wage", "job", "since").with_columns(name=people)


def test_a_mixed_table_is_compared_whole_where_a_method_takes_it(table: pl.DataFrame, tmp_path: Path) -> None:
    table.write_csv(tmp_path / "people.csv")
    command = ["compare", str(tmp_path / "people.csv"), "-m", "exchange", "-m", "adp", "--clusters", "2"]
    done = CliRunner().invoke(cli.sfumato, [*command, "--json"])
    assert done.exit_code == 0, done.output
    found = sf.Comparison.model_validate_json(done.stdout)
    assert found.columns == ("age", "wage", "job", "since")
    assert {one.label: one.numbers_only for one in found.tried} == {
        "exchange": False,
        "adp (numbers)": True,
        "adp (paper) (numbers)": True,
    }
    text = found.to_text()
    assert text.index("exchange") < text.index("adp (numbers)"), "on all columns first"
    assert "free text or identifiers, so left out: name" in text
    assert "measured on age, wage, without job, since" in text
    assert "person 1" not in text + found.to_html()
    assert "nurse" not in found.to_json()


def test_methods_that_take_numbers_only_are_compared_on_them_and_it_is_said(table: pl.DataFrame) -> None:
    found = sf.compare(table, ["tdp"], clusters=[2])
    assert found.columns == ("age", "wage")
    assert not any(one.numbers_only for one in found.tried)
    assert any(note.endswith("so left out: job, since") for note in found.notes)
    words = sf.compare(table.select("job", "since"), ["exchange", "tdp"], clusters=[2])
    assert {one.label for one in words.tried} == {"exchange"}
    assert {one.reason for one in words.left_out} == {"takes numbers only, and there are none"}


def test_a_mixed_table_is_tuned_with_what_takes_it(table: pl.DataFrame, tmp_path: Path) -> None:
    found = sf.tune(table, 0.5, methods=["exchange", "adp"], clusters=[2], candidates=2)
    assert found.met
    assert {one.method for one in found.finalists} == {"exchange"}
    assert any(note.startswith("not searched, because they take numbers only: adp") for note in found.notes)
    policy = sf.parse_policy(found.policy)
    assert policy.columns.identifier == ["name"]
    assert policy.method is not None
    assert policy.method.name == "exchange"
    assert "kinds" not in policy.method.parameters
    table.write_csv(tmp_path / "in.csv")
    (tmp_path / "policy.toml").write_text(found.policy.replace('min_grade = "A"', 'min_grade = "F"'))
    done = sf.release(tmp_path / "in.csv", tmp_path / "out.csv", tmp_path / "policy.toml", key=tmp_path / "k")
    assert done.perturbed == ("age", "wage", "job", "since")
