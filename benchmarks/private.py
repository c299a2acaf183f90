"""What differential privacy costs: k-means on private releases against the best k-means, on eight tables, beside peers.

For k = 2..8: k-means on the release (in its own standard deviations), its centres applied to the original (in those of
the original), against the cheapest centres that anybody found. Means of several releases, because k-means has luck.
Two rows without noise say what could be reached at all: another sample of as many rows of the same table, and the table
without the groups of fewer than thirty people that k-means would give centres of their own; noise must hide these.

Peers run in environments of their own, whose pythons are in SFUMATO_DP_PEERS (`pip install diffprivlib
'scikit-learn<1.4' 'numpy<2'`: it does not import with a current scikit-learn) and SFUMATO_DP_MST (`pip install dpmm`:
the MST mechanism on Private-PGM). diffprivlib gives centres and no table, and spends the whole epsilon on each k alone.
`mix` has no guarantee. Needs SFUMATO_DATA. Writes the table of docs/dp.md; `--only NAME` measures one table, and
results are kept in a folder (`--results FOLDER`) from which the page is made.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import json
import os
import re
import subprocess
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans

from sfumato.perturb import AtomMixing, PrivateMixture

PAGE = Path(__file__).resolve().parent.parent / "docs" / "dp.md"
EPSILONS, CLUSTERS, RUNS = (0.5, 1.0, 3.0, 10.0), range(2, 9), 3
MST_EPSILONS = (1.0,)  # it takes a minute or more each
MOST = 15_000  # rows that a miner looks at
FEW = 30
Centres = dict[int, np.ndarray]
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
READ = """
import sys, io, numpy as np, warnings
warnings.filterwarnings("ignore")
with np.load(io.BytesIO(sys.stdin.buffer.read())) as told:
    rows, low, high, epsilon = told["rows"], told["low"], told["high"], float(told["epsilon"])
"""
DIFFPRIVLIB = (
    READ
    + """
from diffprivlib.models import KMeans
found = {str(k): KMeans(k, epsilon=epsilon, bounds=(low, high)).fit(rows).cluster_centers_ for k in range(2, 9)}
out = io.BytesIO()
np.savez(out, **found)
sys.stdout.buffer.write(out.getvalue())
"""
)
MST = (
    READ
    + """
import contextlib, pandas as pd
from dpmm.pipelines import MSTPipeline
names = [f"x{i}" for i in range(rows.shape[1])]
domain = {name: {"lower": float(a), "upper": float(b)} for name, a, b in zip(names, low, high)}
with contextlib.redirect_stdout(sys.stderr):
    model = MSTPipeline(epsilon=0.9 * epsilon, delta=1e-6, proc_epsilon=0.1 * epsilon)
    model.fit(pd.DataFrame(rows, columns=names), domain)
    made = model.generate(n_records=len(rows)).astype(float).to_numpy()
out = io.BytesIO()
np.savez(out, made=made)
sys.stdout.buffer.write(out.getvalue())
"""
)


def tables() -> dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]]:
    """Return tables with bounds that an owner would write down; the last three were not tuned on."""
    return {
        "adult": adult,
        "shuttle": shuttle,
        "made 16 columns": lambda: made("groups"),
        "made skewed": lambda: made("skewed"),
        "made factors": lambda: made("factors"),
        "kept back, heavy tails": lambda: kept_back("heavy"),
        "kept back, discrete": lambda: kept_back("discrete"),
        "kept back, unequal": lambda: kept_back("unequal"),
    }


def adult() -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of adult."""
    with gzip.open(Path(os.environ["SFUMATO_DATA"]) / "adult.csv.gz", "rt") as file:
        rows = np.array([[float(row[name]) for name in ADULT] for row in csv.DictReader(file)])
    return rows, np.array(list(ADULT.values()), float)


def shuttle() -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of shuttle."""
    with gzip.open(Path(os.environ["SFUMATO_DATA"]) / "shuttle.csv.gz", "rt") as file:
        return np.loadtxt(file, delimiter=",", skiprows=1)[:, :9], np.array(SHUTTLE, float)


def made(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return a made table; its bounds are a good deal wider than its values."""
    rng = np.random.default_rng(11)
    rows = {
        "groups": rng.normal(0, 2, (9, 16))[rng.integers(0, 9, 20_000)] + rng.normal(size=(20_000, 16)),
        "skewed": np.exp(0.5 * rng.normal(size=(20_000, 9)) @ (np.eye(9) + rng.normal(0, 0.3, (9, 9)))),
        "factors": rng.normal(size=(30_000, 3)) @ rng.normal(size=(3, 10)) + rng.normal(0, 0.6, (30_000, 10)),
    }[name]
    width = np.ptp(rows, axis=0)
    return rows, np.stack([rows.min(axis=0) - 0.2 * width, rows.max(axis=0) + 0.2 * width], axis=1)


def kept_back(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return a table of another shape, with round bounds."""
    rng, n = np.random.default_rng(77), 25_000
    six = 5 * rng.normal(size=(6, 6))[rng.choice(6, n, p=[0.4, 0.25, 0.15, 0.1, 0.06, 0.04])]
    if name == "heavy":
        rows = rng.standard_t(2.2, size=(n, 6)) * np.array([1, 3, 10, 0.5, 2, 7]) + six
        return rows, np.tile([-100.0, 100.0], (6, 1))
    if name == "discrete":
        counts = [rng.poisson(2 + 6 * rng.integers(0, 4, n)), rng.poisson(1 + 3 * rng.integers(0, 3, n))]
        few = [rng.integers(0, 2, n), rng.binomial(10, 0.2 + 0.6 * rng.integers(0, 2, n)), rng.integers(1, 8, n)]
        return np.column_stack([*counts, *few]).astype(float), np.array(
            [[0, top] for top in (60, 40, 1, 10, 10)], float
        )
    group = rng.choice(7, n, p=[0.6, 0.2, 0.1, 0.05, 0.03, 0.015, 0.005])
    rows = rng.uniform(-10, 10, (7, 12))[group] + rng.uniform(0.3, 2, (7, 12))[group] * rng.normal(size=(n, 12))
    return rows, np.tile([-20.0, 20.0], (12, 1))


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


def mined(released: np.ndarray, unit: np.ndarray) -> Centres:
    """Return what a miner finds in a release, in units of the original."""
    own = np.where(released.std(axis=0) > 0, released.std(axis=0), 1.0)
    some = np.random.default_rng(0).permutation(len(released))[:MOST]
    seen = released[some] / own
    return {k: KMeans(k, n_init=6, random_state=0).fit(seen).cluster_centers_ * own / unit for k in CLUSTERS}


def without_few(scaled: np.ndarray) -> Centres:
    """Return the centres of k-means on a table without the groups that noise must hide."""
    out = {}
    for k in CLUSTERS:
        left = scaled
        while True:
            found = KMeans(k, n_init=5, random_state=0).fit(left)
            sizes = np.bincount(found.labels_, minlength=k)
            if sizes.min() >= FEW:
                break
            left = left[sizes[found.labels_] >= FEW]
        out[k] = found.cluster_centers_
    return out


def peer(variable: str, program: str, **told: object) -> dict[str, np.ndarray] | None:
    """Return what a program of another environment answers, if there is one."""
    python = os.environ.get(variable)
    if python is None:
        return None
    asked = io.BytesIO()
    np.savez(asked, **told)  # type: ignore[arg-type]
    done = subprocess.run([python, "-c", program], input=asked.getvalue(), capture_output=True, check=True)
    with np.load(io.BytesIO(done.stdout)) as found:
        return dict(found)


def measure(rows: np.ndarray, bounds: np.ndarray) -> list[list[object]]:
    """Return a line for each method and epsilon: its name, epsilon, cost, rows elsewhere and seconds."""
    unit = rows.std(axis=0)
    scaled, low, high = rows / unit, bounds[:, 0], bounds[:, 1]
    best = {k: KMeans(k, n_init=10, random_state=0).fit(scaled) for k in CLUSTERS}
    given = {f"x{i}": tuple(pair) for i, pair in enumerate(bounds.tolist())}
    found: list[tuple[str, str, list[Centres], float]] = []

    def note(method: str, epsilon: str, make: Callable[[], list[Centres] | None]) -> None:
        began = time.perf_counter()
        centres = make()
        if centres:
            found.append((method, epsilon, centres, (time.perf_counter() - began) / len(centres)))
            print(method, epsilon, flush=True)

    def private(epsilon: float) -> list[Centres]:
        releases = (PrivateMixture(epsilon=epsilon, bounds=given).fit_transform(rows) for _ in range(RUNS))
        return [mined(one, unit) for one in releases]

    def diffprivlib(epsilon: float) -> list[Centres] | None:
        told = peer("SFUMATO_DP_PEERS", DIFFPRIVLIB, rows=scaled, low=low / unit, high=high / unit, epsilon=epsilon)
        return None if told is None else [{k: told[str(k)] for k in CLUSTERS}]

    def mst(epsilon: float) -> list[Centres] | None:
        told = peer("SFUMATO_DP_MST", MST, rows=np.clip(rows, low, high), low=low, high=high, epsilon=epsilon)
        return None if told is None else [mined(told["made"], unit)]

    def mixed() -> list[Centres]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return [mined(AtomMixing(draws=1).fit_transform(rows), unit)]

    again = np.random.default_rng(1).integers(0, len(rows), len(rows))
    note("another sample, no noise", "none", lambda: [mined(rows[again], unit)])
    note(f"without groups below {FEW}, no noise", "none", lambda: [without_few(scaled)])
    note("`mix`, no guarantee", "none", mixed)
    for epsilon in EPSILONS:
        note("`dp`", f"{epsilon:g}", lambda: private(epsilon))  # noqa: B023
        if epsilon in MST_EPSILONS:
            note("MST of dpmm", f"{epsilon:g}", lambda: mst(epsilon))  # noqa: B023
        note("diffprivlib KMeans, centres only", f"{epsilon:g}", lambda: diffprivlib(epsilon))  # noqa: B023
    priced = [[{k: cost(scaled, one[k]) for k in CLUSTERS} for one in centres] for _, _, centres, _ in found]
    least = {k: min([best[k].inertia_, *(one[k][0] for runs in priced for one in runs)]) for k in CLUSTERS}
    lines: list[list[object]] = []
    for (method, epsilon, _, seconds), runs in zip(found, priced, strict=True):
        ratio = [np.mean([one[k][0] / least[k] for k in CLUSTERS]) for one in runs]
        moved = [np.mean([elsewhere(best[k].labels_, one[k][1], k) for k in CLUSTERS]) for one in runs]
        lines.append([method, epsilon, float(np.mean(ratio)), float(np.max(ratio)), float(np.mean(moved)), seconds])
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=list(tables()), action="append")
    parser.add_argument("--results", type=Path, default=Path("build") / "private")
    args = parser.parse_args()
    args.results.mkdir(parents=True, exist_ok=True)
    files = {name: args.results / f"{re.sub('[^a-z0-9]+', '-', name)}.json" for name in tables()}
    for name, load in tables().items():
        if name in (args.only or [one for one, file in files.items() if not file.exists()]):
            rows, bounds = load()
            done = {"shape": f"{len(rows):,} x {rows.shape[1]}", "lines": measure(rows, bounds)}
            files[name].write_text(json.dumps(done), encoding="utf-8")
    out = ["| table | method | epsilon | cost / best | worst run | rows elsewhere | seconds |", "|---" * 7 + "|"]
    for name, file in files.items():
        if not file.exists():
            continue
        told = json.loads(file.read_text(encoding="utf-8"))
        for method, epsilon, ratio, worst, moved, seconds in told["lines"]:
            about = f"{name}, {told['shape']}"
            out.append(f"| {about} | {method} | {epsilon} | {ratio:.3f} | {worst:.3f} | {moved:.1%} | {seconds:.1f} |")
    block = "<!-- private -->\n" + "\n".join(out) + "\n<!-- /private -->"
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(
        re.sub(r"<!-- private -->.*<!-- /private -->", lambda _: block, text, flags=re.DOTALL), encoding="utf-8"
    )


if __name__ == "__main__":
    main()
