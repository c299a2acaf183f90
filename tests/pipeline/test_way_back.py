"""The owner's way back: restore, join, and an audit of a shuffled file."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.exceptions import DataError, ReceiptError
from sfumato.pipeline.join import join
from tests.cli.test_first_commands import run
from tests.cli.typed import typed
from tests.pipeline.tables import people, read, write

INVERTIBLE = [row.id for row in sf.methods() if row.invertible]
pytestmark = pytest.mark.filterwarnings("ignore::sfumato.SfumatoWarning")


def release(folder: Path, table: pl.DataFrame, *, ending: str = "csv", **options) -> sf.Key:
    write(table, folder / f"in.{ending}")
    options = {"identifier": ["id"], "keep": ["town"], "key": folder / "my.key", "method": "ina", **options}
    return sf.release(folder / f"in.{ending}", folder / f"out.{ending}", **options)


@pytest.mark.parametrize("gaps", [False, True], ids=["complete", "gaps"])
@pytest.mark.parametrize("method", INVERTIBLE)
def test_restoring_is_exact_to_one_released_unit_and_tells_the_largest_error(
    tmp_path: Path, method: str, gaps: bool
) -> None:
    table = people(missing=gaps)
    release(tmp_path, table, method=method)
    done = sf.restore(tmp_path / "out.csv", tmp_path / "back.csv", tmp_path / "my.key")
    back = read(tmp_path / "back.csv")
    assert back["town"].to_list() == table["town"].to_list(), "the order of the original"
    coarsest = 1.0  # ages are whole numbers, and a rotation mixes their rounding into its partner
    for name in ("age", "wage", "score"):
        assert back[name].is_null().to_list() == table[name].is_null().to_list()
        error = (back[name] - table[name]).abs().max()
        assert error == pytest.approx(done.errors[name], abs=1e-9), "what it says is what it is"
        if method in ("tdp", "rdp") and not gaps:
            assert error <= coarsest


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_restored_types_are_those_of_the_original(tmp_path: Path, ending: str) -> None:
    table = people().with_columns(pl.col("age").cast(pl.Int16), pl.col("score").cast(pl.Float32))
    release(tmp_path, table, ending=ending, method="tdp")
    sf.restore(tmp_path / f"out.{ending}", tmp_path / f"back.{ending}", tmp_path / "my.key")
    back = read(tmp_path / f"back.{ending}")
    assert back.schema == table.drop("id").schema
    assert back["age"].to_list() == table["age"].to_list()


def test_only_invertible_releases_are_restored(tmp_path: Path) -> None:
    release(tmp_path, people(), method="adp")
    with pytest.raises(ReceiptError, match="cannot be undone, not even with the key"):
        sf.restore(tmp_path / "out.csv", tmp_path / "back.csv", tmp_path / "my.key")
    assert not (tmp_path / "back.csv").exists()


def test_restore_takes_the_released_file_whole(tmp_path: Path) -> None:
    release(tmp_path, people(), method="tdp")
    read(tmp_path / "out.csv").head(100).write_csv(tmp_path / "part.csv")
    with pytest.raises(DataError, match="not the 600 rows"):
        sf.restore(tmp_path / "part.csv", tmp_path / "back.csv", tmp_path / "my.key")


def test_a_receipt_opens_with_its_own_key_only_and_shows_tampering(tmp_path: Path) -> None:
    receipt = release(tmp_path, people(), method="tdp")
    other = tmp_path / "other.key"
    sf.Key.generate().save(other)
    with pytest.raises(ReceiptError, match="another key"):
        sf.restore(tmp_path / "out.csv", tmp_path / "b.csv", other, receipt=receipt.receipt_path)
    sealed = bytearray(receipt.receipt_path.read_bytes())
    sealed[-10] ^= 1
    receipt.receipt_path.write_bytes(sealed)
    with pytest.raises(ReceiptError, match="damaged"):
        sf.restore(tmp_path / "out.csv", tmp_path / "b.csv", tmp_path / "my.key")


@pytest.mark.parametrize("shuffle", [True, False])
def test_labels_come_back_to_their_rows(tmp_path: Path, shuffle: bool) -> None:
    table = people(missing=True)
    release(tmp_path, table, shuffle=shuffle)
    released = read(tmp_path / "out.csv")
    # the miner's label is the town, which the owner can check
    labels = released.select(label=pl.col("town").str.slice(5))
    labels.write_csv(tmp_path / "labels.csv")
    done = join(tmp_path / "labels.csv", tmp_path / "in.csv", tmp_path / "joined.csv", tmp_path / "my.key")
    joined = read(tmp_path / "joined.csv")
    assert done.labels == ("label",)
    assert joined.columns == [*table.columns, "label"]
    assert joined["id"].to_list() == table["id"].to_list()
    assert joined["label"].to_list() == [int(town[5:]) for town in table["town"]]


def test_labels_in_another_order_are_noticed_if_a_kept_column_is_there(tmp_path: Path) -> None:
    release(tmp_path, people())
    labelled = read(tmp_path / "out.csv").with_columns(label=pl.lit(1))
    labelled.sort("age").write_csv(tmp_path / "labels.csv")
    with pytest.raises(ReceiptError, match="the order of its rows differ"):
        join(tmp_path / "labels.csv", tmp_path / "in.csv", tmp_path / "joined.csv", tmp_path / "my.key")
    assert not (tmp_path / "joined.csv").exists()


def test_labels_join_only_the_table_that_was_released(tmp_path: Path) -> None:
    release(tmp_path, people())
    pl.DataFrame({"label": [0] * 600}).write_csv(tmp_path / "labels.csv")
    write(people(seed=1), tmp_path / "other.csv")
    with pytest.raises(DataError, match="not the table that was released"):
        join(tmp_path / "labels.csv", tmp_path / "other.csv", tmp_path / "joined.csv", tmp_path / "my.key")
    pl.DataFrame({"label": [0] * 500}).write_csv(tmp_path / "labels.csv")
    with pytest.raises(DataError, match="100 labels too few"):
        join(tmp_path / "labels.csv", tmp_path / "in.csv", tmp_path / "joined.csv", tmp_path / "my.key")


def test_an_audit_aligns_the_rows_by_key_and_receipt(tmp_path: Path) -> None:
    receipt = release(tmp_path, people(), method="rdp")
    original, released = people().drop("id", "town"), read(tmp_path / "out.csv").drop("town")
    key = sf.Key.load(tmp_path / "my.key")
    found = sf.audit(original, released, key=key, receipt=receipt, utility=False)
    assert found.grade == "F", "a rotation is undone"
    assert found.method == "rdp"
    found_affine = next(one.rate for one in found.attacks if one.id == "affine")
    blind = sf.audit(original, released, utility=False, attacks=["affine"])
    # without the key it is not known which rows correspond, unless the tables can be laid upon one another
    assert blind.attacks[0].rate is None or blind.attacks[0].rate < 0.5 < found_affine


@pytest.mark.usefixtures("few_clusters")
def test_the_audit_command_takes_key_policy_and_gaps(tmp_path: Path) -> None:
    release(tmp_path, people(missing=True), method="rdp")
    (tmp_path / "policy.toml").write_text('[audit]\nmin_grade = "B"\n')
    files = [str(tmp_path / "in.csv"), str(tmp_path / "out.csv"), "--key", str(tmp_path / "my.key")]
    done = typed("audit", *files, "--attack", "affine", "--json", "--policy", str(tmp_path / "policy.toml"))
    assert done.returncode == 1
    assert "the policy demands B" in done.stderr
    told = json.loads(done.stdout)
    assert told["grade"] in ("D", "F"), "rows with gaps are audited, too, and are not recovered whole"
    assert any("missing" in note or "gaps" in note for note in told["notes"]), told["notes"]
    assert told["method"] == "rdp"


def test_commands_restore_join_and_key(tmp_path: Path) -> None:
    write(people(), tmp_path / "in.csv")
    key = str(tmp_path / "my.key")
    assert run("key", "new", key).returncode == 0
    assert typed("key", "new", key).returncode == 3, "never overwritten"
    shown = typed("key", "show", key).stdout
    assert sf.Key.load(key).fingerprint in shown
    assert sf.Key.load(key)._secret.hex() not in shown
    columns = ["--id", "id", "--keep", "town", "-m", "tdp"]
    out = str(tmp_path / "out.csv")
    assert typed("release", str(tmp_path / "in.csv"), "-o", out, "--key", key, *columns).returncode == 0
    done = run("restore", out, "-o", str(tmp_path / "back.csv"), "--key", key)
    assert done.returncode == 0, done.stderr
    assert "largest error: 0" in done.stdout
    released = read(tmp_path / "out.csv")
    released.select(label=pl.Series(np.arange(600))).write_csv(tmp_path / "labels.csv")
    done = run(
        "join", str(tmp_path / "labels.csv"), str(tmp_path / "in.csv"), "-o", str(tmp_path / "j.csv"), "--key", key
    )
    assert done.returncode == 0, done.stderr
    assert "joined label to 600 original rows" in done.stdout
