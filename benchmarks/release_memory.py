"""Release a CSV file far larger than the memory it may take, and say what it took.

    python benchmarks/release_memory.py [--gigabytes 2] [--limit 1] [--method ina] [--folder FOLDER]

Writes the table (a made-up one), runs `sfumato release` on it in a process of its own, and checks its peak resident
memory against the limit. The figures go to benchmarks/release_memory.json.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

HERE = Path(__file__).resolve().parent
ROWS_PER_PIECE = 100_000


def write_table(path: Path, size: int) -> int:
    """Write a customer table of about `size` bytes and return its rows."""
    rng = np.random.default_rng(0)
    rows = 0
    with path.open("wb") as file:
        while file.tell() < size:
            n = ROWS_PER_PIECE
            kind = rng.integers(0, 5, n)
            piece = pl.DataFrame(
                {
                    "customer": np.arange(rows, rows + n),
                    "town": np.array(["north", "south", "east", "west", "centre"])[kind],
                    **{f"amount{i}": (rng.normal(100 * kind, 30) + 10 * i).round(2) for i in range(8)},
                    **{f"count{i}": rng.poisson(5 + 3 * kind) for i in range(4)},
                }
            )
            piece.write_csv(file, include_header=rows == 0)
            rows += n
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gigabytes", type=float, default=2.0)
    parser.add_argument("--limit", type=float, default=1.0, help="gigabytes of memory")
    parser.add_argument("--method", default="ina", help="a method that streams; see `sfumato methods`")
    parser.add_argument("--folder", type=Path, default=None, help="where there is room for three times the table")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        rows = write_table(folder / "table.csv", int(options.gigabytes * 1e9))
        size = (folder / "table.csv").stat().st_size
        command = [sys.executable, "-m", "sfumato", "release", "table.csv", "-o", "released.csv", "--json"]
        command += ["--id", "customer", "--keep", "town", "--key", "my.key"]
        command += ["-m", options.method]
        begin = time.perf_counter()
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
        seconds = time.perf_counter() - begin
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
        told = json.loads(done.stdout)
        with (folder / "released.csv").open("rb") as file:
            released_rows = sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b"")) - 1
    found = {
        "table_bytes": size,
        "rows": rows,
        "released_rows": released_rows,
        "columns": len(told["perturbed"]),
        "method": told["method"],
        "passes": told["passes"],
        "seconds": round(seconds, 1),
        "peak_memory_bytes": peak,
        "processors": os.cpu_count(),
    }
    (HERE / "release_memory.json").write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(found, indent=2))
    if peak > options.limit * 1e9 or released_rows != rows:
        sys.exit(f"{peak / 1e9:.2f} GB of memory, and the limit is {options.limit:g} GB")


if __name__ == "__main__":
    main()
