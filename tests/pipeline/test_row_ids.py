"""Random ids of released rows: labels find their way back from any order, and the ids say nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.cli.exit_codes import Exit
from sfumato.exceptions import DataError, KeyFileError
from sfumato.files.entire import read_table
from tests.cli.typed import typed

ROWS = 240


def original(folder: Path, name: str = "in.csv") -> Path:
    """Write a table; its rows are in a telling order."""
    rng = np.random.default_rng(3)
    table = pl.DataFrame(
        {
            "id": [f"P{i}" for i in range(ROWS)],
            "age": np.sort(rng.integers(18, 80, ROWS)),
            "wage": rng.normal(3000, 700, ROWS).round(2),
        }
    )
    path = folder / name
    if path.suffix == ".csv":
        table.write_csv(path)
    elif path.suffix == ".parquet":
        table.write_parquet(path)
    else:
        table.write_ipc(path)
    return path


def labels_of(released: pl.DataFrame, path: Path) -> pl.DataFrame:
    """Write labels that tell the released age, so that a wrong way back is seen."""
    labels = released.select("row_id", pl.col("age").alias("label"))
    labels.write_csv(path)
    return labels


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow"])
def test_labels_come_back_filtered_and_reordered(tmp_path: Path, ending: str) -> None:
    data, out = original(tmp_path, f"in.{ending}"), tmp_path / f"out.{ending}"
    plain = tmp_path / f"plain.{ending}"
    how = {"identifier": ["id"], "method": "tdp", "key": tmp_path / "my.key"}
    sf.release(data, out, row_id=True, **how)
    sf.release(data, plain, **how)
    released = read_table(out)
    assert released.columns == ["age", "wage", "row_id"]
    assert released["row_id"].n_unique() == ROWS
    assert released.drop("row_id").equals(read_table(plain)), "the ids change nothing else"
    mined = released.sample(fraction=1.0, shuffle=True, seed=1).filter(pl.col("wage") > released["wage"].median())
    labels_of(mined, tmp_path / "labels.csv")
    done = sf.join(tmp_path / "labels.csv", data, tmp_path / f"joined.{ending}", tmp_path / "my.key", released=out)
    joined = read_table(tmp_path / f"joined.{ending}")
    assert joined.drop("label").equals(read_table(data))
    # a translation: the offset of the labelled rows is one number, wherever the miner has put them
    there = joined.filter(pl.col("label").is_not_null())
    assert there.height == mined.height < ROWS
    offset = there["label"].cast(pl.Float64) - there["age"].cast(pl.Float64)
    assert offset.n_unique() == 1
    assert any(f"{ROWS - mined.height} of {ROWS} released rows have no label" in note for note in done.notes)


def test_ids_say_nothing_without_the_key(tmp_path: Path) -> None:
    data, ids = original(tmp_path), []
    for number, name in ((0, "r0"), (1, "r0"), (1, "r1")):
        folder = tmp_path / f"{number}{name}"
        folder.mkdir()
        sf.Key.from_insecure_seed(number).save(folder / "my.key")
        how = {"identifier": ["id"], "method": "tdp", "shuffle": False, "name": name, "key": folder / "my.key"}
        sf.release(data, folder / "out.csv", row_id=True, **how)
        ids.append(pl.read_csv(folder / "out.csv")["row_id"])
    for one in ids:  # three standard deviations of the correlation of two independent orders
        assert abs(np.corrcoef(one.rank().to_numpy(), np.arange(ROWS))[0, 1]) < 3 / np.sqrt(ROWS)
    assert len(set(ids[0]) | set(ids[1]) | set(ids[2])) == 3 * ROWS, "another key or another release, other ids"


@pytest.mark.usefixtures("few_clusters")
def test_an_audit_takes_no_notice_of_ids(tmp_path: Path) -> None:
    data, key = original(tmp_path), tmp_path / "my.key"
    how = {"identifier": ["id"], "method": "adp", "parameters": {"scale": 0.5}, "key": key}
    sf.release(data, tmp_path / "with.csv", row_id=True, **how)
    sf.release(data, tmp_path / "without.csv", **how)
    audits = [
        typed("audit", str(data), str(tmp_path / name), "--key", str(key), "--attack", "nearest", "--json")
        for name in ("with.csv", "without.csv")
    ]
    assert audits[0].returncode == 0, audits[0].stderr
    assert audits[0].stdout.replace("with.csv", "") == audits[1].stdout.replace("without.csv", "")
    bare = typed("audit", str(data), str(tmp_path / "with.csv"), "--attack", "nearest", "-m", "adp")
    assert bare.returncode == 0, bare.stderr


def test_what_is_wrong_with_labels_is_said_in_labels(tmp_path: Path) -> None:
    data, out, key = original(tmp_path), tmp_path / "out.csv", tmp_path / "my.key"
    sf.release(data, out, row_id=True, identifier=["id"], method="tdp", key=key)
    released = pl.read_csv(out)
    labels, place = tmp_path / "labels.csv", tmp_path / "joined.csv"
    released.select(pl.col("age").alias("label"))[:-10].write_csv(labels)
    done = typed("join", str(labels), str(data), "-o", str(place), "--key", str(key))
    assert done.returncode == Exit.DATA
    assert "10 labels too few" in done.stderr
    assert "row_id" in done.stderr
    pl.concat([released, released[:1]]).select(pl.col("age").alias("label")).write_csv(labels)
    with pytest.raises(DataError, match="1 label too many"):
        sf.join(labels, data, place, key)
    twice = pl.concat([released, released[:2]])
    labels_of(twice, labels)
    with pytest.raises(DataError, match=r"2 label\(s\) with a row id that stands twice"):
        sf.join(labels, data, place, key)
    labels_of(released.with_columns(pl.concat([pl.Series(["r0"]), released["row_id"][1:]]).alias("row_id")), labels)
    with pytest.raises(DataError, match=r"1 label\(s\) with a row id that is not of this release"):
        sf.join(labels, data, place, key)
    assert not place.exists()


def test_a_table_with_a_column_of_that_name_is_refused(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("row_id,age\n" + "".join(f"{i % 9},{20 + i}\n" for i in range(40)))
    with pytest.raises(DataError, match="'row_id' of its own"):
        sf.release(tmp_path / "in.csv", tmp_path / "out.csv", row_id=True, method="tdp", key=tmp_path / "k")
    assert not (tmp_path / "out.csv").exists()


def test_the_key_of_a_history_is_no_key_of_a_release(tmp_path: Path) -> None:
    data, key = original(tmp_path), tmp_path / "my.key"
    how = {"identifier": ["id"], "method": "tdp"}
    sf.release(data, tmp_path / "a.csv", key=key, **how)
    assert sorted(path.name for path in tmp_path.glob("*.key")) == ["my.key"]
    with pytest.raises(KeyFileError, match="belongs to the history"):
        sf.release(data, tmp_path / "b.csv", key=tmp_path / "history.secret", **how)
    # as earlier versions have left it: it is still known, and renamed by the next release
    secret = (tmp_path / "history.secret").read_text().splitlines()[1]
    (tmp_path / "history.secret").rename(tmp_path / "history.key")
    (tmp_path / "history.key").write_text(f"sfumato-key-1\n{secret}\n")
    with pytest.raises(KeyFileError, match="belongs to the history"):
        sf.Key.load(tmp_path / "history.key")
    with pytest.warns(sf.exceptions.RepeatedReleaseWarning, match="released before"):
        sf.release(data, tmp_path / "b.csv", key=tmp_path / "other.key", **how)
    assert not (tmp_path / "history.key").exists()
    assert (tmp_path / "history.secret").read_text() == f"sfumato-history-key-1\n{secret}\n"
