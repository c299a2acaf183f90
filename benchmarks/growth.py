"""How the cost of the methods grows with the rows: ratios measured in one run, minimum of several.

python benchmarks/growth.py     writes benchmarks/results.json and prints it
"""

from __future__ import annotations

import json
import platform
import time
import warnings
from collections.abc import Callable
from math import log10
from pathlib import Path

import numpy as np

from sfumato.perturb import IntervalResampling, Microaggregation, NestedClustering

CASES: dict[str, tuple[Callable[[], object], int, int]] = {
    # name -> (perturber, columns, repetitions)
    "NestedClustering x 2 columns": (lambda: NestedClustering(insecure_seed=0), 2, 2),
    "Microaggregation blocks x 5 columns": (lambda: Microaggregation(insecure_seed=0), 5, 1),
    "IntervalResampling x 5 columns": (lambda: IntervalResampling(min_radius=0.1, insecure_seed=0), 5, 3),
}
SMALL, LARGE = 100_000, 1_000_000


def seconds(make: Callable[[], object], table: np.ndarray, repetitions: int) -> float:
    best = float("inf")
    for _ in range(repetitions):
        perturber = make()
        start = time.perf_counter()
        perturber.fit_transform(table)  # type: ignore[attr-defined]
        best = min(best, time.perf_counter() - start)
    return best


def main() -> None:
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    results = {}
    for name, (make, columns, repetitions) in CASES.items():
        table = rng.normal(size=(LARGE, columns))
        small = seconds(make, table[:SMALL], repetitions)
        large = seconds(make, table, repetitions)
        results[name] = {
            "seconds at 100,000 rows": round(small, 3),
            "seconds at 1,000,000 rows": round(large, 3),
            "growth": round(large / small, 2),
            "exponent": round(log10(large / small), 3),
        }
        print(f"{name}: {results[name]}")
    machine = {"python": platform.python_version(), "machine": platform.machine(), "numpy": np.__version__}
    target = Path(__file__).with_name("results.json")
    target.write_text(json.dumps({"machine": machine, "growth": results}, indent=2) + "\n")


if __name__ == "__main__":
    main()
