"""Files: who has no company is not in the release, and comes back with the labels."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.exceptions import DataError
from sfumato.perturb.guard.exposed import FEWEST_ROWS
from sfumato.perturb.guard.shell import GuardShell
from tests.perturb.test_exposed import crowd

KEY = sf.Key.from_insecure_seed(4)
pytestmark = pytest.mark.filterwarnings("ignore::sfumato.SfumatoWarning")


@pytest.fixture(scope="module", params=["mix", "exchange"])
def released(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory):
    """A table with five people far from everybody, its release and its receipt."""
    folder = tmp_path_factory.mktemp(request.param)
    rows, far = crowd()
    table = pl.DataFrame(rows.round(2), schema=["a", "b", "c", "d"]).with_columns(
        pl.Series("who", [f"p{i}" for i in range(len(rows))]), pl.Series("town", ["x", "y", "z"] * (len(rows) // 3))
    )
    table.write_csv(folder / "in.csv")
    done = sf.release(
        folder / "in.csv",
        folder / "out.csv",
        key=KEY,
        method=request.param,
        parameters={"draws": 1},
        identifier=["who"],
        keep=["town"],
        receipt=folder / "receipt",
    )
    return folder, table, far, done


def test_they_are_not_in_the_file_and_the_receipt_says_how_many(released) -> None:
    folder, table, far, done = released
    out = pl.read_csv(folder / "out.csv")
    assert out.height == done.n_rows == table.height - len(far)
    assert done.held_back == done.to_data()["held_back"] == len(far)
    assert any("5 of 900 rows (0.56 %) are held back" in note for note in done.notes)
    left = table.filter(~pl.Series(np.isin(np.arange(table.height), far)))
    assert out["a"].abs().max() < 1.5 * left["a"].abs().max()
    # whoever sees what is written down beside the release does not learn who they are
    assert not any(f"p{row}" in json.dumps(done.to_data()) for row in far)


def test_batches_threads_and_formats_give_the_same_rows(released, tmp_path: Path) -> None:
    folder, table, _, done = released
    table.write_parquet(tmp_path / "in.parquet", row_group_size=100)
    outs = []
    for number, (source, threads, batch) in enumerate(
        [(folder / "in.csv", 1, 33), (folder / "in.csv", 3, None), (tmp_path / "in.parquet", 2, 250)]
    ):
        target = tmp_path / f"out{number}.csv"
        sf.release(
            source,
            target,
            key=KEY,
            method=done.method,
            parameters={"draws": 1},
            identifier=["who"],
            keep=["town"],
            threads=threads,
            batch_rows=batch,
        )
        outs.append(pl.read_csv(target))
    assert all(out.equals(pl.read_csv(folder / "out.csv")) for out in outs)


def test_labels_come_back_for_everybody_and_say_for_whom_they_were_found(released, tmp_path: Path) -> None:
    folder, table, far, _ = released
    out = pl.read_csv(folder / "out.csv")
    out.with_columns(cluster=pl.when(out["a"] > 2).then(pl.lit("high")).otherwise(pl.lit("low"))).write_csv(
        tmp_path / "labels.csv"
    )
    joined = sf.join(tmp_path / "labels.csv", folder / "in.csv", tmp_path / "back.csv", KEY, receipt=folder / "receipt")
    back = pl.read_csv(tmp_path / "back.csv")
    assert back.drop("cluster", "held_back").equals(table)
    assert np.flatnonzero(back["held_back"] == "yes").tolist() == far.tolist()
    assert joined.n_rows == table.height
    assert any("nearest centre" in note for note in joined.notes)
    # the label of the nearest centre, in deviations of the released people
    numbers, present = table.select("a", "b", "c", "d").to_numpy(), np.delete(np.arange(table.height), far)
    unit = numbers[present].std(axis=0)
    labels = back["cluster"].to_numpy()
    centres = {one: numbers[present][labels[present] == one].mean(axis=0) for one in ("high", "low")}
    for row in far:
        apart = {one: (((numbers[row] - centre) / unit) ** 2).sum() for one, centre in centres.items()}
        assert labels[row] == min(apart, key=apart.__getitem__)


def test_an_audit_with_the_receipt_looks_at_those_who_were_released(released) -> None:
    folder, table, far, _ = released
    out = pl.read_csv(folder / "out.csv")
    found = sf.audit(table, out, key=KEY, receipt=folder / "receipt", utility=False, attacks=["nearest"])
    assert any(f"{len(far)} row(s) were held back" in note for note in found.notes)
    assert found.grade != "F"  # as it would be if rows did not stand beside their own


def test_a_release_with_categories_audits_itself_without_them(tmp_path: Path) -> None:
    # the original is counted once, whoever is held back: twice, and its texts were values that no row had
    rows, far = crowd(300)
    table = pl.DataFrame(rows.round(2), schema=["a", "b", "c", "d"])
    table.with_columns(town=pl.Series(["x", "y", "z"] * (len(rows) // 3))).write_csv(tmp_path / "in.csv")
    policy = tmp_path / "policy.toml"
    policy.write_text('[audit]\nmin_grade = "D"\neffort = "quick"\n')
    done = sf.release(
        tmp_path / "in.csv",
        tmp_path / "out.csv",
        key=KEY,
        policy=policy,
        method="exchange",
        parameters={"draws": 1},
        report=tmp_path / "page.html",
    )
    assert done.held_back == len(far)
    assert f"{len(far)} row(s) were held back" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_a_table_of_few_people_is_refused_unless_the_owner_insists(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(GuardShell, "fewest_rows", FEWEST_ROWS)
    pl.DataFrame(crowd(FEWEST_ROWS - 1)[0].round(2), schema=["a", "b", "c", "d"]).write_csv(tmp_path / "in.csv")
    for method in ("mix", "exchange"):
        with pytest.raises(DataError, match="too small") as told:
            sf.release(tmp_path / "in.csv", tmp_path / "out.csv", key=KEY, method=method)
        assert "exposed" in str(told.value.hint)
        assert not (tmp_path / "out.csv").exists()
    done = sf.release(
        tmp_path / "in.csv", tmp_path / "out.csv", key=KEY, method="mix", parameters={"exposed": "publish", "draws": 1}
    )
    assert done.n_rows == FEWEST_ROWS - 1
