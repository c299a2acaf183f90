"""Whole rows: everything that leaves the house counts, whatever it holds."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner

import sfumato as sf
from sfumato.attack.linkage.kept_columns import number_rows
from sfumato.auditing.privacy import find_verbatim, find_whole_verbatim
from sfumato.cli import sfumato as command
from sfumato.datasets import demo_table
from sfumato.exceptions import ParameterError, PolicyLimitError, SingledOutWarning

LINKS = ["kept-columns", "nearest", "equal-cells", "fellegi-sunter"]


def people(n: int = 400, seed: int = 0) -> pl.DataFrame:
    """Return numbers that noise hides, and a name for everybody."""
    draw = np.random.default_rng(seed)
    numbers = {name: draw.normal(size=n).round(3) for name in ("height", "weight", "income")}
    return pl.DataFrame({"who": [f"p{i:04d}x" for i in draw.permutation(n)], **numbers})


def drowned(table: pl.DataFrame, seed: int = 1) -> pl.DataFrame:
    """Return the table with strangers' numbers; other columns stay."""
    draw = np.random.default_rng(seed)
    return table.with_columns(
        **{name: pl.Series(draw.normal(size=len(table)).round(3)) for name in ("height", "weight", "income")}
    )


@pytest.mark.parametrize("kind", ["text", "number", "pandas", "array"])
def test_a_kept_column_that_names_everybody_is_an_f(kind: str) -> None:
    table = people()
    if kind in {"number", "array"}:
        table = table.with_columns(who=pl.col("who").str.extract(r"(\d+)").cast(pl.Float64))
    released = drowned(table)
    without = sf.audit(table.drop("who"), released.drop("who"), attacks=LINKS, utility=False)
    assert without.grade == "A"
    assert without.whole is None
    both = [table, released]
    if kind == "pandas":
        both = [pd.DataFrame(one.to_dict(as_series=False)) for one in both]
    if kind == "array":
        both = [one.to_numpy() for one in both]
    found = sf.audit(*both, attacks=LINKS, utility=False)
    assert found.grade == "F"
    assert "finds 100% of the people" in found.verdict
    assert found.whole is not None
    assert found.whole.kept == ("x0" if kind == "array" else "who",)
    assert {line.id: line.rate for line in found.attacks}["kept-columns"] == 1.0
    left = sf.audit(*both, attacks=LINKS, leave_out=found.whole.kept, utility=False)
    assert left.grade == "A"


def test_a_kept_column_that_many_share_costs_nothing_where_it_is_said_to_be_kept() -> None:
    table = people().with_columns(who=pl.Series(["a", "b", "c", None] * 100))
    found = sf.audit(table, drowned(table), attacks=LINKS, utility=False)
    assert found.grade == "B"
    assert "who stands as it is" in found.verdict
    found = sf.audit(table, drowned(table), attacks=LINKS, kept=["who"], utility=False)
    assert found.grade == "A"
    assert found.whole is not None
    assert found.whole.kept == ("who",)


def test_renamed_categories_and_one_that_is_left_in_place_show_that_rows_stand_in_order() -> None:
    draw = np.random.default_rng(6)
    kind = draw.integers(0, 6, 400)
    jobs = {
        f"c{j}": pl.Series([f"v{one}" for one in (kind * (j + 1) + draw.integers(0, 3, 400)) % 7]) for j in range(4)
    }
    table = pl.DataFrame({"income": np.round(draw.gamma(2.0, 500.0, 400), 1), **jobs})
    apart = pl.DataFrame({name: table[name].gather(draw.permutation(400)) for name in table.columns})
    assert sf.audit(table, apart, attacks=LINKS, utility=False).grade == "A"
    one = sf.audit(table, apart.with_columns(table["c2"]), attacks=LINKS, utility=False)
    assert (one.grade, one.order) == ("B", "assumed")
    assert "c2 stands as it is" in one.verdict
    names = {f"v{i}": f"w{(3 * i + 2) % 7}" for i in range(7)}
    renamed = apart.with_columns(table.select([pl.col(name).replace_strict(names) for name in jobs]))
    found = sf.audit(table, renamed, attacks=["forward"], utility=False)
    assert found.grade in {"B", "C"}
    assert "looked up right for 100%" in found.verdict


def nine_categories(n: int = 600) -> pl.DataFrame:
    """Return nine categories that hardly tell people apart alone, beside numbers."""
    draw = np.random.default_rng(4)
    kind = draw.integers(0, 8, n)
    jobs = {f"c{j}": [f"v{(kind[i] >> (j % 3)) & 1}" for i in range(n)] for j in range(9)}
    return people(n).drop("who").with_columns(**{name: pl.Series(cells) for name, cells in jobs.items()})


def test_kept_categories_help_to_find_the_nearest_row() -> None:
    table = nine_categories()
    draw = np.random.default_rng(5)
    names = ("height", "weight", "income")
    released = table.with_columns(**{name: table[name] + pl.Series(0.35 * draw.normal(size=600)) for name in names})
    numbers = sf.audit(table.select(names), released.select(names), attacks=["nearest"], utility=False)
    found = sf.audit(table, released, attacks=LINKS, utility=False)
    rates = {line.id: line.rate for line in found.attacks}
    assert rates["kept-columns"] < 0.03
    assert rates["nearest"] > 0.15
    assert rates["nearest"] > 1.5 * numbers.attacks[0].rate
    assert found.grade != "A"


def file_of(table: pl.DataFrame, folder: Path) -> Path:
    table.write_csv(folder / "in.csv")
    return folder / "in.csv"


@pytest.mark.usefixtures("few_clusters")
@pytest.mark.filterwarnings("ignore::sfumato.exceptions.SingledOutWarning")
@pytest.mark.parametrize("method", ["mix", "exchange"])
def test_a_release_refuses_what_its_kept_columns_give_away(method: str, tmp_path: Path) -> None:
    source = file_of(people(120), tmp_path)
    policy = tmp_path / "policy.toml"
    policy.write_text(
        f'[columns]\nkeep = ["who"]\n[method]\nname = "{method}"\n[audit]\nmin_grade = "C"\n', encoding="utf-8"
    )
    with pytest.raises(PolicyLimitError, match="grade F") as error:
        sf.release(source, tmp_path / "out.csv", policy=policy, key=tmp_path / "k")
    assert "p0001x" not in str(error.value)
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.usefixtures("few_clusters")
def test_the_command_joins_on_kept_columns(tmp_path: Path) -> None:
    source = file_of(people(120), tmp_path)
    out, key = tmp_path / "out.csv", tmp_path / "k"
    with pytest.warns(SingledOutWarning, match="120 have a combination of their own"):
        sf.release(source, out, method="mix", keep=["who"], key=key)
    for more in (["--key", str(key)], []):
        if not more:  # without a key the rows stand in their own order
            order = (
                pl.read_csv(source).select("who").join(pl.read_csv(out), on="who", how="left", maintain_order="left")
            )
            out = tmp_path / "ordered.csv"
            order.write_csv(out)
        done = CliRunner().invoke(command, ["audit", str(source), str(out), *more, "--attack", "kept-columns"])
        assert done.exit_code == 0, done.output
        assert "Grade F" in done.output
        assert "kept as they are: who" in done.output
        assert "p0001x" not in done.output


def test_reports_name_kept_columns_and_show_none_of_their_values() -> None:
    table = people(200)
    found = sf.audit(table, drowned(table), attacks=LINKS, utility=False)
    pages = found.to_html() + found.to_text() + found.to_json()
    assert "Whole rows" in pages
    assert not any(cell in pages for cell in table["who"])
    assert sf.Audit.model_validate_json(found.to_json()) == found


def test_kept_cells_with_gaps_and_quotes_are_compared_as_they_were() -> None:
    table = people(40).with_columns(who=pl.Series(["=a", None, "b", "'c"] * 10))
    released = drowned(table).with_columns(who=pl.Series(["'=a", None, "b", "'c"] * 10))
    found = sf.audit(table, released, attacks=LINKS, utility=False)
    assert found.whole is not None
    assert found.whole.kept == ("who",)


def test_coincidences_of_strangers_are_no_leak_and_few_own_records_are() -> None:
    draw = np.random.default_rng(3)
    kind = draw.integers(0, 300, 2_000)  # records hang together: two people of a kind are alike
    shapes = draw.integers(0, 9, size=(300, 6)).astype(float)
    table = np.where(draw.random((2_000, 6)) < 0.2, draw.integers(0, 9, size=(2_000, 6)), shapes[kind])
    halves = table[:1_000], table[1_000:]
    assert find_verbatim(*halves).lift == 0.0
    assert find_whole_verbatim(*halves).lift == 0.0
    copied = halves[1].copy()
    lonely = np.flatnonzero(~np.isin(number_rows(table)[0], number_rows(table)[0][1_000:])[:1_000])
    copied[lonely[:4]] = halves[0][lonely[:4]]  # one alone may be a coincidence: there are many pairs alike
    assert find_whole_verbatim(halves[0], copied).lift > 0.0
    assert find_whole_verbatim(halves[0], halves[0]).lift > 0.3
    assert find_whole_verbatim(halves[0], draw.permutation(halves[0])).lift > 0.2


def test_columns_of_every_type_are_joined_on_and_unknown_ones_named() -> None:
    draw = np.random.default_rng(0)
    day = pl.Series([dt.date(2020, 1, 1) + dt.timedelta(days=i % 50) for i in range(100)])
    table = pl.DataFrame(
        {
            "n": draw.normal(size=100),
            "day": day,
            "wait": pl.Series([dt.timedelta(hours=i % 7) for i in range(100)]),
            "yes": pl.Series([True, False, None, True] * 25),
            "kind": pl.Series(["a", "b"] * 50).cast(pl.Categorical),
            "tags": [[1, 2]] * 100,
            "raw": [b"\xff"] * 100,
        }
    )
    released = table.with_columns(n=pl.Series(draw.normal(size=100)))
    found = sf.audit(table, released, attacks=LINKS, utility=False)
    assert found.whole is not None
    assert found.whole.kept == ("day", "wait", "yes", "kind")
    with pytest.raises(ParameterError, match="no column 'dya' in both") as error:
        sf.audit(table, released, kept=["dya"], attacks=LINKS)
    assert "'day'" in str(error.value.hint)


def test_what_clusters_tell_of_everybody_is_no_leak_and_what_a_row_tells_of_its_owner_is() -> None:
    table = demo_table(mixed=True).head(1_500)
    method = sf.perturb.AtomExchange(draws=1, insecure_seed=1)
    released = method.fit_transform(table)
    attacks = ["as-released", "spectral", "quantiles"]
    found = sf.audit(table, released, method=method, attacks=attacks, utility=False)
    assert found.grade == "A"
    told = next(result for result in found.attacks if result.id == "as-released")
    assert told.baseline is not None
    assert told.baseline > 0.05  # clusters tell something, of anybody in them
    draw = np.random.default_rng(0)
    numbers = ["income", "balance", "card_spending", "loan", "age", "branch_visits"]
    near = released.with_columns(
        (table[name].cast(pl.Float64) * (1 + 0.001 * draw.normal(size=table.height))).alias(name) for name in numbers
    )
    near = near.with_columns(table[name] for name in ("job", "marital_status", "account_code"))
    assert sf.audit(table, near, method="exchange", attacks=attacks, utility=False).grade in {"D", "F"}
