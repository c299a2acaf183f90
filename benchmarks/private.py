"""What differential privacy costs: k-means on private releases against the best k-means, on five tables, beside peers.

For k = 2..8: k-means on the release, its centres applied to the original (in standard deviations of the original),
against the best of ten k-means starts on the original. Peers: diffprivlib's KMeans, which gives centres and no table,
and spends the whole epsilon on each k alone; it runs in an environment of its own, whose python is in
SFUMATO_DP_PEERS (it does not import with a current scikit-learn). `mix` has no guarantee. Needs SFUMATO_DATA.
Writes the table of docs/dp.md.
"""

from __future__ import annotations

import csv
import gzip
import io
import os
import re
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans

from sfumato.perturb import AtomMixing, PrivateMixture

PAGE = Path(__file__).resolve().parent.parent / "docs" / "dp.md"
EPSILONS, CLUSTERS, RUNS = (0.5, 1.0, 3.0, 10.0), range(2, 9), 2
ADULT = {
    "age": (0, 100),
    "fnlwgt": (0, 1_500_000),
    "education-num": (0, 20),
    "capital-gain": (0, 100_000),
    "capital-loss": (0, 5_000),
    "hours-per-week": (0, 100),
}
SHUTTLE = [
    (0, 150),
    (-6e3, 6e3),
    (0, 200),
    (-5e3, 5e3),
    (-500, 500),
    (-3e4, 3e4),
    (-100, 150),
    (-400, 400),
    (-400, 400),
]
PEER = """
import sys, io, numpy as np, warnings
warnings.filterwarnings("ignore")
from diffprivlib.models import KMeans
with np.load(io.BytesIO(sys.stdin.buffer.read())) as told:
    rows, low, high, epsilon = told["rows"], told["low"], told["high"], float(told["epsilon"])
found = {str(k): KMeans(k, epsilon=epsilon, bounds=(low, high)).fit(rows).cluster_centers_ for k in range(2, 9)}
out = io.BytesIO()
np.savez(out, **found)
sys.stdout.buffer.write(out.getvalue())
"""


def tables() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return tables with bounds that an owner would write down."""
    data = Path(os.environ["SFUMATO_DATA"])
    with gzip.open(data / "adult.csv.gz", "rt") as file:
        adult = np.array([[float(row[name]) for name in ADULT] for row in csv.DictReader(file)])
    with gzip.open(data / "shuttle.csv.gz", "rt") as file:
        shuttle = np.loadtxt(file, delimiter=",", skiprows=1)[:, :9]
    rng = np.random.default_rng(11)
    groups = rng.normal(0, 2, (9, 16))[rng.integers(0, 9, 20_000)] + rng.normal(size=(20_000, 16))
    skewed = np.exp(0.5 * rng.normal(size=(20_000, 9)) @ (np.eye(9) + rng.normal(0, 0.3, (9, 9))))
    factors = rng.normal(size=(30_000, 3)) @ rng.normal(size=(3, 10)) + rng.normal(0, 0.6, (30_000, 10))
    made = {"made 16 columns": groups, "made skewed": skewed, "made factors": factors}
    found = {"adult": (adult, np.array(list(ADULT.values()), float)), "shuttle": (shuttle, np.array(SHUTTLE, float))}
    for name, rows in made.items():
        width = np.ptp(rows, axis=0)
        found[name] = (rows, np.stack([rows.min(axis=0) - 0.2 * width, rows.max(axis=0) + 0.2 * width], axis=1))
    return found


def cost(rows: np.ndarray, centres: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the cost of centres on rows, and the nearest of each row."""
    apart = np.stack([((rows - centre) ** 2).sum(axis=1) for centre in centres], axis=1)
    return float(apart.min(axis=1).sum()), apart.argmin(axis=1)


def elsewhere(one: np.ndarray, other: np.ndarray, k: int) -> float:
    """Return the share of rows that are elsewhere after the best matching of clusters."""
    from scipy.optimize import linear_sum_assignment

    both = np.zeros((k, k))
    np.add.at(both, (one, other), 1)
    mine, theirs = linear_sum_assignment(-both)
    return 1.0 - both[mine, theirs].sum() / len(one)


def measured(rows: np.ndarray, best: dict[int, KMeans], centres: dict[int, np.ndarray]) -> tuple[float, float]:
    """Return the mean ratio of costs, and the mean share of rows elsewhere."""
    pairs = [(k, *cost(rows, centres[k])) for k in CLUSTERS]
    ratio = np.mean([value / best[k].inertia_ for k, value, _ in pairs])
    return float(ratio), float(np.mean([elsewhere(best[k].labels_, labels, k) for k, _, labels in pairs]))


def mined(released: np.ndarray, unit: np.ndarray) -> dict[int, np.ndarray]:
    """Return what a miner finds in a release, in units of the original."""
    own = np.where(released.std(axis=0) > 0, released.std(axis=0), 1.0)
    return {k: KMeans(k, n_init=3, random_state=0).fit(released / own).cluster_centers_ * own / unit for k in CLUSTERS}


def peer(rows: np.ndarray, low: np.ndarray, high: np.ndarray, epsilon: float) -> dict[int, np.ndarray] | None:
    """Return diffprivlib's centres, if there is a python that has it."""
    python = os.environ.get("SFUMATO_DP_PEERS")
    if python is None:
        return None
    told = io.BytesIO()
    np.savez(told, rows=rows, low=low, high=high, epsilon=epsilon)
    done = subprocess.run([python, "-c", PEER], input=told.getvalue(), capture_output=True, check=True)
    with np.load(io.BytesIO(done.stdout)) as found:
        return {k: found[str(k)] for k in CLUSTERS}


def main() -> None:
    lines = ["| table | method | epsilon | cost / best | rows elsewhere | seconds |", "|---|---|---|---|---|---|"]
    for name, (rows, bounds) in tables().items():
        unit = rows.std(axis=0)
        scaled = rows / unit
        best = {k: KMeans(k, n_init=10, random_state=0).fit(scaled) for k in CLUSTERS}
        given = {f"x{i}": tuple(pair) for i, pair in enumerate(bounds.tolist())}
        shape = f"{name}, {len(rows):,} x {rows.shape[1]}"

        def note(method: str, epsilon: str, found: list[dict[int, np.ndarray]], seconds: float) -> None:
            ratio, moved = np.mean([measured(scaled, best, one) for one in found], axis=0)  # noqa: B023
            lines.append(f"| {shape} | {method} | {epsilon} | {ratio:.3f} | {moved:.1%} | {seconds:.1f} |")  # noqa: B023
            print(lines[-1], flush=True)

        for epsilon in EPSILONS:
            began = time.perf_counter()
            made = [PrivateMixture(epsilon=epsilon, bounds=given).fit_transform(rows) for _ in range(RUNS)]
            seconds = (time.perf_counter() - began) / RUNS
            note("`dp`", f"{epsilon:g}", [mined(one, unit) for one in made], seconds)
            began = time.perf_counter()
            theirs = peer(scaled, bounds[:, 0] / unit, bounds[:, 1] / unit, epsilon)
            if theirs is not None:
                note("diffprivlib KMeans, centres only", f"{epsilon:g}", [theirs], time.perf_counter() - began)
        if "mix" in sys.argv:
            began = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                mixed = AtomMixing(draws=1).fit_transform(rows)
            note("`mix`", "none", [mined(mixed, unit)], time.perf_counter() - began)
    text = PAGE.read_text(encoding="utf-8")
    block = "<!-- private -->\n" + "\n".join(lines) + "\n<!-- /private -->"
    PAGE.write_text(
        re.sub(r"<!-- private -->.*<!-- /private -->", lambda _: block, text, flags=re.DOTALL), encoding="utf-8"
    )


if __name__ == "__main__":
    main()
