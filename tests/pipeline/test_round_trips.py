"""Types, decimals, integer columns, missing values and other columns come back as they were, in every format."""

from __future__ import annotations

import csv
import io
import re
import tempfile
from decimal import Decimal
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.files.numbers import from_units, text_of_units
from sfumato.files.opening import open_source
from tests.pipeline.tables import read, write

KEY = sf.Key.from_insecure_seed(3)
pytestmark = pytest.mark.filterwarnings("ignore::sfumato.SfumatoWarning")

_NAMES = st.lists(
    st.text("abcdefgh _-.é", min_size=1, max_size=6).filter(lambda s: s.strip() and s[0] not in "-=+@" and s != "x"),
    min_size=1,
    max_size=4,
    unique=True,
)
# a backslash before a quote can mean two things, and is refused: leaks/test_dialects.py says how
_TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), max_size=6).filter(
    lambda cell: not cell.endswith("\\") and '\\"' not in cell
)


@st.composite
def tables(draw) -> tuple[list[str], list[list[str]]]:
    """Return a header and rows of text cells: kept text columns, and columns of numbers with gaps."""
    names = draw(_NAMES)
    n = draw(st.integers(2, 30))
    columns = []
    for _ in names:
        decimals = draw(st.integers(0, 5))
        cells = st.integers(-(10**6), 10**6).map(lambda units, d=decimals: f"{Decimal(units).scaleb(-d):f}")
        columns.append(draw(st.lists(st.one_of(cells, st.just("")), min_size=n, max_size=n)))
    kept = draw(st.lists(_TEXTS, min_size=n, max_size=n))
    # a column needs one value, and the whole table two rows
    for column in columns:
        if not any(column):
            column[0] = "7"
    rows = [[*(column[i] for column in columns), kept[i]] for i in range(n)]
    return [*names, "x"], rows


def as_csv(names: list[str], rows: list[list[str]]) -> bytes:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(rows)
    return out.getvalue().encode()


def decimals(cell: str) -> int:
    return len(cell.partition(".")[2])


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(tables())
def test_a_csv_release_keeps_columns_gaps_decimals_and_text(table: tuple[list[str], list[list[str]]]) -> None:
    names, rows = table
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "in.csv").write_bytes(as_csv(names, rows))
        sf.release(folder / "in.csv", folder / "out.csv", keep=["x"], key=KEY, shuffle=False, method="adp")
        with (folder / "out.csv").open(encoding="utf-8", newline="") as file:
            header, *released = list(csv.reader(file))
    assert header == names
    assert len(released) == len(rows)
    for i, column in enumerate(zip(*rows, strict=True)):
        after = [row[i] for row in released]
        if names[i] == "x":
            assert [cell.removeprefix("'") for cell in after] == [cell.removeprefix("'") for cell in column]
            continue
        assert [cell == "" for cell in after] == [cell == "" for cell in column], "the same cells are missing"
        present = [decimals(cell) for cell in column if cell]
        for cell in filter(None, after):
            assert re.fullmatch(r"-?\d+(\.\d+)?", cell)
            assert min(present) <= decimals(cell) <= max(present), "no more and no fewer decimals than the data"


_TYPES = [pl.Int8, pl.Int32, pl.UInt16, pl.Int64, pl.Float32, pl.Float64, pl.Decimal(12, 2)]


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(st.sampled_from(_TYPES), min_size=1, max_size=4),
    st.integers(2, 60),
    st.integers(0, 10**6),
    st.sampled_from(["parquet", "arrow"]),
)
def test_typed_files_keep_types_gaps_and_the_columns_that_are_not_perturbed(
    types, n: int, seed: int, ending: str
) -> None:
    rng = np.random.default_rng(seed)
    data = {}
    for i, dtype in enumerate(types):
        values = rng.integers(0, 100, n) if dtype.is_integer() else rng.integers(0, 10_000, n) / 100
        column = pl.Series(values.tolist(), dtype=pl.Float64).cast(dtype)
        gaps = pl.Series(rng.random(n) < 0.2) & (pl.Series(range(n)) > 0)
        data[f"c{i}"] = pl.select(pl.when(gaps).then(None).otherwise(column)).to_series()
    data["day"] = pl.Series(np.arange(n)).cast(pl.Date)
    data["flag"] = pl.Series(rng.random(n) < 0.5)
    data["list"] = pl.Series([[i, i + 1] for i in range(n)])
    table = pl.DataFrame(data)
    with tempfile.TemporaryDirectory() as name:
        source, target = write(table, Path(name) / f"in.{ending}"), Path(name) / f"out.{ending}"
        kept = ["day", "flag", "list"]
        sf.release(source, target, keep=kept, key=KEY, shuffle=False, method="adp", parameters={"scale": 0.3})
        after = read(target)
    assert after.schema == table.schema
    assert after.select(kept).equals(table.select(kept))
    for i in range(len(types)):
        assert after[f"c{i}"].is_null().equals(table[f"c{i}"].is_null())


@settings(max_examples=200)
@given(st.lists(st.integers(-(10**12), 10**12), min_size=1, max_size=30), st.integers(0, 7), st.data())
def test_the_text_of_a_number_is_its_value(units: list[int], places: int, data) -> None:
    fewest = data.draw(st.integers(0, places))
    whole = np.array(units, dtype=np.float64)
    for text, value, unit in zip(text_of_units(whole, places, fewest), from_units(whole, places), units, strict=True):
        assert Decimal(text) == Decimal(unit).scaleb(-places), "exactly"
        assert float(text) == value, "the text and the double are one value"
        assert "e" not in text
        assert fewest <= decimals(text) <= places
        assert decimals(text) == fewest or not text.endswith("0")
        assert not re.fullmatch(r"-0(\.0+)?", text)
    many = text_of_units(np.tile(whole, 300), places, fewest).to_list()
    assert many == text_of_units(whole, places, fewest).to_list() * 300, "few rows are spelled as many are"


def test_codes_keep_their_zeros_and_words_their_spelling(tmp_path: Path) -> None:
    cells = ["00123", "NA", "1.50", " padded", 'say "hi"', "a,b", "", "TRUE", "1e3", "é"]
    rows = [[str(i), cell] for i, cell in enumerate(cells)]
    (tmp_path / "in.csv").write_bytes(as_csv(["n", "x"], rows))
    sf.release(tmp_path / "in.csv", tmp_path / "out.csv", keep=["x"], key=KEY, shuffle=False, method="adp")
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        assert [row[1] for row in csv.reader(file)][1:] == cells


@pytest.mark.parametrize(("separator", "line_end"), [(";", "\n"), ("\t", "\r\n"), ("|", "\n"), (",", "\r\n")])
def test_separator_and_line_ends_come_back(tmp_path: Path, separator: str, line_end: str) -> None:
    lines = ["a;b;t", *(f"{i};{i * 2}.5;w {i}" for i in range(30))]
    (tmp_path / "in.csv").write_bytes(line_end.join(lines).replace(";", separator).encode() + line_end.encode())
    sf.release(tmp_path / "in.csv", tmp_path / "out.csv", keep=["t"], key=KEY, batch_rows=2, method="adp")
    out = (tmp_path / "out.csv").read_bytes().decode()
    assert out.count(line_end) == 31
    assert out.startswith(f"a{separator}b{separator}t{line_end}")
    assert all(line.count(separator) == 2 for line in out.split(line_end)[:-1])


def test_a_byte_order_mark_and_quoted_line_ends_are_read(tmp_path: Path) -> None:
    rows = "".join(f'{i},"two\nlines, {i}, more"\n' for i in range(40))
    (tmp_path / "in.csv").write_bytes(b"\xef\xbb\xbfa,t\n" + rows.encode())
    for batch in (None, 2, 7):
        sf.release(
            tmp_path / "in.csv",
            tmp_path / "out.csv",
            keep=["t"],
            key=KEY,
            batch_rows=batch,
            force=True,
            shuffle=False,
            method="adp",
        )
        out = pl.read_csv(tmp_path / "out.csv")
        assert out.columns == ["a", "t"]
        assert out["t"].to_list() == [f"two\nlines, {i}, more" for i in range(40)]


def test_other_markers_of_missing_values_come_back_as_they_were(tmp_path: Path) -> None:
    cells = ["1.5", "NA", "-9", "2.5", "", "3.0", "4.25", "-9"]
    (tmp_path / "in.csv").write_text("a,b\n" + "".join(f"{i},{cell}\n" for i, cell in enumerate(cells)))
    (tmp_path / "p.toml").write_text('[columns]\nmissing_values = ["NA"]\n[column.b]\nmissing_values = ["-9"]\n')
    receipt = sf.release(
        tmp_path / "in.csv", tmp_path / "out.csv", tmp_path / "p.toml", KEY, shuffle=False, method="adp"
    )
    after = [line.split(",")[1] for line in (tmp_path / "out.csv").read_text().splitlines()[1:]]
    assert [cell if before in ("NA", "-9", "") else "n" for cell, before in zip(after, cells, strict=True)] == [
        "n", "NA", "-9", "n", "", "n", "n", "-9",
    ]  # fmt: skip
    assert receipt.missing == 4


def test_bounds_hold_in_every_format_and_are_not_told(tmp_path: Path) -> None:
    table = pl.DataFrame({"a": np.arange(300) % 50, "b": (np.arange(300) % 37) / 8})
    (tmp_path / "p.toml").write_text(
        "[column.a]\nbounds = [3, 44.5]\n[column.b]\nbounds = [0.31, 4.18]\ndecimals = 1\n"
    )
    for ending in ("csv", "parquet", "arrow"):
        source, target = write(table, tmp_path / f"in.{ending}"), tmp_path / f"out.{ending}"
        receipt = sf.release(source, target, tmp_path / "p.toml", KEY, method="adp", parameters={"scale": 2.0})
        after = read(target)
        assert (after["a"].min(), after["a"].max()) == (3, 44)
        assert (after["b"].min(), after["b"].max()) == (0.4, 4.1), "inwards, to the released decimals"
        assert "4.18" not in str(receipt.to_data())


def test_parquet_integers_stay_in_their_type(tmp_path: Path) -> None:
    table = pl.DataFrame(
        {"a": pl.Series(np.arange(200) % 120, dtype=pl.Int8), "b": pl.Series(np.arange(200), dtype=pl.UInt8)}
    )
    write(table, tmp_path / "in.parquet")
    sf.release(tmp_path / "in.parquet", tmp_path / "out.parquet", key=KEY, method="adp", parameters={"scale": 3.0})
    after = read(tmp_path / "out.parquet")
    assert after.schema == table.schema
    assert after["b"].min() == 0


def test_row_numbers_are_absolute_whatever_the_batches(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("a,b\n" + "".join(f"{i},{i}\n" for i in range(1000)))
    for batch in (None, 3, 100):
        starts = [
            (raw.start, raw.frame["a"][0]) for raw in open_source(tmp_path / "in.csv", batch_rows=batch).batches()
        ]
        assert all(str(start) == first for start, first in starts)
        assert batch is None or len(starts) > 1


@pytest.mark.parametrize("row", [row for row in sf.methods() if not row.wraps], ids=lambda row: row.id)
@pytest.mark.filterwarnings("ignore::sfumato.SfumatoWarning")
def test_no_release_takes_more_passes_than_the_catalogue_says(tmp_path: Path, row) -> None:
    rng = np.random.default_rng(0)
    values = {f"x{i}": (rng.normal(size=5_000) + 5.0 * rng.integers(0, 3, 5_000)).round(2) for i in range(3)}
    pl.DataFrame(values).write_csv(tmp_path / "in.csv")
    told = {"bounds": [-20.0, 40.0]} if row.draws_rows else {}
    key = sf.Key.from_insecure_seed(1)
    done = sf.release(tmp_path / "in.csv", tmp_path / "out.csv", method=row.id, parameters=told, key=key)
    assert 2 <= done.passes <= row.passes
