"""Cui, Wong and Cheung: perturbation by 1-d clustering, tables 2 to 5."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from sfumato._arrays import Floats
from sfumato.cluster import lloyd_kmeans
from sfumato.metrics import mean_squared_error, variation_of_information
from sfumato.papers.data_files import datasets, read_numbers
from sfumato.papers.one_d_tables import Errors, OneDMeasured, one_d_tables
from sfumato.papers.result import Figure, Panel, Reproduction, points
from sfumato.papers.source import source
from sfumato.papers.work import Worker
from sfumato.perturb import (
    CorrelatedNoise,
    IntervalResampling,
    PCAProjection,
    RandomProjection,
    Translation,
)


@dataclass(frozen=True)
class Setting:
    """The paper's parameters for a table.

    Attributes
    ----------
    file : str
    n_clusters : int
        k of k-means.
    mu : int
        Clusters of each column.
    components : int
        Principal components that hold 99 % of the variance.
    """

    file: str
    n_clusters: int
    mu: int
    components: int


SETTINGS = {
    "wine": Setting("wine.csv", 3, 24, 1),
    "bcw": Setting("breast_cancer_wisconsin.csv", 2, 6, 1),
    "shuttle": Setting("shuttle.csv.gz", 7, 28, 4),
}
_DRAWS = 50


def read_table(name: str, folder: str | Path | None = None) -> Floats:
    """Return a table of the paper as it is, without its class; incomplete rows are left out.

    Parameters
    ----------
    folder : path, optional
    """
    file = SETTINGS[name].file
    return read_numbers(file, folder, datasets()[file].columns[:-1])


def resampling(setting: Setting, merge: str, seed: int) -> IntervalResampling:
    """Return the paper's method with half as many intervals as rows."""
    return IntervalResampling(setting.mu, final_merge=merge, insecure_seed=seed)


def errors(item: tuple[str, Floats]) -> Errors:
    """Return the mean squared errors of all methods on a table.

    Parameters
    ----------
    item : (name, array of shape (n, d))
    """
    name, table = item
    setting = SETTINGS[name]
    noisy = [
        mean_squared_error(table, CorrelatedNoise(insecure_seed=draw).fit_transform(table)) for draw in range(_DRAWS)
    ]
    return Errors(
        pca=mean_squared_error(table, PCAProjection(setting.components).fit_transform(table)),
        additive=float(np.mean(noisy)),
        expected_additive=float(table.var(axis=0, ddof=1).mean()),
        greedy=resampling(setting, "greedy", 1).fit(table).expected_mse(),
        static=resampling(setting, "static", 1).fit(table).expected_mse(),
    )


@dataclass(frozen=True)
class _Start:
    """One choice of starting centres, shared by the original and all released tables."""

    name: str
    number: int
    table: Floats
    with_additive: bool


def _information(start: _Start) -> dict[str, float]:
    setting = SETTINGS[start.name]
    rng = np.random.default_rng([5, setting.n_clusters, start.number])
    centres = start.table[rng.choice(len(start.table), setting.n_clusters, replace=False)]
    seed = start.number % _DRAWS
    released = {
        "PCA": PCAProjection(setting.components),
        "1-d, greedy": resampling(setting, "greedy", seed),
        "1-d, static": resampling(setting, "static", seed),
    }
    if start.with_additive:
        released["additive"] = CorrelatedNoise(insecure_seed=seed)
    before = lloyd_kmeans(start.table, centres).labels
    return {
        label: variation_of_information(before, lloyd_kmeans(method.fit_transform(start.table), centres).labels)
        for label, method in released.items()
    }


def _seconds(item: tuple[Floats, int]) -> dict[str, float]:
    """Return the processor time of each method on Musk."""
    table, rounds = item
    projections = {f"random projection, {e}": RandomProjection(e, insecure_seed=1) for e in (120, 80, 40, 20, 10)}
    return _net({**projections, **_rivals()}, table, rounds)


def _growth(item: tuple[Floats, int]) -> dict[str, dict[str, float]]:
    """Return the processor times of 1-d and additive noise on Musk several times beside and below itself."""
    table, rounds = item
    rng = np.random.default_rng(0)
    found = {}
    for many in (2, 4, 8):
        # shuffled: the same columns twice would be no columns of their own
        wide = np.hstack([table[rng.permutation(len(table))] for _ in range(many)])
        found[f"{many} x columns"] = _net(_rivals(), wide, rounds)
        found[f"{many} x rows"] = _net(_rivals(), np.vstack([table] * many), rounds)
    return found


def _rivals() -> dict[str, Any]:
    return {"additive": CorrelatedNoise(insecure_seed=1), "1-d": IntervalResampling(6, insecure_seed=1)}


def _net(methods: dict[str, Any], table: Floats, rounds: int) -> dict[str, float]:
    """Return the median of some processor times of each method, the methods in turn.

    What every method shares (checking and fingerprinting the table) is measured by a translation and taken off.
    """
    methods = {"shared": Translation(offsets=0.0, insecure_seed=1), **methods}
    times: dict[str, list[float]] = {label: [] for label in methods}
    for _ in range(rounds):
        for label, method in methods.items():
            begin = time.process_time()
            method.fit_transform(table)
            times[label].append(time.process_time() - begin)
    shared = median(times.pop("shared"))
    return {label: max(median(found) - shared, 1e-3) for label, found in times.items()}


def _figure(table: Floats) -> Figure:
    # Figure 1 of the paper has three panels; columns are shuffled by themselves, so that no row is an original one.
    rng = np.random.default_rng(2)
    mixed = np.column_stack([rng.permutation(table[:, 0]), rng.permutation(table[:, 12])])
    methods = {
        "additive": CorrelatedNoise(insecure_seed=1),
        "1-d": IntervalResampling(24, insecure_seed=1),
    }
    panels = [
        Panel(
            label,
            "alcohol",
            "proline",
            (points("before", mixed.tolist()), points("after", method.fit_transform(mixed).tolist(), mark="cross")),
        )
        for label, method in methods.items()
    ]
    note = "Columns shuffled by themselves: no row is an original one. In the manner of figure 1."
    return Figure("Figure A", "Two columns of Wine before and after", tuple(panels), note)


def reproduce(worker: Worker, *, quick: bool, folder: str | Path | None = None) -> Reproduction:
    """Return tables 2 to 5.

    Parameters
    ----------
    quick : bool
        8 starts on Shuttle instead of 100, times from fewer rounds.
    folder : path, optional
        Where the data are.
    """
    starts = {"wine": 300, "bcw": 300, "shuttle": 8 if quick else 100}
    tables = {name: read_table(name, folder) for name in SETTINGS}
    musk = read_numbers("musk2.csv.gz", folder, datasets()["musk2.csv.gz"].columns[:-1])
    # Times first and by themselves: nothing else of ours runs then.
    seconds = worker.stage(0.0, 0.05).map(_seconds, [(musk, 3 if quick else 15)], "1-d: times on Musk")[0]
    growth = worker.stage(0.05, 0.1).map(_growth, [(musk, 1 if quick else 5)], "1-d: times on more than Musk")[0]
    found = worker.stage(0.1, 0.3).map(errors, list(tables.items()), "1-d: squared errors")
    jobs = [
        _Start(name, number, tables[name], name != "shuttle" or number < 4)
        for name in SETTINGS
        for number in range(starts[name])
    ]
    information: dict[str, dict[str, list[float]]] = {name: {} for name in SETTINGS}
    for job, values in zip(jobs, worker.stage(0.3, 1.0).map(_information, jobs, "1-d: clusterings"), strict=True):
        for label, value in values.items():
            information[job.name].setdefault(label, []).append(value)
    measured = OneDMeasured(dict(zip(SETTINGS, found, strict=True)), information, seconds, growth)
    title, citation = source("one-d")
    return Reproduction(
        paper="one-d",
        title=title,
        citation=citation,
        quick=quick,
        protocol=(
            (
                "Raw tables; Breast Cancer Wisconsin with its sample code number and the 683 complete rows, as the "
                "paper's ten dimensions say."
            ),
            "mu 24, 6 and 28 clusters a column for Wine, Breast Cancer and Shuttle, from n/2 intervals.",
            (
                "Squared error per cell (the printed sum would be n d times as large); that of 1-d in closed form, "
                f"that of additive noise as the mean of {_DRAWS} draws."
            ),
            (
                f"Lloyd's k-means from shared starting centres, k random rows: {starts['wine']} starts on Wine and "
                f"Breast Cancer, {starts['shuttle']} on Shuttle, one of {_DRAWS} draws each."
            ),
            (
                "Times: processor time in one run without what every method shares (checking and fingerprinting the "
                "table). For more columns shuffled copies of Musk stand side by side, for more rows below one another."
            ),
            "Two readings of the last merges: distances updated after each (greedy) or sorted once (static).",
        ),
        tables=one_d_tables(measured),
        figures=tuple(worker.stage(1.0, 1.0).map(_figure, [tables["wine"]], "1-d: figure")),
    )
