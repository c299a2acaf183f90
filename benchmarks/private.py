"""What differential privacy costs: k-means on private releases against the best k-means, on eight tables, beside peers.

For k = 2..8: k-means on the release (in its own standard deviations), its centres applied to the original (in those of
the original), against the cheapest centres that anybody found. Means of several releases, because k-means has luck.
Rows without noise say what could be reached at all: another sample of as many rows of the same table, the table cut at
its bounds, and the table without the groups of fewer than thirty people that k-means would give centres of their own;
noise must hide these. Without them standard deviations are smaller: `dp` is also measured in those of the original.

Peers run in environments of their own, whose pythons are in SFUMATO_DP_PEERS (`pip install diffprivlib
'scikit-learn<1.4' 'numpy<2'`: it does not import with a current scikit-learn) and SFUMATO_DP_MST (`pip install dpmm`:
the MST mechanism on Private-PGM, and PrivBayes; on five tables, because they take minutes). diffprivlib gives centres
and no table, and spends the whole epsilon on each k alone. `mix` has no guarantee. Needs SFUMATO_DATA. Writes the
table of docs/dp.md. What each method finds is kept in a folder (`--results FOLDER`): a run goes on where another has
ended, and what is to be measured anew is removed from it. `--only TABLE` and `--methods WORD` measure a part.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import os
import re
import subprocess
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans

from sfumato.auditing.utility.by_centres import cost_by_centres
from sfumato.auditing.utility.optima import missed
from sfumato.perturb import AtomMixing, PrivateMixture

PAGE = Path(__file__).resolve().parent.parent / "docs" / "dp.md"
EPSILONS, CLUSTERS, RUNS = (0.5, 1.0, 3.0, 10.0), range(2, 9), 3
SLOW = ("adult", "shuttle", "made 16 columns", "made skewed", "kept back, heavy tails")  # tables of slow peers
MOST = 15_000  # rows that a miner looks at
FEW = 30
WITHOUT = f"without groups below {FEW}, no noise"
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
DPMM = (
    READ
    + """
import contextlib, pandas as pd
from dpmm.pipelines import PIPELINE
names = [f"x{i}" for i in range(rows.shape[1])]
domain = {name: {"lower": float(a), "upper": float(b)} for name, a, b in zip(names, low, high)}
with contextlib.redirect_stdout(sys.stderr):
    model = PIPELINE(epsilon=0.9 * epsilon, delta=1e-6, proc_epsilon=0.1 * epsilon)
    model.fit(pd.DataFrame(rows, columns=names), domain)
    made = model.generate(n_records=len(rows)).astype(float).to_numpy()
out = io.BytesIO()
np.savez(out, made=made)
sys.stdout.buffer.write(out.getvalue())
"""
)


def tables() -> dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]]:
    """Return tables with bounds that an owner would write down; the last ones were not tuned on."""
    return {
        "adult": adult,
        "shuttle": shuttle,
        "made 16 columns": lambda: made("groups"),
        "made skewed": lambda: made("skewed"),
        "made factors": lambda: made("factors"),
        "kept back, heavy tails": lambda: kept_back("heavy"),
        "kept back, discrete": lambda: kept_back("discrete"),
        "kept back, unequal": lambda: kept_back("unequal"),
        "kept back, incomes": incomes,
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


def incomes() -> tuple[np.ndarray, np.ndarray]:
    """Return people with ages, skewed incomes, savings that half of them have not, children and a distance."""
    rng, n = np.random.default_rng(2026), 30_000
    kind = rng.choice(5, n, p=[0.35, 0.25, 0.2, 0.15, 0.05])
    age = np.clip(np.array([24, 38, 47, 68, 55])[kind] + rng.normal(size=n) * 6, 16, 99).round()
    income = np.exp(np.array([9.7, 10.4, 10.9, 9.9, 11.9])[kind] + 0.35 * rng.normal(size=n)).round()
    saved = np.where(rng.random(n) < 0.5, 0.0, income * rng.gamma(1.5, 0.8, n)).round()
    children = rng.poisson(np.array([0.1, 1.2, 1.8, 0.2, 1.0])[kind]).astype(float)
    distance = rng.gamma(1.2, np.array([9.0, 22.0, 15.0, 2.0, 12.0])[kind])
    ends = [[0, 120], [0, 1e6], [0, 2e6], [0, 20], [0, 300]]
    return np.column_stack([age, income, saved, children, distance]), np.array(ends, float)


def mined(released: np.ndarray, unit: np.ndarray, *, own_units: bool = True) -> Centres:
    """Return what a miner finds in a release, in units of the original."""
    own = np.where(released.std(axis=0) > 0, released.std(axis=0), 1.0) if own_units else unit
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


def pairs_wrong(one: np.ndarray, other: np.ndarray, k: int) -> float:
    """Return the share of pairs of rows that stand together in one clustering only."""
    both = np.zeros((k, k))
    np.add.at(both, (one, other), 1)
    together, first, second = ((counts**2).sum() for counts in (both, both.sum(axis=1), both.sum(axis=0)))
    return float((first + second - 2 * together) / len(one) ** 2)


class Makers:
    """Who finds centres for a table: each method by name, with the epsilon in words."""

    def __init__(self, rows: np.ndarray, bounds: np.ndarray, *, slow: bool) -> None:
        self.rows, self.unit, self.slow = rows, rows.std(axis=0), slow
        self.scaled, self.low, self.high = rows / self.unit, bounds[:, 0], bounds[:, 1]
        self.given = {f"x{i}": tuple(pair) for i, pair in enumerate(bounds.tolist())}

    def all(self) -> dict[tuple[str, str], Callable[[], list[Centres] | None]]:
        again = np.random.default_rng(1).integers(0, len(self.rows), len(self.rows))
        out: dict[tuple[str, str], Callable[[], list[Centres] | None]] = {
            ("another sample, no noise", "none"): lambda: [mined(self.rows[again], self.unit)],
            ("cut at the bounds, no noise", "none"): lambda: [
                mined(np.clip(self.rows, self.low, self.high), self.unit)
            ],
            (WITHOUT, "none"): lambda: [without_few(self.scaled)],
            ("`mix`, no guarantee", "none"): self.mixed,
        }
        for epsilon in EPSILONS:
            out["`dp`", f"{epsilon:g}"] = partial(self.private, epsilon)
            out["`dp`, in the owner's units", f"{epsilon:g}"] = partial(self.private, epsilon, own_units=False)
            if self.slow:
                out["MST of dpmm", f"{epsilon:g}"] = partial(self.dpmm, "MSTPipeline", epsilon)
                out["PrivBayes of dpmm", f"{epsilon:g}"] = partial(self.dpmm, "PrivBayesPipeline", epsilon)
            out["diffprivlib KMeans, centres only", f"{epsilon:g}"] = partial(self.diffprivlib, epsilon)
        return out

    def private(self, epsilon: float, *, own_units: bool = True) -> list[Centres]:
        made = (PrivateMixture(epsilon=epsilon, bounds=self.given).fit_transform(self.rows) for _ in range(RUNS))
        return [mined(one, self.unit, own_units=own_units) for one in made]

    def diffprivlib(self, epsilon: float) -> list[Centres] | None:
        ends = {"low": self.low / self.unit, "high": self.high / self.unit}
        told = peer("SFUMATO_DP_PEERS", DIFFPRIVLIB, rows=self.scaled, epsilon=epsilon, **ends)
        return None if told is None else [{k: told[str(k)] for k in CLUSTERS}]

    def dpmm(self, pipeline: str, epsilon: float) -> list[Centres] | None:
        rows = np.clip(self.rows, self.low, self.high)
        program = DPMM.replace("PIPELINE", pipeline)
        told = peer("SFUMATO_DP_MST", program, rows=rows, low=self.low, high=self.high, epsilon=epsilon)
        return None if told is None else [mined(told["made"], self.unit)]

    def mixed(self) -> list[Centres]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return [mined(AtomMixing(draws=1).fit_transform(self.rows), self.unit)]


def measure(makers: Makers, folder: Path, words: list[str]) -> None:
    """Keep what each method finds in a folder, and how long it took; what is there already stays."""
    folder.mkdir(parents=True, exist_ok=True)
    for (method, epsilon), make in makers.all().items():
        file = folder / f"{_plain(method)}-{epsilon}.npz"
        if file.exists() or (words and not any(word in method for word in words)):
            continue
        began = time.perf_counter()
        centres = make()
        if centres:
            seconds = (time.perf_counter() - began) / len(centres)
            found = {f"{run} {k}": one[k] for run, one in enumerate(centres) for k in CLUSTERS}
            np.savez(file, seconds=seconds, runs=len(centres), **found)  # type: ignore[arg-type]
            print(folder.name, method, epsilon, f"{seconds:.1f} s", flush=True)


def lines_of(makers: Makers, folder: Path) -> list[str]:
    """Return the lines of a table in docs/dp.md: what each method's centres are worth on the original."""
    best = {k: KMeans(k, n_init=10, random_state=0).fit(makers.scaled) for k in CLUSTERS}
    found: dict[tuple[str, str], tuple[float, list[dict[int, tuple[float, np.ndarray]]]]] = {}
    for method, epsilon in makers.all():
        file = folder / f"{_plain(method)}-{epsilon}.npz"
        if file.exists():
            with np.load(file) as told:
                priced = [
                    {k: cost_by_centres(makers.scaled, told[f"{run} {k}"]) for k in CLUSTERS}
                    for run in range(int(told["runs"]))
                ]
                found[method, epsilon] = float(told["seconds"]), priced
    least = {k: min([best[k].inertia_, *(one[k][0] for _, runs in found.values() for one in runs)]) for k in CLUSTERS}
    known = found.get((WITHOUT, "none"))
    lines = []
    for (method, epsilon), (seconds, runs) in found.items():
        ratio = [np.mean([one[k][0] / least[k] for k in CLUSTERS]) for one in runs]
        moved = np.mean([missed(best[k].labels_.astype(np.int64), one[k][1]) for one in runs for k in CLUSTERS])
        pairs = np.mean([pairs_wrong(best[k].labels_, one[k][1], k) for one in runs for k in CLUSTERS])
        beside = (
            "" if known is None else f"{np.mean([one[k][0] / known[1][0][k][0] for one in runs for k in CLUSTERS]):.3f}"
        )
        figures = f"{np.mean(ratio):.3f} | {np.max(ratio):.3f} | {beside} | {moved:.1%} | {pairs:.1%} | {seconds:.1f}"
        lines.append(f"{method} | {epsilon} | {figures} |")
    return lines


def _plain(words: str) -> str:
    return re.sub("[^a-z0-9]+", "-", words.lower()).strip("-")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=list(tables()), action="append")
    parser.add_argument("--methods", metavar="WORD", action="append", help="methods whose name has this word")
    parser.add_argument("--results", type=Path, default=Path("build") / "private")
    args = parser.parse_args()
    head = "table | method | epsilon | cost / best | worst run | cost / without few | rows elsewhere | pairs wrong"
    out = [f"| {head} | seconds |", "|---" * 9 + "|"]
    for name, load in tables().items():
        rows, bounds = load()
        makers, folder = Makers(rows, bounds, slow=name in SLOW), args.results / _plain(name)
        if name in (args.only or tables()):
            measure(makers, folder, args.methods or [])
        if folder.exists():
            about = f"{name}, {len(rows):,} x {rows.shape[1]}"
            out += [f"| {about} | {line}" for line in lines_of(makers, folder)]
    block = "<!-- private -->\n" + "\n".join(out) + "\n<!-- /private -->"
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(
        re.sub(r"<!-- private -->.*<!-- /private -->", lambda _: block, text, flags=re.DOTALL), encoding="utf-8"
    )


if __name__ == "__main__":
    main()
