"""One release, whatever reads it: batches, threads, memory, format, and the perturber in memory."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.files.storage import reorder
from tests.pipeline.tables import people, read, write

KEY = sf.Key.from_insecure_seed(7)
METHODS = [row for row in sf.methods() if not row.wraps and row.row_preserving and not row.draws_rows]
pytestmark = [pytest.mark.filterwarnings("ignore::sfumato.SfumatoWarning"), pytest.mark.usefixtures("everybody")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("same")
    table = people(missing=False)
    for ending in ("csv", "parquet", "arrow"):
        write(table, place / f"in.{ending}")
    write(people(missing=True), place / "gaps.csv")
    return place


def release(folder: Path, source: str, target: str, **options) -> bytes:
    options.setdefault("method", "ina")
    sf.release(folder / source, folder / target, identifier=["id"], keep=["town"], key=KEY, force=True, **options)
    return (folder / target).read_bytes()


@pytest.mark.parametrize("row", METHODS, ids=lambda row: row.id)
def test_a_streamed_release_is_the_perturbers_table_rounded_to_the_datas_decimals(folder: Path, row) -> None:
    one = {"draws": 1} if "draws" in {p.name for p in row.parameters} else {}  # several are drawn in the same way
    release(folder, "in.csv", "plain.csv", method=row.id, shuffle=False, batch_rows=50, parameters=one)
    released = read(folder / "plain.csv")
    # methods that finish their own rows are told the decimals by the release
    own = {"decimals": {"age": 0, "wage": 2, "score": 3}} if "decimals" in {p.name for p in row.parameters} else {}
    whole = row.load()(key=KEY, columns=["age", "wage", "score"], **own, **one).fit_transform(people())
    for name, decimals in (("age", 0), ("wage", 2), ("score", 3)):
        expected = np.rint(whole[name].to_numpy() * 10.0**decimals) / 10.0**decimals
        assert released[name].to_list() == expected.tolist()
    assert released["town"].to_list() == people()["town"].to_list()
    assert released.columns == ["age", "wage", "town", "score"]


@pytest.fixture(scope="module")
def wholes(folder: Path) -> dict[bool, bytes]:
    """Return the releases in one piece, of the table without gaps and with them."""
    return {gaps: release(folder, "gaps.csv" if gaps else "in.csv", f"whole-{gaps}.csv") for gaps in (False, True)}


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(batch=st.integers(2, 700), threads=st.integers(1, 3), memory=st.integers(1000, 200_000), gaps=st.booleans())
def test_batches_threads_and_memory_do_not_change_a_byte(
    folder: Path, wholes: dict[bool, bytes], batch: int, threads: int, memory: int, gaps: bool
) -> None:
    source = "gaps.csv" if gaps else "in.csv"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reorder, "MEMORY_BYTES", memory)
        assert release(folder, source, f"parts-{gaps}.csv", batch_rows=batch, threads=threads) == wholes[gaps]


@pytest.mark.parametrize("shuffle", [True, False])
def test_every_format_gives_the_same_rows(folder: Path, shuffle: bool) -> None:
    release(folder, "in.csv", "out.csv", shuffle=shuffle)
    expected = read(folder / "out.csv")
    for source in ("csv", "parquet", "arrow"):
        for target in ("csv", "parquet", "arrow"):
            release(folder, f"in.{source}", f"again.{target}", shuffle=shuffle, batch_rows=77)
            assert read(folder / f"again.{target}").equals(expected), (source, target)


def test_a_folder_of_parquet_files_is_one_table_in_name_order(folder: Path) -> None:
    parts = folder / "parts"
    parts.mkdir()
    table = people()
    for i, start in enumerate(range(0, table.height, 170)):
        table.slice(start, 170).write_parquet(parts / f"part-{i}.parquet")
    assert release(folder, "parts", "joined.csv") == release(folder, "in.csv", "single.csv")


def test_a_packed_file_gives_the_same_rows_and_the_same_bytes_each_time(folder: Path) -> None:
    import gzip

    (folder / "in.csv.gz").write_bytes(gzip.compress((folder / "in.csv").read_bytes()))
    packed = release(folder, "in.csv.gz", "out.csv.gz", batch_rows=99)
    assert gzip.decompress(packed) == release(folder, "in.csv", "out.csv")
    assert release(folder, "in.csv", "out.csv.gz") == packed


def test_the_shuffle_is_keyed_and_loses_no_row(folder: Path) -> None:
    release(folder, "in.csv", "ordered.csv", shuffle=False)
    release(folder, "in.csv", "shuffled.csv")
    ordered, shuffled = read(folder / "ordered.csv"), read(folder / "shuffled.csv")
    assert not ordered.equals(shuffled)
    names = ordered.columns
    assert ordered.sort(names).equals(shuffled.sort(names))
    sf.release(
        folder / "in.csv",
        folder / "other.csv",
        identifier=["id"],
        keep=["town"],
        key=sf.Key.from_insecure_seed(8),
        method="ina",
    )
    assert read(folder / "other.csv")["town"].to_list() != shuffled["town"].to_list()


def test_another_method_shuffles_otherwise(folder: Path) -> None:
    release(folder, "in.csv", "a.csv", method="adp")
    release(folder, "in.csv", "b.csv", method="cov")
    assert read(folder / "a.csv")["town"].to_list() != read(folder / "b.csv")["town"].to_list()


def test_n_jobs_means_threads(folder: Path) -> None:
    assert release(folder, "in.csv", "jobs.csv", n_jobs=-1) == release(folder, "in.csv", "one.csv", threads=1)
    with pytest.raises(sf.exceptions.ParameterError, match="threads=2 and n_jobs=3"):
        release(folder, "in.csv", "two.csv", threads=2, n_jobs=3)


def test_missing_cells_stay_missing_and_only_they(folder: Path) -> None:
    release(folder, "gaps.csv", "gaps-out.csv", shuffle=False)
    before, after = people(missing=True), read(folder / "gaps-out.csv")
    for name in ("age", "wage", "score"):
        assert before[name].is_null().to_list() == after[name].is_null().to_list()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        filled = before.with_columns(pl.col("age").fill_null(pl.col("age").median().round()).cast(pl.Int64))
    assert after["age"].dtype == pl.Int64
    assert filled["age"].null_count() == 0


def test_the_noise_of_a_person_is_one_for_all_rows(tmp_path: Path) -> None:
    table = people(300)
    doubled = pl.concat([table, table])
    write(doubled, tmp_path / "visits.csv")
    sf.release(
        tmp_path / "visits.csv",
        tmp_path / "out.csv",
        record_id="id",
        keep=["town"],
        key=KEY,
        shuffle=False,
        method="adp",
    )
    out = read(tmp_path / "out.csv")
    assert out.columns == ["age", "wage", "town", "score"], "the record id is dropped"
    assert out.head(300).equals(out.tail(300)), "the same person with the same values comes out the same"
    by_number = tmp_path / "by-number.csv"
    sf.release(
        tmp_path / "visits.csv", by_number, identifier=["id"], keep=["town"], key=KEY, shuffle=False, method="adp"
    )
    assert not read(by_number).head(300).equals(read(by_number).tail(300))
