"""Types of cells that nobody expects: kept as they are, perturbed, or refused with what to do."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.exceptions import DataError
from sfumato.files.formats.arrow_schema import stored_columns
from sfumato.files.opening import open_source
from sfumato.policy.first_rows import profile

pytestmark = pytest.mark.filterwarnings("ignore::sfumato.SfumatoWarning")
ROWS = 60
DAYS = [dt.date(2000, 1, 1) + dt.timedelta(days=i) for i in range(ROWS)]
NESTED: dict[str, Any] = {
    "list": pa.array([[1, 2], None, [3]] * 20),
    "fixed list": pa.array([[1, 2]] * ROWS, pa.list_(pa.int64(), 2)),
    "map": pa.array([[("k", 1)]] * ROWS, pa.map_(pa.string(), pa.int64())),
    "record of lists": pa.array([{"a": [1]}] * ROWS),
    "bytes": pa.array([b"\xff\x00", None] * 30),
    "spans": pa.array([dt.timedelta(days=i % 5) for i in range(ROWS)]),
}


def stored(column: Any, path: Path) -> Path:
    rng = np.random.default_rng(0)
    table = pa.table({"a": rng.normal(50, 9, ROWS).round(2), "b": rng.normal(0, 9, ROWS).round(2), "d": column})
    if path.suffix == ".parquet":
        pq.write_table(table, path)
    else:
        with ipc.new_file(path, table.schema) as file:
            file.write_table(table)
    return path


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
@pytest.mark.parametrize("kind", NESTED)
def test_cells_that_are_no_single_value_are_refused_unless_kept_or_dropped(
    tmp_path: Path, kind: str, ending: str
) -> None:
    data = stored(NESTED[kind], tmp_path / f"in.{ending}")
    for method in (None, "adp", "exchange"):
        with pytest.raises(DataError, match=r"identifier=\['d'\]"):
            sf.release(data, tmp_path / "out.parquet", method=method, key=tmp_path / "k")
    assert [path.name for path in tmp_path.iterdir()] == [data.name]
    assert [one.kind for one in profile(open_source(data))][:2] == ["number", "number"]


@pytest.mark.parametrize("kind", NESTED)
def test_what_a_file_of_text_cannot_hold_is_refused_before_any_work(tmp_path: Path, kind: str) -> None:
    data = stored(NESTED[kind], tmp_path / "in.arrow")
    steps: list[str] = []
    with pytest.raises(DataError, match="a file of text cannot hold"):
        sf.release(
            data, tmp_path / "out.csv", method="rdp", keep=["d"], key=tmp_path / "k",
            progress=lambda step, _share: steps.append(step),
        )  # fmt: skip
    assert steps == []
    sf.release(data, tmp_path / "out.arrow", method="rdp", keep=["d"], key=tmp_path / "k", shuffle=False)
    assert pl.read_ipc(tmp_path / "out.arrow")["d"].to_list() == pl.read_ipc(data)["d"].to_list()
    with pytest.raises(DataError, match="a file of text cannot hold"):
        sf.restore(tmp_path / "out.arrow", tmp_path / "back.csv", tmp_path / "k")


@pytest.mark.parametrize("kind", NESTED)
def test_dataframes_of_such_cells_are_refused(kind: str) -> None:
    table = pl.DataFrame({"a": np.arange(ROWS) / 7, "d": pl.from_arrow(NESTED[kind])})
    for method in (sf.perturb.AdditiveNoise(insecure_seed=1), sf.perturb.AtomExchange(insecure_seed=1)):
        with pytest.raises(DataError, match="'d'"):
            method.fit_transform(table)


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
@pytest.mark.parametrize("target", ["out.csv", "out.parquet", "out.arrow"])
def test_days_that_are_kept_as_milliseconds_stay_days(tmp_path: Path, ending: str, target: str) -> None:
    data = stored(pa.array(DAYS, pa.date64()), tmp_path / f"in.{ending}")
    assert stored_columns(data, ending).days == ("d",)
    out = tmp_path / target
    sf.release(data, out, method="adp", keep=["d"], key=tmp_path / "k", shuffle=False)
    after = {"csv": pl.read_csv, "parquet": pl.read_parquet, "arrow": pl.read_ipc}[target[4:]]
    cells = after(out, **({"try_parse_dates": True} if target == "out.csv" else {}))["d"]
    assert cells.dtype == pl.Date
    assert cells.to_list() == DAYS


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_days_and_moments_are_told_apart(tmp_path: Path, ending: str) -> None:
    for number, column in enumerate([pa.array(DAYS, pa.date32()), pa.array(range(ROWS), pa.timestamp("ms"))]):
        data = stored(column, tmp_path / f"in{number}.{ending}")
        assert stored_columns(data, ending).days == ()
    assert isinstance(open_source(data).types["d"], pl.Datetime)


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
@pytest.mark.parametrize("scale", [0, 4])
def test_decimals_whose_digits_a_double_cannot_keep_are_refused(tmp_path: Path, ending: str, scale: int) -> None:
    long = [Decimal(2**60 + i) for i in range(ROWS)]
    data = stored(pa.array(long, pa.decimal128(30, scale)), tmp_path / f"in.{ending}")
    with pytest.raises(DataError, match="beyond 2\\^53"):
        sf.release(data, tmp_path / "out.csv", method="adp", key=tmp_path / "k")
    for table in (pl.DataFrame({"d": long}), pl.DataFrame({"d": long}).to_pandas()):
        with pytest.raises(DataError, match="beyond 2\\^53"):
            sf.perturb.AdditiveNoise(insecure_seed=1).fit_transform(table)


def test_decimals_of_a_usual_size_are_released(tmp_path: Path) -> None:
    data = stored(pa.array([Decimal(i) / 8 for i in range(ROWS)], pa.decimal128(38, 18)), tmp_path / "in.parquet")
    assert sf.release(data, tmp_path / "out.parquet", method="adp", key=tmp_path / "k").n_rows == ROWS


@pytest.mark.parametrize(
    ("column", "said"),
    [
        (pa.array([Decimal(1)] * ROWS, pa.decimal256(50, 2)), "decimals of 256 bits"),
        (pa.RunEndEncodedArray.from_arrays(pa.array([ROWS], pa.int32()), pa.array([1.5])), "run-end"),
        (pa.array([(1, 2, 3)] * ROWS, pa.month_day_nano_interval()), "intervals"),
    ],
)
def test_types_that_the_reader_panics_at_are_named(
    tmp_path: Path, column: Any, said: str, capfd: pytest.CaptureFixture[str]
) -> None:
    data = stored(column, tmp_path / "in.arrow")
    with pytest.raises(DataError, match=f"column 'd' holds {said}"):
        sf.release(data, tmp_path / "out.csv")
    assert "panicked" not in capfd.readouterr().err


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_two_columns_of_one_name_are_refused_by_name(tmp_path: Path, ending: str) -> None:
    table = pa.table([pa.array([1.0, 2.0]), pa.array([3.0, 4.0])], names=["twice", "twice"])
    path = tmp_path / f"in.{ending}"
    if ending == "parquet":
        pq.write_table(table, path)
    else:
        with ipc.new_file(path, table.schema) as file:
            file.write_table(table)
    with pytest.raises(DataError, match="share the name 'twice'"):
        sf.release(path, tmp_path / "out.csv")


FLAT = st.sampled_from(
    [pl.Int8, pl.UInt64, pl.Float32, pl.String, pl.Boolean, pl.Date, pl.Datetime("ms"), pl.Time, pl.Duration, pl.Binary,
     pl.Decimal(12, 3), pl.Categorical, pl.Null]
)  # fmt: skip
TYPES = st.recursive(
    FLAT,
    lambda inner: st.one_of(
        inner.map(pl.List), inner.map(lambda one: pl.Array(one, 2)), inner.map(lambda one: pl.Struct({"x": one}))
    ),
    max_leaves=3,
)


@given(
    dtype=TYPES,
    method=st.sampled_from([None, "adp", "exchange"]),
    keep=st.sampled_from([[], ["d"]]),
    rows=st.sampled_from([0, 1, 2, 30]),
)
def test_a_column_of_any_type_is_released_or_refused(
    tmp_path_factory: pytest.TempPathFactory, dtype: Any, method: str | None, keep: list[str], rows: int
) -> None:
    folder = tmp_path_factory.mktemp("type")
    empty = pl.Series("d", [None] * rows, dtype=dtype)
    table = pl.DataFrame({"a": [float(i % 7) for i in range(rows)], "d": empty})
    data = folder / "in.arrow"
    table.write_ipc(data)
    try:
        sf.release(data, folder / "out.csv", method=method, keep=keep, key=folder / "k", threads=1)
    except sf.SfumatoError:
        assert [path.name for path in folder.iterdir()] == ["in.arrow"]
