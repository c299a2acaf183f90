"""A table that changes while it is read is refused: a release is never made of two tables."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path

import pytest

import sfumato as sf
from tests.pipeline.tables import people, write

pytestmark = pytest.mark.filterwarnings("ignore::sfumato.SfumatoWarning")


def replaced(path: Path, other: Path) -> None:
    """Put another table of the same size and time in the place of the first."""
    times = path.stat()
    other.replace(path)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def overwritten(path: Path, other: Path) -> None:
    times = path.stat()
    with path.open("r+b") as file:
        file.write(other.read_bytes())
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def emptied(path: Path, other: Path) -> None:
    with path.open("wb"):
        pass


def removed(path: Path, other: Path) -> None:
    path.unlink()


CHANGES: list[Callable[[Path, Path], None]] = [replaced, overwritten, emptied, removed]


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".parquet", ".arrow"])
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("moment", ["fitting", "releasing"])
def test_a_table_that_changes_between_two_passes_is_refused(
    tmp_path: Path, ending: str, change: Callable[[Path, Path], None], moment: str
) -> None:
    table = people(300)
    paths = [tmp_path / f"in{ending}", tmp_path / f"other{ending}"]
    for path, rows in zip(paths, (table, table[::-1]), strict=True):  # the same size to the byte as CSV
        if ending == ".csv.gz":
            path.write_bytes(gzip.compress(rows.write_csv().encode(), mtime=0))
        else:
            write(rows, path)
    seen = []

    def watch(step: str, _share: float) -> None:
        if step == moment and not seen:
            seen.append(step)
            change(*paths)

    with pytest.raises(sf.exceptions.DataError, match=r"changed while it was read|cannot be read"):
        sf.release(
            paths[0], tmp_path / "out.csv", method="ina", identifier=["id"], keep=["town"],
            key=tmp_path / "my.key", progress=watch,
        )  # fmt: skip
    assert seen == [moment]
    assert {path.name for path in tmp_path.iterdir()} <= {path.name for path in paths}


def test_a_table_that_stays_as_it_is_is_released(tmp_path: Path) -> None:
    path = write(people(50), tmp_path / "in.csv")
    os.utime(path)  # fresh: the clock of the file system has not moved since
    assert sf.release(path, tmp_path / "out.csv", method="ina", identifier=["id"], keep=["town"]).n_rows == 50
