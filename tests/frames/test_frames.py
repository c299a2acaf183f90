"""Tables in and out: the same kind, columns, index and types."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sfumato.exceptions import DataError
from sfumato.files.entire import read_csv
from sfumato.files.storage.outputs import write_atomically
from sfumato.frames.frame import read_frame
from sfumato.perturb import AdditiveNoise, RandomProjection, Translation

DATA = {
    "name": ["ann", "bob", "cy", "di"],
    "age": [29, 38, 34, 43],
    "wage": [1.5, 2.5, 9.0, 4.0],
    "rate": [0.25, 0.5, 0.75, 1.0],
}
KINDS = {
    "pandas": lambda: pd.DataFrame(DATA, index=[9, 7, 5, 3]).astype({"rate": "float32"}),
    "pandas nullable": lambda: pd.DataFrame(DATA).astype({"age": "Int64", "wage": "Float64", "rate": "float32"}),
    "polars": lambda: pl.DataFrame(DATA).with_columns(pl.col("rate").cast(pl.Float32)),
    "arrow": lambda: pa.table({**DATA, "rate": pa.array(DATA["rate"], type=pa.float32())}),
}


def column(frame, name: str) -> np.ndarray:
    return np.asarray(frame[name])


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_kind_comes_back_with_other_columns_untouched(kind: str) -> None:
    frame = KINDS[kind]()
    out = AdditiveNoise(0.5, columns=["age", "wage", "rate"], insecure_seed=1).fit_transform(frame)
    assert type(out) is type(frame)
    assert list(out.columns if kind != "arrow" else out.column_names) == list(DATA)
    assert column(out, "name").tolist() == DATA["name"]
    assert column(out, "age").dtype.kind == "i"
    assert column(out, "rate").dtype == np.float32
    assert column(out, "wage").dtype == np.float64
    assert (column(out, "wage") != DATA["wage"]).all()
    if kind == "pandas":
        assert out.index.tolist() == [9, 7, 5, 3]
        assert frame["wage"].tolist() == DATA["wage"], "the original is not written to"


def test_columns_keep_the_order_of_the_table_and_parameters_the_order_of_the_choice() -> None:
    frame = pl.DataFrame({"a": [1.0, 2.0], "b": [1.0, 2.0], "c": [1.0, 2.0]})
    out = Translation(offsets=[10.0, 20.0], columns=["c", "a"]).fit_transform(frame)
    assert out.columns == ["a", "b", "c"]
    assert out["c"].to_list() == [11.0, 12.0]
    assert out["a"].to_list() == [21.0, 22.0]
    assert out["b"].to_list() == [1.0, 2.0]


def test_arrays_keep_their_type_and_pass_other_columns_through() -> None:
    whole = np.arange(12).reshape(4, 3)
    out = Translation(offsets=5, columns=[2]).fit_transform(whole)
    assert out.dtype.kind == "i"
    assert (out - whole == [0, 0, 5]).all()
    assert Translation(offsets=1).fit_transform(whole.astype(np.float32)).dtype == np.float32
    assert Translation(offsets=1).fit_transform(whole.astype(np.uint8)).tolist() == (whole + 1).tolist()
    assert Translation(offsets=-9).fit_transform(whole.astype(np.uint8)).min() == -9, "no wrap-around"


def test_lists_and_booleans_are_tables_too() -> None:
    assert Translation(offsets=1).fit_transform([[1, 2], [3, 5]]).tolist() == [[2, 3], [4, 6]]
    flags = pl.DataFrame({"a": [True, False, True]})
    assert Translation(offsets=1).fit_transform(flags)["a"].to_list() == [2, 1, 2]


@pytest.mark.parametrize("kind", KINDS)
def test_projections_name_their_columns(kind: str) -> None:
    out = RandomProjection(1, columns=["wage", "rate"], insecure_seed=1).fit_transform(KINDS[kind]())
    assert list(out.columns if kind != "arrow" else out.column_names) == ["name", "age", "rp0"]


def test_one_row_read_alone_is_the_same_as_in_its_place() -> None:
    frame = read_frame(pl.DataFrame(DATA), ["age"], row_start=10)
    assert frame.rows.start == 10
    assert frame.tile(1, 3).tolist() == [[38.0, 34.0]]
    assert frame.at(4).rows.start == 4


def test_csv_files_are_written_whole_or_not_at_all(tmp_path) -> None:
    path = tmp_path / "t.csv"
    write_atomically(path, pl.DataFrame(DATA).write_csv)
    assert read_csv(path).equals(pl.DataFrame(DATA))

    class Broken:
        def write_csv(self, file) -> None:
            file.write(b"half a row")
            raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        write_atomically(path, Broken().write_csv)
    assert read_csv(path).equals(pl.DataFrame(DATA)), "the old file stands"
    assert [p.name for p in tmp_path.iterdir()] == ["t.csv"], "and nothing else"


def test_unreadable_csv_files_are_named(tmp_path) -> None:
    with pytest.raises(ValueError, match="no such file"):
        read_csv(tmp_path / "none.csv")
    (tmp_path / "empty.csv").write_text("")
    with pytest.raises(ValueError, match="empty"):
        read_csv(tmp_path / "empty.csv")


def test_a_planted_link_is_not_followed(tmp_path) -> None:
    victim = tmp_path / "victim.txt"
    victim.write_text("precious")
    (tmp_path / ".t.csv.part").symlink_to(victim)
    (tmp_path / "t.csv").symlink_to(victim)
    with pytest.raises(DataError, match="a symbolic link"):
        write_atomically(tmp_path / "t.csv", pl.DataFrame(DATA).write_csv)
    assert victim.read_text() == "precious"
    assert (tmp_path / "t.csv").is_symlink()


def test_errors_about_a_file_do_not_quote_its_cells(tmp_path) -> None:
    (tmp_path / "bad.csv").write_text('a,b\n1,2\n3,"SECRETCELL\n')
    (tmp_path / "huge.csv").write_text("a\n1\n" + "9" * 50 + "\n")
    for name in ("bad.csv", "huge.csv"):
        with pytest.raises(ValueError, match=r"bad.csv: line 3|not a readable CSV") as error:
            read_csv(tmp_path / name)
        assert "SECRETCELL" not in str(error.value)
        assert "9999" not in str(error.value)
        assert error.value.__context__ is None
