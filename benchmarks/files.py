"""Releases of files against polars reading and writing the same file."""

from __future__ import annotations

import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
from measure import Claim, Section, fastest

import sfumato as sf

# method -> passes over the file: the first look, the rounds of the method, the release
METHODS = {"chaotic": 2, "adp": 3}
LIMITS = {"csv": 1.8, "parquet": 1.35}


def make_table(n_rows: int, *, seed: int = 0) -> pl.DataFrame:
    """Return ten columns of measurements with three decimals, as such files have them."""
    rng = np.random.default_rng(seed)
    return pl.DataFrame({f"x{i}": (rng.normal(size=n_rows) * 10.0 ** (i % 4)).round(3) for i in range(10)})


def polars_copy(source: Path, target: Path) -> None:
    """Read a file and write it again."""
    if source.suffix == ".csv":
        pl.read_csv(source).write_csv(target)
    else:
        pl.read_parquet(source).write_parquet(target)


def measure(quick: bool) -> Section:
    n_rows, rounds = (100_000, 2) if quick else (2_000_000, 3)
    section = Section(
        "Files",
        f"{n_rows:,} rows x 10 columns, two threads, by the clock on the wall, against polars reading and writing the "
        "same file once for each pass that the release needs: first look, rounds of the method, writing, and "
        "one more for the keyed shuffle, which writes all released rows to the disk and reads them back.",
        ["file", "MB", "method", "shuffled", "passes", "polars seconds", "release seconds", "a pass / polars"],
    )
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = make_table(n_rows)
        for kind, limit in LIMITS.items():
            source, copy = Path(folder, f"in.{kind}"), Path(folder, f"copy.{kind}")
            table.write_csv(source) if kind == "csv" else table.write_parquet(source)
            cases: dict[str, Callable[[], object]] = {"polars": lambda s=source, c=copy: polars_copy(s, c)}
            for method in METHODS:
                for shuffle in (True, False):
                    cases[f"{method} {shuffle}"] = _release(source, Path(folder), method, shuffle=shuffle)
            took = fastest(cases, rounds, time.perf_counter)
            worst = 0.0
            for method, passes in METHODS.items():
                for shuffle in (True, False):
                    seconds, over = took[f"{method} {shuffle}"], passes + shuffle
                    share = seconds / took["polars"] / over
                    size = source.stat().st_size / 1e6
                    section.rows.append(
                        [kind, size, method, "yes" if shuffle else "no", over, took["polars"], seconds, share]
                    )
                    worst = max(worst, share)
            section.claims.append(Claim(f"{kind} release, a pass against polars' read and write", worst, limit))
    return section


def _release(source: Path, folder: Path, method: str, *, shuffle: bool) -> Callable[[], object]:
    target = folder / f"out{source.suffix}"
    key = folder / "benchmark.key"

    def run() -> object:
        return sf.release(source, target, key=key, method=method, shuffle=shuffle, force=True, threads=2)

    return run
