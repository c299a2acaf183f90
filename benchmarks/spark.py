"""Releases on Spark against Spark reading and writing the same table."""

from __future__ import annotations

import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from files import make_table
from measure import Claim, Section, fastest

import sfumato as sf
from sfumato.spark.session import spark_session

# method -> passes: the first look, the rounds of the method, the release
METHODS = {"chaotic": 2, "adp": 3}
LIMIT = 1.8


def measure(quick: bool) -> Section:
    n_rows, rounds = (200_000, 2) if quick else (4_000_000, 3)
    section = Section(
        "Spark",
        f"{n_rows:,} rows x 10 columns of Parquet, Spark on the cores of this machine, by the clock on the wall, "
        "against Spark reading and writing the same table once for each pass that the release needs. The shuffle of "
        "the rows is a shuffle of Spark, which its own copy does not do: the last column is the whole release against "
        "a copy that sorts its rows by one column.",
        ["method", "passes", "copy seconds", "release seconds", "a pass / copy", "release / sorted copy"],
    )
    with tempfile.TemporaryDirectory() as place, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        folder = Path(place)
        make_table(n_rows).write_parquet(folder / "in.parquet")
        spark = spark_session()
        table = spark.read.parquet(str(folder / "in.parquet"))
        cases: dict[str, Callable[[], object]] = {
            "copy": lambda: _write(table, folder),
            "sorted": lambda: _write(table.orderBy("x0"), folder),
        }
        for method in METHODS:
            cases[method] = _release(table, folder, method)
        took = fastest(cases, rounds, time.perf_counter)
        spark.stop()
    for method, passes in METHODS.items():
        share = took[method] / took["copy"] / passes
        section.rows.append([method, passes, took["copy"], took[method], share, took[method] / took["sorted"]])
        section.claims.append(Claim(f"Spark release [{method}], a pass against Spark's read and write", share, LIMIT))
    return section


def _write(rows: Any, folder: Path) -> None:
    rows.write.mode("overwrite").parquet(str(folder / "copy"))


def _release(table: Any, folder: Path, method: str) -> Callable[[], object]:
    key = sf.Key.generate()

    def run() -> object:
        return _write(sf.spark.release(table, key=key, method=method, receipt=folder / "receipt"), folder)

    return run
