"""Releases of Parquet tables from 100,000 to 100,000,000 rows, streamed, each in a process of its own.

python benchmarks/large.py SOURCE TARGET METHOD     releases one table and prints what it took
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
import warnings
from math import log10
from pathlib import Path

from measure import Claim, Section, in_a_process

_FILE_ROWS = 5_000_000
METHOD = "adp"


def write_folder(folder: Path, n_rows: int) -> None:
    """Write a table of ten columns as a folder of Parquet files."""
    from files import make_table

    folder.mkdir()
    for number, start in enumerate(range(0, n_rows, _FILE_ROWS)):
        make_table(min(_FILE_ROWS, n_rows - start), seed=number).write_parquet(folder / f"part-{number:03}.parquet")


def measure(quick: bool) -> Section:
    sizes = (10_000, 100_000) if quick else (100_000, 1_000_000, 10_000_000, 100_000_000)
    section = Section(
        "Up to a hundred million rows",
        "Releases of folders of Parquet files with ten columns of doubles to one Parquet file (AdditiveNoise: three "
        "passes, shuffled by the key, two threads), each in a fresh process, by the clock on the wall; the peak holds "
        "the interpreter and all libraries too.",
        ["rows", "file MB", "seconds", "million rows a second", "peak MB"],
    )
    with tempfile.TemporaryDirectory() as place:
        for n_rows in sizes:
            source, target = Path(place, f"in-{n_rows}"), Path(place, "out.parquet")
            write_folder(source, n_rows)
            size = sum(file.stat().st_size for file in source.iterdir()) / 1e6
            cost = in_a_process("large.py", source, target, METHOD)
            section.rows.append([n_rows, size, cost["seconds"], n_rows / cost["seconds"] / 1e6, cost["peak MB"]])
            for file in (*source.iterdir(), target):
                file.unlink()
    first, last = section.rows[-3 if len(sizes) > 3 else 0], section.rows[-1]
    exponent = log10(last[2] / first[2]) / log10(last[0] / first[0])
    section.claims = [Claim(f"exponent of a release's time from {first[0]:,} to {last[0]:,} rows", exponent, 1.1, "")]
    return section


def release_once(source: str, target: str, method: str) -> None:
    import sfumato as sf

    warnings.simplefilter("ignore")
    start = time.perf_counter()
    sf.release(source, target, key=Path(target).with_suffix(".key"), method=method, force=True, threads=2)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)
    print(json.dumps({"seconds": time.perf_counter() - start, "peak MB": peak}))


if __name__ == "__main__":
    release_once(*sys.argv[1:4])
