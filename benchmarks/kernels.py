"""Every kernel against copying the table, numpy's naive equivalent, and StandardScaler."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
from measure import Claim, Section, copy_and_stream, fastest
from sklearn.preprocessing import StandardScaler

from sfumato import perturb as p
from sfumato.core import fast
from sfumato.core.rows import RowRange
from sfumato.core.tiles import spans, tile_rows

COLUMNS = 20
COMPARED = ("kernel / copy", "kernel / naive", "fit_transform / copy", "fit_transform / StandardScaler")
CASES: dict[str, Callable[[], Any]] = {
    "Translation": lambda: p.Translation(insecure_seed=1),
    "Scaling": lambda: p.Scaling(insecure_seed=1),
    "Rotation": lambda: p.Rotation(insecure_seed=1),
    "Hybrid": lambda: p.Hybrid(insecure_seed=1),
    "AdditiveNoise, uniform": lambda: p.AdditiveNoise(distribution="uniform", insecure_seed=1),
    "AdditiveNoise, normal": lambda: p.AdditiveNoise(insecure_seed=1),
    "AdditiveNoise, laplace": lambda: p.AdditiveNoise(distribution="laplace", insecure_seed=1),
    "MultiplicativeNoise, uniform": lambda: p.MultiplicativeNoise(distribution="uniform", insecure_seed=1),
    "ChaoticNoise": lambda: p.ChaoticNoise(insecure_seed=1),
    "CorrelatedNoise": lambda: p.CorrelatedNoise(insecure_seed=1),
    "PCAProjection, 10 of 20": lambda: p.PCAProjection(n_components=10, insecure_seed=1),
    "RandomProjection, 10 of 20": lambda: p.RandomProjection(insecure_seed=1),
    "IntervalResampling": lambda: p.IntervalResampling(min_radius=0.1, insecure_seed=1),
    "IndependentNoise, 200 references": lambda: p.IndependentNoise(beta=1e6, sample_size=200, insecure_seed=1),
}


def naive(table: np.ndarray) -> dict[str, Callable[[], object]]:
    """Return what one would write in a line or two of numpy, without keys and without equal bits."""
    rng = np.random.default_rng(0)
    d = table.shape[1]
    vector, width, mean = rng.normal(size=d), np.ptp(table, axis=0), table.mean(axis=0)
    turned = np.linalg.qr(rng.normal(size=(d, d)))[0]
    factor = np.linalg.cholesky(np.cov(table.T)).T
    half = turned[:, : d // 2]
    shape = table.shape
    references = table[:200]

    def nearest() -> np.ndarray:
        out = np.empty(shape)
        for start, stop in spans(len(table), 8192):
            rows = table[start:stop]
            apart = blas_distances(rows, references)
            two = np.sqrt(np.maximum(np.partition(apart, 1, axis=1)[:, :2], 0.0))
            out[start:stop] = rows + rng.uniform(-1, 1, rows.shape) * ((two[:, 1] - two[:, 0]) / 2)[:, None]
        return out

    uniform: Callable[[], object] = lambda: table + rng.uniform(-1.0, 1.0, shape)  # noqa: E731
    return {
        "Translation": lambda: table + vector,
        "Scaling": lambda: table * vector,
        "Rotation": lambda: table @ turned,
        "AdditiveNoise, uniform": uniform,
        "AdditiveNoise, normal": lambda: table + rng.normal(size=shape),
        "AdditiveNoise, laplace": lambda: table + rng.laplace(size=shape),
        "MultiplicativeNoise, uniform": lambda: table * (1.0 + 0.1 * rng.uniform(-1.0, 1.0, shape)),
        "ChaoticNoise": lambda: table + (np.sin(np.pi / 2 * rng.random(shape)) ** 2 - 0.5) * width,
        "CorrelatedNoise": lambda: table + rng.normal(size=shape) @ factor,
        "PCAProjection, 10 of 20": lambda: (table - mean) @ half @ half.T + mean,
        "RandomProjection, 10 of 20": lambda: table @ half,
        "IndependentNoise, 200 references": nearest,
    }


def blas_distances(rows: np.ndarray, references: np.ndarray) -> np.ndarray:
    """Return squared distances by one matrix product."""
    apart = rows @ references.T
    apart *= -2.0
    apart += (references * references).sum(axis=1)
    apart += (rows * rows).sum(axis=1)[:, None]
    return apart


def kernel_over(columns: np.ndarray, fitted: Any) -> Callable[[], np.ndarray]:
    """Return a run of a kernel with its words over all tiles, into a new table: what a release costs after the fit."""
    n_rows, state = columns.shape[1], fitted._state  # noqa: SLF001
    names = fitted._names_out(state.facts.names) or state.facts.names  # noqa: SLF001

    def run() -> np.ndarray:
        out = np.empty((len(names), n_rows))
        for start, stop in spans(n_rows, tile_rows(len(columns))):
            # kernels that keep the columns work in place, and so need no more than the table they write
            tile = out[:, start:stop] if len(out) == len(columns) else np.empty((len(columns), stop - start))
            tile[...] = columns[:, start:stop]
            released = fitted._kernel(state.fitted, tile, RowRange(start, stop), state.streams)  # noqa: SLF001
            if released is not tile:
                out[:, start:stop] = released
        return out

    return run


def measure(quick: bool) -> Section:
    n_rows, rounds = (100_000, 2) if quick else (1_000_000, 5)
    table = np.random.default_rng(0).normal(size=(n_rows, COLUMNS)) * 3.0 + 100.0
    columns = np.ascontiguousarray(table.T)
    references = table[:200]
    plain = naive(table)
    cases: dict[str, Callable[[], object]] = {
        "copy": table.copy,
        "limit": lambda: copy_and_stream(table, 1),
        "scaler": lambda: StandardScaler().fit_transform(table),
        "distances": lambda: [blas_distances(table[a:b], references) for a, b in spans(n_rows, 8192)] and None,
    }
    fast.load()
    for name, make in CASES.items():
        if name in plain:
            cases[f"naive {name}"] = plain[name]
        kernel = kernel_over(columns, make().fit(table))
        for kind, context in (("numpy", fast.turned_off), ("fast", nullcontext)):
            cases[f"kernel {kind} {name}"] = _inside(context, kernel)
            cases[f"all {kind} {name}"] = _inside(context, lambda make=make: make().fit_transform(table, threads=1))
    for run in cases.values():  # compile, and warm the caches
        run()
    took = fastest(cases, rounds)
    section = Section(
        "Kernels",
        f"{n_rows:,} rows x {COLUMNS} columns of doubles, one thread, BLAS with one thread. *Kernel* is the fitted map "
        "with its random words, tile by tile into a new table; *fit_transform* is all a user waits for (checks, "
        "survey, rounds, kernel, new array). *Naive* is a line of numpy without key and without equal bits.",
        ["method", *(f"{what}{fast}" for what in COMPARED for fast in ("", ", [fast]"))],
    )
    for name in CASES:
        base = took.get(f"naive {name}")
        kernels = [took[f"kernel {kind} {name}"] for kind in ("numpy", "fast")]
        whole = [took[f"all {kind} {name}"] for kind in ("numpy", "fast")]
        section.rows.append([
            name,
            *(t / took["copy"] for t in kernels),
            *(None if base is None else t / base for t in kernels),
            *(t / took["copy"] for t in whole),
            *(t / took["scaler"] for t in whole),
        ])  # fmt: skip
    section.claims = _claims(took)
    return section


def _inside(context: Callable[[], Any], run: Callable[[], object]) -> Callable[[], object]:
    def inside() -> object:
        with context():
            return run()

    return inside


def _claims(took: dict[str, float]) -> list[Claim]:
    def ratio(name: str, kind: str, base: str) -> float:
        return took[f"kernel {kind} {name}"] / took[base]

    claims = []
    for name in ("AdditiveNoise, uniform", "MultiplicativeNoise, uniform"):
        # a ratio to a copy alone would measure the machine's memory as much as our code
        claims.append(Claim(f"{name}: kernel against naive numpy", ratio(name, "numpy", f"naive {name}"), 1.0))
        claims.append(Claim(f"{name}: kernel against copy and key stream, [fast]", ratio(name, "fast", "limit"), 1.5))
    normal, rotation = "AdditiveNoise, normal", "Rotation"
    ina, one_d = "IndependentNoise, 200 references", "IntervalResampling"
    return [
        *claims,
        Claim("normal noise: kernel against X + rng.normal", ratio(normal, "numpy", f"naive {normal}"), 1.0),
        Claim("normal noise: kernel against X + rng.normal, [fast]", ratio(normal, "fast", f"naive {normal}"), 0.5),
        Claim("rotation: kernel against X @ Q (BLAS)", ratio(rotation, "numpy", f"naive {rotation}"), 6.5),
        Claim("rotation: kernel against X @ Q (BLAS), [fast]", ratio(rotation, "fast", f"naive {rotation}"), 2.0),
        Claim("INA, 200 references: kernel against a BLAS distance pass", ratio(ina, "numpy", "distances"), 2.0),
        Claim(
            "1-d clustering: fit_transform against StandardScaler's", took[f"all numpy {one_d}"] / took["scaler"], 2.0
        ),
        Claim("1-d clustering: the same, [fast]", took[f"all fast {one_d}"] / took["scaler"], 2.0),
    ]
