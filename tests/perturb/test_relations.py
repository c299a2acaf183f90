"""Relations between columns: read, found, kept by an exchange, and never broken in silence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.cli import sfumato
from sfumato.core.relations import coded_relation, parse_relation
from sfumato.frames.related import find_relations
from sfumato.perturb import AtomExchange

DECLARED = [
    "total = a + b",
    "begin <= end",
    "pdays = -1 exactly where previous = 0",
    "outcome = unknown exactly where previous = 0",
    "low <= high",
    "remark = missing where previous = 0",
]


def visits(n: int = 400, seed: int = 1) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    a, b = np.round(np.exp(rng.normal(5, 1, n)), 2), np.round(np.exp(rng.normal(4, 1, n)), 2)
    previous = rng.poisson(0.6, n)
    begin = np.datetime64("2015-01-01") + rng.integers(0, 900, n)
    low = np.round(rng.normal(50, 9, n), 1)
    remark = np.where(previous == 0, None, rng.choice(["well", "ill"], n))
    return pl.DataFrame(
        {
            "a": a,
            "b": b,
            "total": np.round(a + b, 2),
            "previous": previous,
            "pdays": np.where(previous == 0, -1, rng.integers(1, 400, n)),
            "begin": begin,
            "end": begin + rng.integers(0, 300, n),
            "outcome": np.where(previous == 0, "unknown", rng.choice(["yes", "no"], n)),
            "low": low,
            "high": low + np.round(rng.gamma(2, 3, n), 1),
            "remark": pl.Series(remark.tolist(), dtype=pl.String),
        }
    )


def broken(rows: pl.DataFrame) -> dict[str, int]:
    none = rows["previous"] == 0
    return {
        "total": int(((rows["total"] - rows["a"] - rows["b"]).abs() > 0.001).sum()),
        "dates": int((rows["begin"] > rows["end"]).sum()),
        "pdays": int(((rows["pdays"] == -1) != none).sum()),
        "outcome": int(((rows["outcome"] == "unknown") != none).sum()),
        "range": int((rows["low"] > rows["high"]).sum()),
        "remark": int((none & rows["remark"].is_not_null()).sum()),
    }


def test_what_a_relation_says_is_read() -> None:
    relation = parse_relation("income = wage + 0.5 * rent - tax - 20")
    assert relation.terms == ((1.0, "wage"), (0.5, "rent"), (-1.0, "tax"))
    assert relation.constant == -20
    assert parse_relation('"capital gain" > capital-loss').columns == ("capital-loss", "capital gain")
    assert parse_relation("x = no exactly where y = 2").values == ("no", "2")


@pytest.mark.parametrize("text", ["", "a", "a=b", "a = ", "a = 3", " <= b", "x where y = 1", "a = 0 * b", "a = x * b"])
def test_what_is_no_relation_is_refused(text: str) -> None:
    with pytest.raises(sf.SfumatoError, match="no relation"):
        parse_relation(text)
    with pytest.raises(sf.SfumatoError, match="no relation"):
        sf.parse_policy(f'[columns]\nrelations = ["{text}"]')


def test_values_are_those_of_the_column() -> None:
    relation = parse_relation("x = no exactly where y = missing")
    assert coded_relation(relation, {"x": {"no": 1.0}}).values == ("1.0", "missing")
    with pytest.raises(sf.SfumatoError, match="a value that column 'x' does not have"):
        coded_relation(relation, {"x": {"yes": 1.0}})


def test_missing_cells_and_rounded_sums() -> None:
    columns = {"t": np.array([3.0, 3.0, np.nan]), "a": np.array([1.26, 1.0, 1.0]), "b": np.array([1.31, 1.0, 2.0])}
    relation = parse_relation("t = a + b")
    assert relation.broken(columns.__getitem__).tolist() == [True, True, False]
    assert relation.broken(columns.__getitem__, {"t": 0, "a": 2, "b": 2}).tolist() == [False, True, False]


def test_the_original_table_is_a_fair_test() -> None:
    assert not any(broken(visits()).values())
    free = AtomExchange(insecure_seed=1, draws=1, relations=[], together=[], exposed="publish")
    released = free.fit_transform(visits())
    assert all(broken(released).values())


def test_declared_relations_hold_in_every_released_row_and_values_are_nobodys() -> None:
    table = visits()
    released = AtomExchange(insecure_seed=1, draws=1, relations=DECLARED, exposed="publish").fit_transform(table)
    assert not any(broken(released).values())
    assert not released.equals(table)
    for name in ("a", "b", "total"):
        assert released[name].is_in(table[name].to_list()).mean() < 0.2
        assert table[name].min() <= released[name].min()
        assert released[name].max() <= table[name].max()
        assert abs(released[name].mean() - table[name].mean()) < 3 * table[name].std() / table.height**0.5
    unchanged = sum(row == other for row, other in zip(released.rows(), table.rows(), strict=True))
    assert unchanged == 0


def test_what_all_rows_keep_is_found_and_kept_without_a_word() -> None:
    table = visits()
    released = AtomExchange(insecure_seed=2, draws=1, exposed="publish").fit_transform(table)
    found = broken(released)
    assert found["total"] == found["dates"] == found["pdays"] == found["outcome"] == 0


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10_000), st.integers(20, 60))
def test_no_declared_relation_is_broken_in_random_tables(seed: int, n: int) -> None:
    released = AtomExchange([2, 3], insecure_seed=seed, draws=1, relations=DECLARED).fit_transform(visits(n, seed))
    assert not any(broken(released).values())


def test_chance_is_no_relation() -> None:
    rng = np.random.default_rng(3)
    table = np.column_stack([rng.normal(size=500), rng.integers(0, 5, 500), rng.integers(0, 2, 500), rng.random(500)])
    assert find_relations(table, list("abcd"), ["continuous", "count", "category", "continuous"]) == []


def released(tmp_path: Path, table: pl.DataFrame, policy: str, **more: Any) -> pl.DataFrame:
    table.write_csv(tmp_path / "table.csv")
    policy_file = tmp_path / "policy.toml"
    policy_file.write_text(policy)
    sf.release(tmp_path / "table.csv", tmp_path / "released.csv", policy_file, key=tmp_path / "my.key", **more)
    return pl.read_csv(tmp_path / "released.csv", try_parse_dates=True)


def test_a_file_with_declared_relations(tmp_path: Path) -> None:
    lines = "\n".join(f'  "{one}",' for one in DECLARED)
    few = {"method": "exchange", "parameters": {"draws": 1, "clusterings": [2, 3]}}
    rows = released(tmp_path, visits(), f"[columns]\nrelations = [\n{lines}\n]", **few)
    assert not any(broken(rows).values())


def test_relations_make_exchange_the_method_of_a_table_of_numbers(tmp_path: Path) -> None:
    table = visits().select("a", "b", "total")
    rows = released(tmp_path, table, '[columns]\nrelations = ["total = a + b"]')
    assert (rows["total"] - rows["a"] - rows["b"]).abs().max() < 0.001


def test_a_method_that_breaks_a_declared_relation_releases_nothing(tmp_path: Path) -> None:
    table = visits().select("a", "b", "total")
    with pytest.raises(sf.SfumatoError, match=r"released row\(s\) would break 'total = a \+ b'"):
        released(tmp_path, table, '[columns]\nrelations = ["total = a + b"]\n[method]\nname = "adp"')
    assert not (tmp_path / "released.csv").exists()


def test_a_table_that_breaks_what_is_declared_is_refused_with_the_number_of_rows(tmp_path: Path) -> None:
    table = visits().with_columns(a=pl.when(pl.int_range(pl.len()) < 7).then(pl.col("a") + 1).otherwise("a"))
    with pytest.raises(sf.SfumatoError, match=r"7 row\(s\) of the table break the relation 'total = a \+ b'") as error:
        released(tmp_path, table, '[columns]\nrelations = ["total = a + b"]')
    assert str(table["a"][0]) not in str(error.value)
    assert not (tmp_path / "released.csv").exists()


def test_a_relation_names_perturbed_columns(tmp_path: Path) -> None:
    policy = '[columns]\nidentifier = ["b"]\nrelations = ["total = a + b"]'
    with pytest.raises(sf.SfumatoError, match=r"line 3: the relation 'total = a \+ b' names 'b'"):
        released(tmp_path, visits(), policy)


def test_policy_init_suggests_what_holds_and_it_can_be_used_as_it_is(tmp_path: Path) -> None:
    visits().write_csv(tmp_path / "table.csv")
    table, policy = str(tmp_path / "table.csv"), str(tmp_path / "policy.toml")
    done = CliRunner().invoke(sfumato, ["policy", "init", table, "-o", policy], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    relations = sf.read_policy(policy).columns.relations or []
    assert "total = a + b" in relations
    assert sf.read_policy(policy).columns.identifier == []  # dates are exchanged, not dropped
    assert any("outcome = unknown" in one for one in relations)
    checked = CliRunner().invoke(sfumato, ["policy", "check", policy, "--data", table], catch_exceptions=False)
    assert checked.exit_code == 0, checked.output
