"""A receipt that does not belong to a file is refused by audit, join and restore, and what cannot be known is said."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import sfumato as sf
from sfumato import cli
from sfumato.exceptions import DataError, ReceiptError, SfumatoError
from tests.pipeline.tables import people, read, write

pytestmark = pytest.mark.filterwarnings("ignore::sfumato.SfumatoWarning")
ROLES = {"identifier": ["id"], "keep": ["town"], "method": "tdp"}


def cell(name: str) -> pl.Expr:
    """Return the first row with a value in a column: releases are shuffled, and a gap cannot be emptied."""
    return pl.int_range(pl.len()) == pl.col(name).is_not_null().arg_max()


def edited(table: pl.DataFrame) -> pl.DataFrame:
    return table.with_columns(age=pl.when(cell("age")).then(pl.col("age") + 1).otherwise(pl.col("age")))


def emptied(table: pl.DataFrame) -> pl.DataFrame:
    return table.with_columns(wage=pl.when(cell("wage")).then(None).otherwise(pl.col("wage")))


SPOILT: dict[str, Callable[[pl.DataFrame], pl.DataFrame]] = {
    "one edited cell": edited,
    "one emptied cell": emptied,
    "sorted": lambda table: table.sort("wage"),
    "two rows exchanged": lambda table: pl.concat([table[1:2], table[:1], table[2:]]),
    "another table": lambda table: table.with_columns(pl.col("age").reverse()),
    "scaled": lambda table: table.with_columns(pl.col("wage") * 2),
}


@pytest.fixture(params=["csv", "parquet", "arrow"])
def ending(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def released(tmp_path: Path, ending: str) -> Path:
    write(people(80, missing=True), tmp_path / f"in.{ending}")
    sf.release(tmp_path / f"in.{ending}", tmp_path / f"out.{ending}", key=tmp_path / "my.key", **ROLES)
    return tmp_path / f"out.{ending}"


def audit(original: Path, released: Path, key: Path):
    command = ["audit", str(original), str(released), "--key", str(key), "--attack", "as-released"]
    return CliRunner().invoke(cli.sfumato, command)


@pytest.mark.parametrize("how", SPOILT)
def test_a_file_that_is_not_the_release_is_refused(tmp_path: Path, released: Path, ending: str, how: str) -> None:
    spoilt = write(SPOILT[how](read(released)), tmp_path / f"spoilt.{ending}")
    with pytest.raises(ReceiptError, match="not the release of this receipt"):
        sf.restore(spoilt, tmp_path / f"back.{ending}", tmp_path / "my.key")
    assert not (tmp_path / f"back.{ending}").exists()
    found = audit(tmp_path / f"in.{ending}", spoilt, tmp_path / "my.key")
    assert isinstance(found.exception, ReceiptError), found.output
    labelled = read(spoilt).with_columns(label=pl.lit(1))
    write(labelled, tmp_path / f"labels.{ending}")
    with pytest.raises(SfumatoError, match=r"not the release of this receipt|not in the order of the release"):
        sf.join(tmp_path / f"labels.{ending}", tmp_path / f"in.{ending}", tmp_path / f"j.{ending}", tmp_path / "my.key")
    original = read(tmp_path / f"in.{ending}")
    with pytest.raises(ReceiptError, match="not the release of this receipt"):
        sf.audit(original, read(spoilt), key=tmp_path / "my.key", utility=False, attacks=["as-released"])


def test_another_key_of_the_same_table_is_refused(tmp_path: Path, released: Path, ending: str) -> None:
    source = tmp_path / f"in.{ending}"
    second = tmp_path / "second"
    second.mkdir(mode=0o700)
    sf.release(source, second / f"other.{ending}", key=second / "my.key", **ROLES)
    with pytest.raises(ReceiptError, match="not the release of this receipt"):
        sf.restore(released, tmp_path / f"back.{ending}", second / "my.key")
    assert isinstance(audit(source, released, second / "my.key").exception, ReceiptError)
    with pytest.raises(ReceiptError, match="not the release of this receipt"):
        sf.audit(read(source), read(released), key=second / "my.key", utility=False, attacks=["as-released"])
    labels = write(pl.DataFrame({"label": [0] * 80}), tmp_path / f"labels.{ending}")
    target = tmp_path / f"joined.{ending}"
    with pytest.raises(ReceiptError, match="not the release of this receipt"):
        sf.join(labels, source, target, second / "my.key", released=released)
    done = sf.join(labels, source, target, second / "my.key")
    assert any("too little of the release" in note for note in done.notes), "nothing tells, and that is said"
    done = sf.join(labels, source, target, tmp_path / "my.key", released=released, force=True)
    assert any("too little of the release" in note for note in done.notes), "a right receipt says nothing of labels"


def test_another_original_is_refused(tmp_path: Path, released: Path, ending: str) -> None:
    other = write(people(80, seed=1, missing=True), tmp_path / f"other.{ending}")
    found = audit(other, released, tmp_path / "my.key")
    assert isinstance(found.exception, DataError)
    assert "not the table that was released" in str(found.exception)
    with pytest.raises(DataError, match="not the table that was released"):
        sf.audit(read(other), read(released), key=tmp_path / "my.key", utility=False, attacks=["as-released"])


def test_a_release_saved_anew_is_still_known_and_said_to_be(tmp_path: Path, released: Path, ending: str) -> None:
    copy = tmp_path / "copy.csv"
    read(released).write_csv(copy, separator=";")
    done = sf.restore(copy, tmp_path / "back.csv", tmp_path / "my.key")
    assert any("saved anew" in note for note in done.notes)
    exact = sf.restore(released, tmp_path / f"exact.{ending}", tmp_path / "my.key")
    assert exact.notes == ()
    back = pl.read_csv(tmp_path / "back.csv", separator=";")
    assert back["age"].to_list() == people(80, missing=True)["age"].to_list()
    found = sf.audit(
        read(tmp_path / f"in.{ending}"), read(released), key=tmp_path / "my.key", utility=False, attacks=["as-released"]
    )
    assert not any("could not be checked" in note for note in found.notes)


def test_restore_prints_what_it_knows(tmp_path: Path) -> None:
    write(people(), tmp_path / "in.csv")
    sf.release(tmp_path / "in.csv", tmp_path / "out.csv", key=tmp_path / "my.key", **ROLES)
    key = ["--key", str(tmp_path / "my.key")]
    exact = CliRunner().invoke(cli.sfumato, ["restore", str(tmp_path / "out.csv"), "-o", str(tmp_path / "a.csv"), *key])
    assert "every restored value is exact" in exact.output
    assert "note:" not in exact.output
    write(read(tmp_path / "out.csv"), tmp_path / "copy.parquet")
    copy = CliRunner().invoke(
        cli.sfumato, ["restore", str(tmp_path / "copy.parquet"), "-o", str(tmp_path / "b.csv"), *key]
    )
    assert "note: the file was saved anew" in copy.output, copy.output


def test_without_a_key_rows_that_visibly_do_not_correspond_are_not_graded(tmp_path: Path) -> None:
    write(people(missing=True), tmp_path / "in.csv")
    roles = {**ROLES, "method": "mdp"}  # noise that nobody sees through
    sf.release(tmp_path / "in.csv", tmp_path / "out.csv", key=tmp_path / "my.key", parameters={"scale": 9.0}, **roles)
    original, shuffled = read(tmp_path / "in.csv"), read(tmp_path / "out.csv")
    by_gaps = original.drop("id", "town"), shuffled.drop("town")
    for pair in ((original, shuffled), by_gaps):
        found = sf.audit(*pair, utility=False, attacks=["as-released"])
        assert found.order == "not known"
        assert all(line.status == "not applicable" for line in found.attacks)
        assert "give the release's key" in found.verdict
        assert any("at other rows" in note for note in found.notes)


@pytest.mark.parametrize("method", ["adp", "mix", "pca", "one-d", "rdp"])
@pytest.mark.parametrize("source", ["csv", "parquet"])
@pytest.mark.parametrize("target", ["csv", "arrow"])
def test_every_release_is_known_again_from_its_dataframe(tmp_path: Path, method: str, source: str, target: str) -> None:
    table = people(200).drop("id", "town").with_columns(tiny=pl.col("score").cast(pl.Float32) * 1e-30)
    write(table, tmp_path / f"in.{source}")
    more = {"parameters": {"draws": 1, "clusterings": [2, 3]}} if method == "mix" else {}
    sf.release(tmp_path / f"in.{source}", tmp_path / f"out.{target}", key=tmp_path / "my.key", method=method, **more)
    released = read(tmp_path / f"out.{target}")
    found = sf.audit(
        read(tmp_path / f"in.{source}"), released, key=tmp_path / "my.key", utility=False, attacks=["as-released"]
    )
    assert not any("could not be checked" in note for note in found.notes)


def plain(tmp_path: Path, **options: object) -> tuple[pl.DataFrame, pl.DataFrame, Path]:
    rng = np.random.default_rng(0)
    table = pl.DataFrame(
        {
            "pid": [f"p{i // 2}" for i in range(200)],
            "a": rng.normal(50, 10, 200).round(2),
            "b": rng.integers(0, 99, 200),
            "c": rng.integers(0, 9, 200),
        }
    )
    table.write_csv(tmp_path / "in.csv")
    sf.release(tmp_path / "in.csv", tmp_path / "out.csv", key=tmp_path / "my.key", method="adp", **options)
    return table, pl.read_csv(tmp_path / "out.csv"), tmp_path / "my.key"


def look(original: object, released: object, key: Path):
    return sf.audit(original, released, key=key, utility=False, attacks=["as-released"])


def test_record_ids_part_of_the_columns_and_arrays_are_checked_too(tmp_path: Path) -> None:
    table, released, key = plain(tmp_path, record_id="pid")
    assert any("does not know the order of the original" in note for note in look(table, released, key).notes)
    with pytest.raises(ReceiptError, match="not the release of this receipt"):
        look(table, released.reverse(), key)
    numbers = ["a", "b", "c"]
    with pytest.raises(DataError, match="has no column 'c'"):
        look(table.drop("c"), released, key)
    with pytest.raises(DataError, match="has no column 'c'"):
        look(table, released.drop("c").sort("a"), key)
    with pytest.raises(ReceiptError, match="not the release of this receipt"):
        look(table.select(numbers).to_numpy(), released.select(numbers).to_numpy()[::-1], key)


def test_markers_of_missing_values_do_not_hide_another_table(tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text('[columns]\nidentifier = ["pid"]\n[column.c]\nmissing_values = ["3"]\n')
    table, released, key = plain(tmp_path, policy=tmp_path / "p.toml")
    assert not any("could not be checked" in note for note in look(table, released, key).notes)
    with pytest.raises(DataError, match="not the table that was released"):
        look(table.reverse(), released, key)


@pytest.mark.parametrize("beside", [["a", "b", "c"], ["a"], []])
def test_the_order_of_labels_is_checked_by_whatever_stands_beside_them(tmp_path: Path, beside: list[str]) -> None:
    _, released, key = plain(tmp_path, identifier=["pid"])
    files = {"released": tmp_path / "out.csv", "force": True}
    labelled = released.with_columns(label=pl.int_range(200)).select(*beside, "label")
    labelled.write_csv(tmp_path / "labels.csv")
    done = sf.join(tmp_path / "labels.csv", tmp_path / "in.csv", tmp_path / "j.csv", key, **files)
    assert (done.notes == ()) is bool(beside)
    labelled.reverse().write_csv(tmp_path / "labels.csv")
    if beside:
        with pytest.raises(SfumatoError, match=r"not the release of this receipt|not in the order of the release"):
            sf.join(tmp_path / "labels.csv", tmp_path / "in.csv", tmp_path / "j.csv", key, **files)


@pytest.mark.parametrize("method", ["adp", "tdp", "rdp", "pca"])
@pytest.mark.parametrize("target", ["parquet", "arrow", "csv"])
def test_full_single_precision_is_known_again(tmp_path: Path, method: str, target: str) -> None:
    rng = np.random.default_rng(0)
    table = pl.DataFrame({"x": pl.Series(rng.normal(size=300), dtype=pl.Float32), "y": rng.normal(size=300)})
    table.write_parquet(tmp_path / "in.parquet")
    sf.release(tmp_path / "in.parquet", tmp_path / f"out.{target}", key=tmp_path / "my.key", method=method)
    found = look(table, read(tmp_path / f"out.{target}"), tmp_path / "my.key")
    assert not any("could not be checked" in note for note in found.notes)


@pytest.mark.usefixtures("few_clusters")
def test_a_release_of_ours_is_read_again_whatever_its_header_and_its_texts(tmp_path: Path) -> None:
    lines = ["a;b,c;remark"] + [f'{i};{i % 7};"ends, with; a backslash {i}\\"' for i in range(60)]
    (tmp_path / "in.csv").write_text("\n".join(lines).replace("b,c", "b,c,d") + "\n")
    source = sf.CsvFile(tmp_path / "in.csv", separator=";", escape="none")
    options = {"keep": ["remark"], "method": "tdp", "key": tmp_path / "k"}
    sf.release(source, tmp_path / "out.csv", report=tmp_path / "r.html", **options)
    sf.restore(tmp_path / "out.csv", tmp_path / "back.csv", tmp_path / "k")
    files = [str(tmp_path / "in.csv"), str(tmp_path / "out.csv"), "--key", str(tmp_path / "k")]
    done = CliRunner().invoke(
        cli.sfumato, ["audit", *files, "--separator", ";", "--escape", "none", "--attack", "as-released"]
    )
    assert done.exit_code == 0, done.exception
