"""An update keeps the noise of unchanged rows, and never uses the noise of one value for another."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.exceptions import ParameterError, ReceiptError, RepeatedReleaseWarning
from tests.cli.typed import typed
from tests.pipeline.tables import write
from tests.pipeline.test_history import table

pytestmark = [  # ids are kept, so that rows can be compared
    pytest.mark.filterwarnings("ignore::sfumato.exceptions.SingledOutWarning"),
    pytest.mark.filterwarnings("ignore::sfumato.exceptions.UnchangedCellsWarning"),
]
N = 60
METHODS = ("adp", "mdp", "cov", "chaotic", "ina")


def release(folder: Path, frame: pl.DataFrame, out: str, **options: Any) -> tuple[Any, pl.DataFrame]:
    data = write(frame, folder / f"in-{out}")
    given = {"keep": ["id"], "record_id": "id", "key": folder / "my.key", "method": "adp", **options}
    done = sf.release(data, folder / out, **given)
    return done, pl.read_csv(folder / out)


def later(first: pl.DataFrame) -> pl.DataFrame:
    """Return the table a year later: five people left, five changed, ten came, in another order."""
    changed = pl.when(pl.int_range(pl.len()) < 5).then(pl.col("c1") + 40).otherwise(pl.col("c1"))
    return pl.concat([first.slice(5).with_columns(c1=changed), table(10, 2, columns=3)]).sample(
        fraction=1.0, shuffle=True, seed=1
    )


@pytest.mark.parametrize("method", METHODS)
def test_unchanged_rows_come_out_as_before_and_no_warning_is_due(tmp_path: Path, method: str) -> None:
    first = table(N, columns=3)
    before, old = release(tmp_path, first, "a.csv", method=method)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RepeatedReleaseWarning)
        done, new = release(tmp_path, later(first), "b.csv", method=method, as_of=before.receipt_path)
    assert "50 of 65 rows keep their noise; 15 are new or changed" in done.notes
    both = old.join(new, on="id", suffix="_new")
    kept = both.filter(pl.col("id").is_in(first["id"].slice(10).implode()))
    assert kept.height == 50
    for name in ("c0", "c1", "c2"):
        assert kept[name].to_list() == kept[f"{name}_new"].to_list()


def test_a_changed_row_has_other_noise_in_every_column(tmp_path: Path) -> None:
    first = table(N, columns=3)
    before, old = release(tmp_path, first, "a.csv")
    _, new = release(tmp_path, later(first), "b.csv", as_of=before)
    changed = first["id"].slice(5, 5)
    both = old.join(new, on="id", suffix="_new").filter(pl.col("id").is_in(changed.implode()))
    assert both.height == 5
    moved = {"c0": 0.0, "c1": 40.0, "c2": 0.0}
    for name, by in moved.items():
        difference = (both[f"{name}_new"] - both[name] - by).to_numpy()
        assert np.count_nonzero(np.abs(difference) > 0.02) >= 3, "the same noise would cancel"


def test_an_update_of_an_update_keeps_the_noise_of_both(tmp_path: Path) -> None:
    first = table(N, columns=3)
    second = later(first)
    third = second.sample(fraction=1.0, shuffle=True, seed=2).head(40)
    one, _ = release(tmp_path, first, "a.csv")
    two, middle = release(tmp_path, second, "b.csv", as_of=one)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RepeatedReleaseWarning)
        _, last = release(tmp_path, third, "c.csv", as_of=two)
    both = middle.join(last, on="id", suffix="_new")
    assert both.height == 40
    assert both.select("c0", "c1", "c2").rows() == both.select("c0_new", "c1_new", "c2_new").rows()


def test_gaps_that_stay_keep_the_noise_of_their_row(tmp_path: Path) -> None:
    gappy = table(N, columns=3).with_columns(c1=pl.when(pl.int_range(N) % 4 > 0).then("c1"))
    one, old = release(tmp_path, gappy, "a.csv", method="cov")
    done, new = release(tmp_path, gappy.slice(20), "b.csv", method="cov", as_of=one)
    assert "40 of 40 rows keep their noise; 0 are new or changed" in done.notes
    both = old.join(new, on="id", suffix="_new")
    assert both.select("c0", "c1", "c2").rows() == both.select("c0_new", "c1_new", "c2_new").rows()


def test_any_batch_and_any_number_of_threads_give_the_same_update(tmp_path: Path) -> None:
    first = table(N, columns=3)
    one, _ = release(tmp_path, first, "a.csv")
    release(tmp_path, later(first), "b.csv", as_of=one, threads=1)
    release(tmp_path, later(first), "c.csv", as_of=one, threads=3, batch_rows=7)
    assert (tmp_path / "b.csv").read_bytes() == (tmp_path / "c.csv").read_bytes()


@pytest.mark.filterwarnings("ignore::sfumato.SfumatoWarning")
def test_what_cannot_be_updated_is_refused_with_its_reason(tmp_path: Path) -> None:
    first = table(N, columns=3)
    one, _ = release(tmp_path, first, "a.csv")
    other = table(N, 2, columns=3)
    refused = {
        "its rows depend on": {"method": "mix", "parameters": {"clusterings": [2]}},
        "one new person changes those of others": {"method": "exchange"},
        "the same map for a changed row tells the change": {"method": "rdp"},
        "needs a column that names persons": {"record_id": None},
        "the same name": {"name": "r1"},
        "the same method": {"method": "mdp"},
        "the same parameters": {"parameters": {"scale": 0.5}},
        "needs the key of the earlier release": {"key": tmp_path / "new.key"},
    }
    for reason, options in refused.items():
        with pytest.raises(ParameterError, match=reason):
            release(tmp_path, first, "x.csv", as_of=one.receipt_path, **options)
    with pytest.raises(ParameterError, match="the same perturbed columns"):
        release(tmp_path, first.drop("c2"), "x.csv", as_of=one)
    plain, _ = release(tmp_path, other, "b.csv", record_id=None)
    with pytest.raises(ParameterError, match=r"cannot be updated|the same record id"):
        release(tmp_path, other, "x.csv", as_of=plain)
    with pytest.raises(ReceiptError, match="cannot be read"):
        release(tmp_path, first, "x.csv", as_of=tmp_path / "nothing.receipt")
    assert not (tmp_path / "x.csv").exists()


def test_the_command_takes_the_receipt(tmp_path: Path) -> None:
    first = table(N, columns=3)
    one, _ = release(tmp_path, first, "a.csv")
    write(later(first), tmp_path / "new.csv")
    options = ("--keep", "id", "--record-id", "id", "-m", "adp", "--key", "my.key", "--as-of", one.receipt_path)
    done = typed("release", "new.csv", "-o", "b.csv", *map(str, options), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "note: 50 of 65 rows keep their noise" in done.stdout
    assert "earlier release" not in done.stderr
