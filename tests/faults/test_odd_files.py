"""Files that the hunt and its forerunners have found: each is read as it is meant, or refused with what to do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.exceptions import DataError, PolicyError
from sfumato.policy.reading import read_policy

pytestmark = pytest.mark.filterwarnings("ignore::sfumato.SfumatoWarning")


@pytest.mark.parametrize(
    ("raw", "hint"),
    [
        ("a,b\n1,2\n3,4\n".encode("utf-16"), "iconv -f utf-16"),
        ("a,b\n1,2\n3,4\n".encode("utf-32"), "iconv -f utf-32"),
        ("a,b\n1,2\n3,4\n".encode("utf-16-be"), "iconv -f utf-16"),
        (b"PK\x03\x04\x14\x00\x08\x00", "zip archive"),
        (b"BZh91AY&SY\x00\xff", "bunzip2"),
        (b"\x28\xb5\x2f\xfd\x00\xff", "unzstd"),
        (b"a,b\r1,2\r3,4\r", "ordinary line ends"),
        (b"a," + b"b" * 200_000 + b"\n1,2\n3,4\n", "long|rename"),
        (b'a,"b"c\n1,2\n3,4\n', "say how the file is written|quotes"),
    ],
)
def test_files_of_other_kinds_are_refused_with_what_to_do(tmp_path: Path, raw: bytes, hint: str) -> None:
    (tmp_path / "in.csv").write_bytes(raw)
    with pytest.raises(DataError, match=hint):
        sf.release(tmp_path / "in.csv", tmp_path / "out.csv", method="adp")


@pytest.mark.parametrize("batch_rows", [1, 2, 7, None])
def test_a_mark_of_byte_order_inside_the_file_is_a_letter(tmp_path: Path, batch_rows: int | None) -> None:
    names = [f"\ufeff{i % 3}" for i in range(12)]
    table = pl.DataFrame({"name": names, "age": [20.5 + i for i in range(12)]})
    table.write_csv(tmp_path / "in.csv")
    sf.release(
        tmp_path / "in.csv", tmp_path / "out.csv", method="adp", keep=["name"], shuffle=False,
        key=tmp_path / "k", batch_rows=batch_rows,
    )  # fmt: skip
    lines = (tmp_path / "out.csv").read_text(encoding="utf-8").splitlines()[1:]
    assert [line.partition(",")[0] for line in lines] == names


def test_a_release_whose_header_makes_no_sense_at_another_separator_is_joined(tmp_path: Path) -> None:
    table = pl.DataFrame({'a"|b': [1.5, 2.5, 3.5, 4.5], "c;d,e": [1.5, 0.5, 2.5, 9.5]})
    table.write_csv(tmp_path / "in.csv", separator="|")
    source = sf.CsvFile(tmp_path / "in.csv", separator="|")
    sf.release(source, tmp_path / "out.csv", method="adp", key=tmp_path / "k")
    pl.DataFrame({"label": [1, 2, 3, 4]}).write_csv(tmp_path / "labels.csv")
    done = sf.join(
        tmp_path / "labels.csv", source, tmp_path / "joined.parquet", tmp_path / "k", released=tmp_path / "out.csv"
    )
    assert done is not None
    assert pl.read_parquet(tmp_path / "joined.parquet").columns == [*table.columns, "label"]


def test_a_policy_of_endless_depth_is_refused(tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text("x = " + "[" * 5000 + "]" * 5000)
    with pytest.raises(PolicyError, match="too deep"):
        read_policy(tmp_path / "p.toml")


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (pl.DataFrame({"a": [1e-310, 2e-310, 5e-310], "b": [1.0, 2.0, 9.0]}), "differ by less than 1e-304"),
        (pl.DataFrame({"a": pl.Series([1, 2, 5], dtype=pl.Int128), "b": [1.0, 2.0, 9.0]}), "too long"),
        (pa.record_batch({"a": [1.0, 2.0, 5.0], "b": [3.0, 4.0, 1.0]}), "a record batch"),
    ],
)
def test_dataframes_that_cannot_be_blurred_are_refused(table: Any, said: str) -> None:
    with pytest.raises(DataError, match=said):
        sf.perturb.AdditiveNoise(insecure_seed=1).fit_transform(table)


def test_bounds_between_two_whole_numbers_are_refused(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("a,b\n1,1.5\n2,2.5\n1,9.5\n")
    (tmp_path / "p.toml").write_text('[method]\nname = "adp"\n[column.a]\nbounds = [1.2, 1.8]\n')
    with pytest.raises(sf.exceptions.ParameterError, match="lies within its bounds"):
        sf.release(tmp_path / "in.csv", tmp_path / "out.csv", tmp_path / "p.toml", key=tmp_path / "k")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_release_whose_columns_are_named_by_numbers_is_joined(tmp_path: Path, ending: str) -> None:
    table = pl.DataFrame({"name": ["x", "y", "z", "w"], "5": [1.5, 2.5, 3.5, 4.5], "7": [1.5, 0.5, 2.5, 9.5]})
    table.write_csv(tmp_path / "in.csv")
    out = tmp_path / f"out.{ending}"
    sf.release(tmp_path / "in.csv", out, method="adp", identifier=["name"], key=tmp_path / "k")
    pl.DataFrame({"label": [1, 2, 3, 4]}).write_csv(tmp_path / "labels.csv")
    sf.join(tmp_path / "labels.csv", tmp_path / "in.csv", tmp_path / "joined.csv", tmp_path / "k", released=out)
    assert pl.read_csv(tmp_path / "joined.csv")["label"].sort().to_list() == [1, 2, 3, 4]
