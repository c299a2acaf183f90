"""What an audit costs: seconds and peak memory, each size in a process of its own.

python benchmarks/audit.py              both sizes, as one JSON object a line
python benchmarks/audit.py ROWS COLUMNS one size
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time

import numpy as np

import sfumato as sf

#: rows, columns and what an audit of them may take: seconds, megabytes
SIZES = ((15_000, 10, 12.0, 1_000), (1_000_000, 20, 60.0, 2_000))


def measure(rows: int, columns: int) -> dict[str, float | str]:
    """Audit noise on a table of six correlated clusters and return what it cost."""
    draw = np.random.default_rng(0)
    centres = 3.0 * draw.normal(size=(6, columns))
    spread = 0.5 * draw.normal(size=(columns, columns))
    table = centres[draw.integers(0, 6, rows)] + draw.normal(size=(rows, columns)) @ spread
    released = sf.perturb.IndependentNoise(insecure_seed=1).fit_transform(table)
    start, begin = time.perf_counter(), time.process_time()
    found = sf.audit(table, released)
    taken, worked = time.perf_counter() - start, time.process_time() - begin
    # kilobytes on Linux, bytes on macOS; the tables and the libraries are part of the peak
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)
    return {
        "rows": rows,
        "columns": columns,
        "seconds": round(taken, 1),
        "cpu seconds": round(worked, 1),  # on a busy machine these tell what the audit itself takes
        "peak MB": round(peak),
        "grade": found.grade,
    }


def main() -> None:
    if len(sys.argv) == 3:
        print(json.dumps(measure(int(sys.argv[1]), int(sys.argv[2]))))
        return
    for rows, columns, seconds, megabytes in SIZES:
        command = [sys.executable, __file__, str(rows), str(columns)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        cost = json.loads(done.stdout)
        inside = cost["seconds"] <= seconds and cost["peak MB"] <= megabytes
        print(json.dumps({**cost, "bar": f"{seconds:g} s, {megabytes} MB", "inside": inside}), flush=True)


if __name__ == "__main__":
    main()
