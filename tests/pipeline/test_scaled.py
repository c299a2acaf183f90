"""Releases whose columns are scaled already: what the miner sees, what the side file says, and the way back."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.cluster import KMeans

import sfumato as sf
from sfumato.core.numbers import round_range
from sfumato.exceptions import ParameterError, ReceiptError, SfumatoError
from sfumato.metrics import misclassification_rate

pytestmark = [pytest.mark.filterwarnings("ignore::sfumato.SfumatoWarning"), pytest.mark.usefixtures("everybody")]


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(2)
    of = rng.integers(0, 4, 400)
    wage = (rng.normal(size=(4, 1)) * 900)[of, 0] + rng.normal(size=400) * 100 + 5000
    age = np.clip(40 + rng.normal(scale=9, size=400) + 8 * of, 18, 90).round()
    frame = pl.DataFrame({"code": [f"0{i:03d}" for i in range(400)], "wage": wage.round(2), "age": age.astype(int)})
    frame = frame.with_columns(pl.when(pl.int_range(400) % 57 == 3).then(None).otherwise(pl.col("age")).alias("age"))
    path = tmp_path_factory.mktemp("scaled") / "people.csv"
    frame.write_csv(path)
    return path


def released(
    people: Path, folder: Path, how: str | None, ending: str = "csv", **more
) -> tuple[sf.Receipt, pl.DataFrame]:
    target = folder / f"{how}.{ending}"
    options = {"keep": ["code"], "method": "mix", "parameters": {"clusterings": [2, 4], "draws": 1}} | more
    done = sf.release(people, target, key=folder / "my.key", scale=how, **options)
    read = pl.read_csv(target, schema_overrides={"code": pl.String}) if ending == "csv" else pl.read_parquet(target)
    return done, read


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_columns_come_scaled_by_figures_of_the_release(people, tmp_path, ending) -> None:
    done, scaled = released(people, tmp_path, "std", ending)
    _, plain = released(people, tmp_path, None, ending)
    side = json.loads((tmp_path / f"std.{ending}.scale.json").read_text())
    assert side["scale"] == "std"
    for name in ("wage", "age"):
        assert scaled[name].mean() == pytest.approx(0.0, abs=1e-6)
        assert scaled[name].std(ddof=0) == pytest.approx(1.0, abs=1e-6)
        back = scaled[name] * side["columns"][name]["divided_by"] + side["columns"][name]["subtracted"]
        assert np.allclose(back.drop_nulls(), plain[name].drop_nulls(), atol=1e-4)
        assert scaled[name].is_null().to_list() == plain[name].is_null().to_list()
    assert scaled["code"].to_list() == plain["code"].to_list()
    assert any("std." in note and "handed out" in note for note in done.notes)


def test_ranges_tell_one_digit_of_the_original_and_are_what_is_kept(people, tmp_path) -> None:
    done, scaled = released(people, tmp_path, "range")
    original = pl.read_csv(people)
    side = json.loads((tmp_path / "range.csv.scale.json").read_text())["columns"]
    for name in ("wage", "age"):
        span = original[name].max() - original[name].min()
        assert side[name]["divided_by"] == round_range(span)
        assert scaled[name].min() == 0.0  # the smallest released value, which is not the smallest of the original
    assert side["wage"]["subtracted"] != original["wage"].min()
    assert done.parameters["scaling"] == "round range"
    rows = original.drop_nulls()
    units = [side[name]["divided_by"] for name in ("wage", "age")]
    points = rows.select("wage", "age").to_numpy() / units
    mine = scaled.drop_nulls().sort("code")
    labels = [
        KMeans(4, n_init=10, random_state=0).fit(x).labels_ for x in (points, mine.select("wage", "age").to_numpy())
    ]
    assert mine["code"].to_list() == [f"0{one:03d}" for one in rows["code"]]
    assert misclassification_rate(*labels) < 0.02


def test_the_way_back_knows_a_scaled_release(people, tmp_path) -> None:
    done, scaled = released(people, tmp_path, "std", keep=[], identifier=["code"])
    key = sf.Key.load(tmp_path / "my.key")
    labels = tmp_path / "labels.csv"
    scaled.with_columns(cluster=pl.int_range(pl.len()) % 3).write_csv(labels)
    joined = sf.join(labels, people, tmp_path / "joined.csv", key, receipt=done.receipt_path)
    assert joined.notes == ()
    original = pl.read_csv(people)
    before, plain = released(people, tmp_path, None, keep=[], identifier=["code"])
    found = [
        sf.audit(original, rows, key=key, receipt=one.receipt_path, utility=False, attacks=["nearest", "as-released"])
        for rows, one in ((scaled, done), (plain, before))
    ]
    assert [line.rate for line in found[0].attacks] == [line.rate for line in found[1].attacks]
    edited = scaled.with_columns(wage=pl.col("wage") + 0.01, cluster=pl.lit(1))
    edited.write_csv(labels)
    with pytest.raises(ReceiptError, match="not the release"):
        sf.join(labels, people, tmp_path / "other.csv", key, receipt=done.receipt_path)


def test_what_cannot_be_scaled_is_refused_and_leaves_nothing(people, tmp_path) -> None:
    with pytest.raises(ParameterError, match="cannot be undone"):
        released(people, tmp_path, "std", method="rdp", parameters={})
    with pytest.raises(ParameterError, match="'std' or 'range'"):
        released(people, tmp_path, "rank")
    (tmp_path / "std.csv.scale.json").write_text("mine")
    with pytest.raises(SfumatoError, match=r"scale\.json"):
        released(people, tmp_path, "std")
    assert (tmp_path / "std.csv.scale.json").read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir() if not path.name.startswith("history")) == [
        "std.csv.scale.json"
    ]


def test_methods_without_kept_clusterings_look_at_the_release_alone(people, tmp_path) -> None:
    options = {"method": "adp", "parameters": {"scale": 3.0}, "identifier": ["code"], "keep": []}
    _, scaled = released(people, tmp_path, "range", **options)
    unit = json.loads((tmp_path / "range.csv.scale.json").read_text())["columns"]["wage"]["divided_by"]
    original = pl.read_csv(people)["wage"]
    assert unit == round_range((scaled["wage"].max() - scaled["wage"].min()) * unit)
    assert unit > round_range(original.max() - original.min())
