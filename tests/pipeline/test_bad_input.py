"""Every bad input: one clear line with its place and a hint, the right exit code, and nothing left behind."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

import sfumato as sf
from sfumato import cli
from sfumato.exceptions import ConstantColumnWarning, SfumatoError

GOOD = "id,age,wage\n" + "".join(f"P{i},{20 + i % 40},{1000 + 7 * i}.50\n" for i in range(60))


def lines(change: Callable[[list[str]], None]) -> str:
    rows = GOOD.splitlines()
    change(rows)
    return "\n".join(rows) + "\n"


def cell(row: int, text: str) -> str:
    return lines(lambda rows: rows.__setitem__(row, text))


CASES = {
    "empty file": ("", "empty"),
    "only line ends": ("\n\n", "empty"),
    "header only": ("id,age,wage\n", "0 row(s)"),
    "one row": ("id,age,wage\nP1,20,3.5\n", "1 row(s)"),
    "a row too short": (cell(17, "P16,36"), "line 18 has 2 cell(s), the header has 3"),
    "a row too long": (cell(17, "P16,36,5.0,6"), "line 18 has 4 cell(s), the header has 3"),
    "a blank line inside": (cell(17, ""), "line 18 has 1 cell(s), the header has 3"),
    "an open quote": (cell(17, 'P16,"36,5.0'), "line 18 has a quote that is never closed"),
    "text in a column of numbers": (cell(17, "P16,many,5.0"), "column 'age', row 17: text in a column of numbers"),
    "infinity": (cell(17, "P16,36,inf"), "column 'wage', row 17: not a finite number"),
    "not a number": (cell(17, "P16,36,nan"), "column 'wage', row 17: not a finite number"),
    "a column without any value": (
        lines(lambda r: r.__setitem__(slice(1, None), ["P,1,"] * 60)),
        "has no value at all",
    ),
    "two columns of one name": (GOOD.replace("id,age,wage", "id,age,age"), "share the name 'age'"),
    "a column without a name": (GOOD.replace("id,age,wage", "id,,wage"), "column 2 has no name"),
    "no header": (GOOD.partition("\n")[2].replace("P", ""), "the column names are missing"),
    "a formula as header": (GOOD.replace("wage", "=1+1"), "begins like a spreadsheet formula"),
    "a control character in a header": (GOOD.replace("wage", "wa\x07ge"), "control characters"),
    "integers beyond doubles": (cell(17, f"P16,{2**60},5.0"), "beyond 2^53"),
    "latin-1": (cell(17, "Pé,36,5.0").encode("latin-1"), "line 18 is not UTF-8 text"),
    "latin-1 in the header": (GOOD.replace("wage", "wäge").encode("latin-1"), "line 1 is not UTF-8 text"),
    "binary": (bytes(range(256)) * 40, ""),
    "half a gzip file": (gzip.compress(GOOD.encode())[:-20], "cannot be read to its end"),
    "too many columns": (",".join(f"c{i}" for i in range(20_000)) + "\n", "20,000 columns are more than"),
}


def release(folder: Path, data: Path, *more: str):
    command = ["release", str(data), "-o", str(folder / "out.csv"), "--key", str(folder / "my.key"), *more]
    return CliRunner().invoke(cli.sfumato, command)


def message(result) -> str:
    assert isinstance(result.exception, SfumatoError), result.output + repr(result.exception)
    return str(result.exception)


@pytest.mark.parametrize("name", CASES)
def test_a_bad_file_is_refused_with_its_place(tmp_path: Path, name: str) -> None:
    content, expected = CASES[name]
    data = tmp_path / ("data.csv.gz" if "gzip" in name else "data.csv")
    data.write_bytes(content if isinstance(content, bytes) else content.encode())
    told = message(
        release(tmp_path, data, "--id", "id") if b"id," in data.read_bytes()[:9] else release(tmp_path, data)
    )
    assert expected in told
    assert str(data) in told
    assert "\nhint: " in told, "every error says what to do next"
    assert told.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == [data.name], "nothing is left behind"


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (["--id", "custmer"], "no column 'custmer'"),
        (["--id", "idd"], "did you mean 'id'?"),
        (["--id", "id", "--keep", "id"], "both dropped and kept"),
        ([], "free text or identifiers, which are not released unless somebody says so: 'id'"),
        (["-m", "adp"], "column 'id' holds text, and nothing says what to do with it"),
        (["--id", "id", "--id", "age", "--id", "wage"], "no column is left to protect"),
        (["--id", "id", "-m", "inna"], "did you mean 'ina'?"),
        (["--id", "id", "-m", "ina", "--set", "bet=5"], "did you mean 'beta'?"),
        (["--id", "id", "-m", "ina", "--set", "beta=-5"], "beta must be a number above 0"),
        (["--id", "id", "-m", "rdp", "--set", "angles=30"], "is a secret"),
        (["--id", "id", "-m", "+rho"], "wraps another method"),
        (["--id", "id", "--record-id", "id", "-m", "mdav"], "groups them"),
        (["--id", "id", "--policy", "nowhere.toml"], "cannot be read"),
        (["--id", "id", "--receipt", "nowhere/r.receipt"], "no folder"),
        (["--id", "id", "--report", "nowhere/r.html"], "no folder"),
        (["--id", "id", "--engine", "spark"], ""),
    ],
)
def test_a_wrong_request_is_refused_with_a_hint(tmp_path: Path, more: list[str], expected: str) -> None:
    data = tmp_path / "data.csv"
    data.write_text(GOOD)
    told = message(release(tmp_path, data, *more))
    assert expected in told
    assert "\nhint: " in told
    assert [path.name for path in tmp_path.iterdir()] == [data.name]


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("nowhere/out.csv", "no folder"),
        ("out.ods", "does not know this kind of file"),
        ("out", "does not know this kind of file"),
        ("folder", "a folder, not a file"),
        ("link.csv", "a symbolic link"),
        ("data.csv", "would replace an input"),
        ("other.csv", "exists already"),
    ],
)
def test_a_target_that_cannot_be_is_refused(tmp_path: Path, target: str, expected: str) -> None:
    data = tmp_path / "data.csv"
    data.write_text(GOOD)
    (tmp_path / "folder").mkdir()
    (tmp_path / "other.csv").write_text("mine")
    (tmp_path / "link.csv").symlink_to(tmp_path / "elsewhere.csv")
    result = CliRunner().invoke(cli.sfumato, ["release", str(data), "-o", str(tmp_path / target), "--id", "id"])
    assert expected in message(result)
    assert data.read_text() == GOOD
    assert not (tmp_path / "elsewhere.csv").exists()


def test_a_release_never_replaces_its_own_original(tmp_path: Path) -> None:
    data = tmp_path / "data.csv"
    data.write_text(GOOD)
    result = CliRunner().invoke(cli.sfumato, ["release", str(data), "-o", str(data), "--id", "id", "--force"])
    assert "would replace an input" in message(result)
    assert data.read_text() == GOOD


def test_missing_sources_and_wrong_kinds(tmp_path: Path) -> None:
    assert "no such file" in message(release(tmp_path, tmp_path / "nothing.csv"))
    (tmp_path / "data.parquet").write_text(GOOD)
    assert "not a Parquet file" in message(release(tmp_path, tmp_path / "data.parquet"))
    (tmp_path / "data.arrow").write_text(GOOD)
    assert "not an Arrow file" in message(release(tmp_path, tmp_path / "data.arrow"))
    (tmp_path / "folder").mkdir()
    assert "no Parquet file in this folder" in message(release(tmp_path, tmp_path / "folder"))
    pl.DataFrame({"a": [1, 2]}).write_parquet(tmp_path / "folder" / "1.parquet")
    pl.DataFrame({"b": [1, 2]}).write_parquet(tmp_path / "folder" / "2.parquet")
    assert "other columns or types" in message(release(tmp_path, tmp_path / "folder"))
    pl.DataFrame({"day": ["2026-01-01"] * 9}).with_columns(pl.col("day").str.to_date()).write_parquet(
        tmp_path / "dates.parquet"
    )
    assert "holds Date, not numbers" in message(release(tmp_path, tmp_path / "dates.parquet", "-m", "adp"))


def test_errors_quote_no_cell(tmp_path: Path) -> None:
    for name, (content, _) in CASES.items():
        if name not in ("text in a column of numbers", "a row too long", "an open quote", "integers beyond doubles"):
            continue
        data = tmp_path / "data.csv"
        data.write_text(content.replace("many", "SECRET").replace(str(2**60), str(2**60 + 77)))
        told = message(release(tmp_path, data, "--id", "id"))
        assert "SECRET" not in told
        assert str(2**60 + 77) not in told
        assert "P16" not in told


def test_constant_columns_are_released_with_a_warning(tmp_path: Path) -> None:
    data = tmp_path / "data.csv"
    data.write_text("a,b\n" + "".join(f"{i},7\n" for i in range(50)))
    with pytest.warns(ConstantColumnWarning, match="b"):
        sf.release(data, tmp_path / "out.csv", key=tmp_path / "my.key", method="adp")


def test_numbers_of_rows_without_a_name_are_a_column_like_others(tmp_path: Path) -> None:
    # as pandas and R write them by default
    data = tmp_path / "data.csv"
    data.write_text("\n".join(f"{i or ''},{line}" for i, line in enumerate(GOOD.splitlines())) + "\n")
    done = release(tmp_path, data, "--id", "id", "--id", "unnamed", "-m", "adp")
    assert done.exit_code == 0, done.output
    assert (tmp_path / "out.csv").read_text().splitlines()[0] == "age,wage"
    twice = tmp_path / "twice.csv"
    twice.write_text(GOOD.replace("id,age,wage", ",age,"))
    assert "column 3 has no name" in message(release(tmp_path, twice, "--force"))
