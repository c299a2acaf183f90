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
        "against Spark reading and writing the same table once for each pass that the release needs; bringing the rows "
        "into their order, that of the keyed shuffle or of the table, is one more: a sort of Spark. The last column is "
        "the release against a copy that sorts its rows.",
        ["method", "shuffled", "passes", "copy seconds", "release seconds", "a pass / copy", "release / sorted copy"],
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
            for shuffle in (True, False):
                cases[f"{method} {shuffle}"] = _release(table, folder, method, shuffle=shuffle)
        took = fastest(cases, rounds, time.perf_counter)
        spark.stop()
    for method, passes in METHODS.items():
        worst = 0.0
        for shuffle in (True, False):
            seconds, over = took[f"{method} {shuffle}"], passes + 1
            share = seconds / took["copy"] / over
            worst = max(worst, share)
            section.rows.append(
                [method, "yes" if shuffle else "no", over, took["copy"], seconds, share, seconds / took["sorted"]]
            )
        section.claims.append(Claim(f"Spark release [{method}], a pass against Spark's read and write", worst, LIMIT))
    return section


def _write(rows: Any, folder: Path) -> None:
    rows.write.mode("overwrite").parquet(str(folder / "copy"))


def _release(table: Any, folder: Path, method: str, *, shuffle: bool) -> Callable[[], object]:
    key = sf.Key.generate()

    def run() -> object:
        return _write(
            sf.spark.release(table, key=key, method=method, shuffle=shuffle, receipt=folder / "receipt"), folder
        )

    return run
