"""Files with texts, flags, dates, markers and gaps: released by one command, audited, joined, and the same bytes."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import sfumato as sf
from sfumato import cli
from sfumato.exceptions import DataError, ReceiptError, RepeatedReleaseWarning, SfumatoError
from sfumato.files.coded import learn_columns
from sfumato.files.opening import open_source
from sfumato.files.storage.sealed_rows import SealedRows
from sfumato.frames.counted import numbers_in
from sfumato.pipeline.engines import meeting
from sfumato.pipeline.engines.local import LocalEngine
from tests.perturb.test_exchange import bank
from tests.values import FEW, exchanged

pytestmark = pytest.mark.usefixtures("everybody")

QUICK = {"clusterings": [2, 3], "draws": 1}


def write(table: pl.DataFrame, path: Path) -> Path:
    if path.suffix == ".csv":
        table.write_csv(path)
    elif path.suffix == ".parquet":
        table.write_parquet(path)
    else:
        table.write_ipc(path)
    return path


def read(path: Path) -> pl.DataFrame:
    readers = {".csv": lambda one: pl.read_csv(one, try_parse_dates=True), ".parquet": pl.read_parquet}
    return readers.get(path.suffix, pl.read_ipc)(path)


@pytest.fixture(scope="module", params=["csv", "parquet", "arrow"])
def ending(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, ending: str) -> Path:
    """Return a folder with a table, its release and the key."""
    folder = tmp_path_factory.mktemp("released")
    write(bank(400), folder / f"in.{ending}")
    sf.release(folder / f"in.{ending}", folder / f"out.{ending}", key=folder / "k", method="exchange", parameters=QUICK)
    return folder


def test_a_table_with_texts_is_exchanged_by_default(tmp_path: Path) -> None:
    write(bank(40).select("age", "job"), tmp_path / "in.csv")
    done = CliRunner().invoke(
        cli.sfumato,
        ["release", str(tmp_path / "in.csv"), "-o", str(tmp_path / "out.csv"), "--key", str(tmp_path / "k")],
    )
    assert done.exit_code == 0, done.output
    assert "AtomExchange [exchange]" in done.output


def test_a_file_of_every_kind_comes_out_as_one(folder: Path, ending: str) -> None:
    tmp_path, released = folder, folder / f"out.{ending}"
    before, after = read(tmp_path / f"in.{ending}"), read(released)
    assert after.schema == before.schema
    for name in before.columns:
        assert after[name].null_count() == pytest.approx(before[name].null_count(), rel=FEW), name
        old, new = before[name].drop_nulls(), after[name].drop_nulls()
        assert old.min() <= new.min()
        assert new.max() <= old.max()
        if name in ("job", "sector", "visits", "married", "since"):
            assert exchanged(before[name], after[name]), name
    assert not set(after.iter_rows()) & set(before.iter_rows())


@pytest.mark.usefixtures("few_clusters")
def test_audit_and_join_know_the_release(folder: Path, ending: str) -> None:
    tmp_path, released = folder, folder / f"out.{ending}"
    original = tmp_path / f"in.{ending}"
    found = sf.audit(
        read(original), read(released), key=tmp_path / "k", attacks=["as-released", "nearest"], clusters=(2,)
    )
    assert found.utility is not None
    assert found.utility.columns > 9
    command = ["audit", str(original), str(released), "--key", str(tmp_path / "k"), "--attack", "as-released"]
    done = CliRunner().invoke(cli.sfumato, command)
    assert done.exit_code == 0, done.output
    mined = read(released).with_columns(label=pl.int_range(pl.len()))
    write(mined, tmp_path / f"mined.{ending}")
    joined = sf.join(tmp_path / f"mined.{ending}", original, tmp_path / f"joined.{ending}", tmp_path / "k")
    assert joined.n_rows == 400
    assert joined.notes == ()
    sorted_rows = write(mined.sort("age"), tmp_path / f"sorted.{ending}")
    with pytest.raises(SfumatoError, match=r"not in the order|not the release"):
        sf.join(sorted_rows, original, tmp_path / f"other.{ending}", tmp_path / "k")
    with pytest.raises(ReceiptError, match="not the release"):
        sf.audit(read(original), read(sorted_rows).drop("label"), key=tmp_path / "k", attacks=["as-released"])


def test_threads_batches_and_memory_give_the_same_bytes(tmp_path: Path) -> None:
    source = write(bank(700), tmp_path / "in.csv")
    key = sf.Key.generate()
    first = tmp_path / "first.csv"
    sf.release(source, first, key=key, method="exchange", parameters=QUICK, receipt=tmp_path / "r0")
    for number, (threads, batch) in enumerate([(1, 64), (3, 300), (2, None)]):
        again = tmp_path / f"again{number}.csv"
        options = {"threads": threads, "batch_rows": batch, "receipt": tmp_path / f"r{number + 1}"}
        sf.release(source, again, key=key, method="exchange", parameters=QUICK, **options)
        assert again.read_bytes() == first.read_bytes()

    def little(table, workspace, target, watch):
        return LocalEngine(table, workspace, target, threads=2, watch=watch, memory=1 << 12)

    numbers = write(bank(700).select("age", "gain", "score"), tmp_path / "numbers.csv")
    outputs = []
    for number, engine in enumerate((None, little)):
        target = tmp_path / f"n{number}.csv"
        with pytest.warns(RepeatedReleaseWarning, match="700 of 700 people"):  # fewer columns of the same people
            sf.release(
                numbers,
                target,
                key=key,
                method="exchange",
                parameters=QUICK,
                engine=engine,
                receipt=tmp_path / f"n{number}",
            )
        outputs.append(target.read_bytes())
    assert outputs[0] == outputs[1]


def test_a_table_that_meets_in_sealed_files_is_the_one_that_meets_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, key = write(bank(900), tmp_path / "in.csv"), sf.Key.generate()
    options = {"key": key, "method": "exchange", "parameters": QUICK}
    sf.release(source, tmp_path / "first.csv", receipt=tmp_path / "r", **options)
    seen: list[bytes] = []
    remove = SealedRows.remove

    def look(self: SealedRows) -> None:
        seen.append(self._path.read_bytes())
        assert self._path.stat().st_mode & 0o077 == 0
        remove(self)

    monkeypatch.setattr(SealedRows, "remove", look)
    for number, (cells, held, bucket, threads) in enumerate([(0, 1 << 12, 1 << 13, 1), (0, 1 << 16, 1 << 15, 3)]):
        for name, value in (("MOST_CELLS", cells), ("_HELD_BYTES", held), ("_BUCKET_BYTES", bucket)):
            monkeypatch.setattr(meeting, name, value)
        target = tmp_path / f"again{number}.csv"
        sf.release(source, target, receipt=tmp_path / f"r{number}", threads=threads, batch_rows=200, **options)
        assert target.read_bytes() == (tmp_path / "first.csv").read_bytes()
    assert len(seen) == 2
    scores = pl.read_csv(source)["score"].to_numpy()
    for raw in seen:
        assert len(raw) > 8 * 9 * 900
        assert not any(score.tobytes() in raw for score in scores), "originals lie there sealed only"
    assert not list(tmp_path.glob(".*part*"))


def test_free_text_and_identifiers_are_named_all_at_once(tmp_path: Path) -> None:
    people = [f"person {i}" for i in range(600)]
    numbers = pl.Series(range(10_000, 10_600))
    table = bank(600).with_columns(name=pl.Series(people), remark=pl.Series(people), number=numbers)
    write(table, tmp_path / "in.csv")
    with pytest.raises(DataError, match="3 problems, all of them") as caught:
        sf.release(tmp_path / "in.csv", tmp_path / "out.csv", key=tmp_path / "k")
    said = str(caught.value)
    assert all(f"\n  {name} " in said for name in ("name", "remark", "number"))
    assert "person" not in said
    assert not (tmp_path / "out.csv").exists()
    assert not (tmp_path / "k").exists()
    dropped = {"identifier": ["name", "remark", "number"], "method": "exchange", "parameters": QUICK}
    done = sf.release(tmp_path / "in.csv", tmp_path / "out.csv", key=tmp_path / "k", **dropped)
    assert done.dropped == ("name", "remark", "number")


@pytest.mark.usefixtures("few_clusters")
def test_markers_commas_and_formulas(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = [["amount", "share", "town"]]
    for i in range(300):
        amount = "?" if i % 17 == 0 else str(int(rng.integers(1, 500)))
        rows.append([amount, f"{rng.normal():.2f}".replace(".", ","), ["=SUM(A1)", "Rome", "Bern"][i % 3]])
    with (tmp_path / "in.csv").open("w", newline="") as file:
        csv.writer(file, delimiter=";").writerows(rows)
    exchange = {"method": "exchange", "parameters": QUICK}
    receipt = sf.release(tmp_path / "in.csv", tmp_path / "out.csv", key=tmp_path / "k", **exchange)
    with (tmp_path / "out.csv").open(newline="") as file:
        header, *cells = csv.reader(file, delimiter=";")
    assert header == rows[0]
    amounts, shares, towns = zip(*cells, strict=True)
    assert amounts.count("?") == pytest.approx(sum(row[0] == "?" for row in rows), rel=FEW, abs=6)
    assert all(one == "?" or re.fullmatch(r"\d+", one) for one in amounts)
    assert all(re.fullmatch(r"-?\d+,\d+", one) for one in shares), "the comma stays a comma"
    assert set(towns) == {"'=SUM(A1)", "Rome", "Bern"}
    assert receipt.neutralised == towns.count("'=SUM(A1)")
    done = CliRunner().invoke(
        cli.sfumato,
        [
            "audit",
            str(tmp_path / "in.csv"),
            str(tmp_path / "out.csv"),
            "--key",
            str(tmp_path / "k"),
            "--attack",
            "nearest",
        ],
    )
    assert done.exit_code == 0, done.output


def test_dates_keep_their_form_and_numbers_may_be_called_categories(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    days = pl.Series(np.datetime64("2021-01-01") + rng.integers(0, 400, 300).astype("timedelta64[D]"))
    table = pl.DataFrame(
        {"day": days.dt.strftime("%d.%m.%Y"), "code": rng.integers(1, 4, 300), "x": rng.normal(size=300)}
    )
    write(table, tmp_path / "in.csv")
    said = '[column.code]\nkind = "category"\n[method]\nname = "exchange"\ndraws = 1\n'
    (tmp_path / "policy.toml").write_text(said)
    sf.release(tmp_path / "in.csv", tmp_path / "out.csv", tmp_path / "policy.toml", key=tmp_path / "k")
    after = pl.read_csv(tmp_path / "out.csv")
    assert exchanged(table["day"], after["day"])
    assert exchanged(table["code"], after["code"])


def test_ordered_categories_have_an_order(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    size = rng.integers(0, 3, 300)
    table = pl.DataFrame({"size": np.array(["small", "medium", "large"])[size], "x": rng.normal(size, 0.3)})
    write(table, tmp_path / "in.csv")
    quick = '[method]\nname = "exchange"\ndraws = 1\nclusterings = [2, 3]\n'
    order = quick + '[column.size]\nkind = "ordered"\norder = ["small", "medium", "large"]\n'
    (tmp_path / "policy.toml").write_text(order)
    sf.release(tmp_path / "in.csv", tmp_path / "out.csv", tmp_path / "policy.toml", key=tmp_path / "k")
    assert exchanged(table["size"], pl.read_csv(tmp_path / "out.csv")["size"])
    (tmp_path / "policy.toml").write_text(order.replace('"small", ', ""))
    with pytest.raises(DataError, match="not in the order"):
        sf.release(tmp_path / "in.csv", tmp_path / "two.csv", tmp_path / "policy.toml", key=tmp_path / "k2")


def test_other_methods_still_refuse_text(tmp_path: Path) -> None:
    write(bank(100), tmp_path / "in.csv")
    with pytest.raises(DataError, match="holds text"):
        sf.release(tmp_path / "in.csv", tmp_path / "out.csv", key=tmp_path / "k", method="adp")


def test_tables_of_measurements_are_mixed_as_before(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    write(pl.DataFrame({"wage": rng.normal(30, 9, 200), "rent": rng.gamma(2, 300, 200)}), tmp_path / "in.csv")
    receipt = sf.release(tmp_path / "in.csv", tmp_path / "out.csv", key=tmp_path / "k")
    assert receipt.method == "mix"


def test_nothing_of_the_table_shows(tmp_path: Path) -> None:
    write(bank(200), tmp_path / "in.csv")
    receipt = sf.release(
        tmp_path / "in.csv", tmp_path / "out.csv", key=tmp_path / "k", method="exchange", parameters=QUICK
    )
    shown = repr(receipt) + str(receipt.parameters) + receipt.receipt_path.read_text()
    assert "nurse" not in shown
    assert "held" not in receipt.parameters


@pytest.mark.parametrize("comma", [False, True])
def test_numbers_of_which_most_are_marked_as_missing_are_numbers(tmp_path: Path, comma: bool) -> None:
    cells = [f"{i / 10:.1f}" if i % 3 == 0 else "NA" for i in range(300)]
    text = "\n".join(
        ["dose;town", *(f"{one.replace('.', ',') if comma else one};x{i % 4}" for i, one in enumerate(cells))]
    )
    (tmp_path / "in.csv").write_text(text + "\n")
    found = learn_columns(open_source(tmp_path / "in.csv"), ["dose", "town"], {}, {})
    assert list(found.codes) == ["town"]
    assert found.markers == {"dose": ("NA",)}
    assert found.commas == (("dose",) if comma else ())
    held = numbers_in(pl.Series(cells))
    assert held is not None
    assert held.null_count() == 200
