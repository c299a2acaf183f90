"""Excel files in and out: plain values, the traps of types, and the same bytes for the same key."""

from __future__ import annotations

import datetime as dt
import zipfile
from pathlib import Path

import openpyxl
import polars as pl
import pytest

import sfumato as sf
from sfumato.exceptions import DataError
from sfumato.files.entire import read_table


def workbook(path: Path, *, sheets: int = 1, hidden: bool = True) -> Path:
    """Write a workbook as people have them: a formula, dates, a text that looks like a formula, a hidden sheet."""
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["person", "age", "wage", "since", "note"])
    for i in range(60):
        day = dt.date(2020, 1, 1) + dt.timedelta(days=i)
        sheet.append(
            [f"P{i}", 20 + i % 40, None if i == 3 else 1000 + i * 7 % 300 + 0.5, day, "=1+1" if i == 5 else "a"]
        )
    sheet["E7"].data_type = "s"  # a text that begins like a formula
    if hidden:
        book.create_sheet("secret").append(["Geheimname"])
        book["secret"].sheet_state = "hidden"
    for number in range(1, sheets):
        book.create_sheet(f"more {number}")
    book.save(path)
    return path


def test_a_workbook_is_released_as_plain_values_and_repeats(tmp_path: Path) -> None:
    data = workbook(tmp_path / "in.xlsx")
    read = read_table(data)
    assert read.schema == {
        "person": pl.String,
        "age": pl.Int64,
        "wage": pl.Float64,
        "since": pl.Date,
        "note": pl.String,
    }
    assert read["wage"].null_count() == 1
    how = {"identifier": ["person"], "keep": ["since", "note"], "method": "adp", "key": tmp_path / "my.key"}
    for name in ("out.xlsx", "again.xlsx"):
        with pytest.warns(sf.exceptions.SingledOutWarning):
            sf.release(data, tmp_path / name, **how)
    assert (tmp_path / "out.xlsx").read_bytes() == (tmp_path / "again.xlsx").read_bytes()
    out = read_table(tmp_path / "out.xlsx")
    assert out.schema == read.drop("person").schema
    assert out["since"].sort().equals(read["since"].sort())
    assert out["wage"].null_count() == 1
    cells = openpyxl.load_workbook(tmp_path / "out.xlsx")
    assert cells.sheetnames == ["released"]
    assert all(cell.data_type != "f" for row in cells.active for cell in row), "no formula"
    with zipfile.ZipFile(tmp_path / "out.xlsx") as archive:
        text = b"".join(archive.read(name) for name in archive.namelist())
    assert b"Geheimname" not in text
    assert b"<f>" not in text


def test_labels_come_back_to_a_workbook(tmp_path: Path) -> None:
    data = workbook(tmp_path / "in.xlsx", hidden=False)
    how = {"identifier": ["person", "since", "note"], "method": "tdp", "key": tmp_path / "my.key"}
    sf.release(data, tmp_path / "out.xlsx", **how)
    released = read_table(tmp_path / "out.xlsx")
    released.select(label=pl.col("age")).write_excel(tmp_path / "labels.xlsx")
    sf.join(tmp_path / "labels.xlsx", data, tmp_path / "joined.xlsx", tmp_path / "my.key")
    joined = read_table(tmp_path / "joined.xlsx")
    assert (joined["label"] - joined["age"]).n_unique() == 1


def test_what_is_no_table_is_refused_without_a_word_of_it(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="2 visible sheets"):
        read_table(workbook(tmp_path / "two.xlsx", sheets=2))
    (tmp_path / "bad.xlsx").write_bytes(b"Geheimname" * 100)
    with pytest.raises(DataError, match="not a readable Excel file") as told:
        read_table(tmp_path / "bad.xlsx")
    assert "Geheim" not in str(told.value)
    big = pl.DataFrame({"id": [2**60 + i for i in range(40)], "age": list(range(40))})
    big.write_parquet(tmp_path / "big.parquet")
    with pytest.raises(DataError, match="which Excel would round"):
        sf.release(tmp_path / "big.parquet", tmp_path / "o.xlsx", keep=["id"], method="adp", key=tmp_path / "k")
    assert not (tmp_path / "o.xlsx").exists()
