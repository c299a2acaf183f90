"""Peak memory of a release against the size of its file, each in a process of its own.

python benchmarks/memory.py SOURCE TARGET     releases one file and prints what it took
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import polars as pl
from measure import Claim, Section, in_a_process

_CHUNK = 500_000


def write_csv(path: Path, n_rows: int) -> None:
    """Write a CSV of ten columns in pieces, so that making it needs no memory either."""
    rng = np.random.default_rng(0)
    with path.open("wb") as file:
        for start in range(0, n_rows, _CHUNK):
            rows = min(_CHUNK, n_rows - start)
            piece = pl.DataFrame({f"x{i}": (rng.normal(size=rows) * 10.0 ** (i % 4)).round(3) for i in range(10)})
            piece.write_csv(file, include_header=start == 0)


def measure(quick: bool) -> Section:
    sizes = (50_000, 500_000) if quick else (14_000_000, 140_000_000)
    section = Section(
        "Memory",
        "Releases of CSV files (ChaoticNoise, shuffled by the key, two threads), each in a fresh process; the peak "
        "holds the interpreter and all libraries too.",
        ["rows", "file MB", "seconds", "peak MB"],
    )
    with tempfile.TemporaryDirectory() as folder:
        for n_rows in sizes:
            source = Path(folder, "in.csv")
            write_csv(source, n_rows)
            cost = in_a_process("memory.py", source, Path(folder, "out.csv"))
            section.rows.append([n_rows, source.stat().st_size / 1e6, cost["seconds"], cost["peak MB"]])
            Path(folder, "out.csv").unlink()
    small, large = section.rows
    section.claims = [
        Claim(f"peak memory for a CSV of {large[1]:,.0f} MB", large[3], 600.0, "MB"),
        Claim(f"its growth from a CSV of {small[1]:,.0f} MB", large[3] / small[3], 1.1),
    ]
    return section


def release_once(source: str, target: str) -> None:
    import sfumato as sf

    warnings.simplefilter("ignore")
    start = time.perf_counter()
    sf.release(source, target, key=Path(target).with_suffix(".key"), method="chaotic", force=True, threads=2)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)
    print(json.dumps({"seconds": time.perf_counter() - start, "peak MB": peak}))


if __name__ == "__main__":
    release_once(*sys.argv[1:3])
