"""Wang, Zheng and Liao 2008: independent noise, tables 1 to 3."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato._arrays import Floats, Integers
from sfumato.cluster import nearest_centre
from sfumato.metrics import min_variance_security, misclassification_rate, variance_security
from sfumato.papers.clusterings import chameleon_labels, kmeans_labels
from sfumato.papers.ina_tables import Release, ina_tables
from sfumato.papers.point_layouts import ORIGIN, draw_points
from sfumato.papers.result import Figure, Panel, Reproduction, points
from sfumato.papers.source import source
from sfumato.papers.work import Worker
from sfumato.perturb import AdditiveNoise, IndependentNoise

CLUSTERS = (2, 3, 4, 5, 6)
SAMPLES = (50, 100, 200, 1000)


@dataclass(frozen=True)
class _Job:
    """One release of one set of points."""

    k: int
    sample: int
    run: int
    kmeans: Integers
    chameleon: Integers | None  # None leaves Chameleon out
    n_init: int


def _broken(method: IndependentNoise, table: Floats, released: Floats) -> tuple[float, int]:
    """Return the share of rows whose nearest reference changed, in per cent, and the number of references."""
    fitted = method._fitted_state().fitted  # noqa: SLF001  # references are secret: only this experiment looks
    before = nearest_centre(table / fitted.units, fitted.references)
    after = nearest_centre(released / fitted.units, fitted.references)
    return 100.0 * float((before != after).mean()), len(fitted.references)


def _release(job: _Job) -> Release:
    table = draw_points("ina", job.k)
    seed = 100 * job.k + job.run
    method = IndependentNoise(sample_size=job.sample, insecure_seed=seed)
    released = method.fit_transform(table)
    broken, references = _broken(method, table, released)
    ball = IndependentNoise(sample_size=job.sample, noise="ball", insecure_seed=seed)
    broken_ball, _ = _broken(ball, table, ball.fit_transform(table))
    same_security = np.sqrt(variance_security(table, released)).tolist()
    constant = AdditiveNoise(scale=same_security, distribution="uniform", insecure_seed=seed).fit_transform(table)

    def changed(before: Integers, after: Integers) -> float:
        return 100.0 * misclassification_rate(before, after)

    return Release(
        security=100.0 * min_variance_security(table, released),
        kmeans=changed(job.kmeans, kmeans_labels(released, job.k, job.run)),
        chameleon=np.nan
        if job.chameleon is None
        else changed(job.chameleon, chameleon_labels(released, job.k, n_init=job.n_init, knn=20)),
        constant=changed(job.kmeans, kmeans_labels(constant, job.k, job.run)),
        broken=broken,
        broken_ball=broken_ball,
        references=references,
    )


def _original(item: tuple[int, int]) -> tuple[Integers, Integers]:
    k, n_init = item
    table = draw_points("ina", k)
    return kmeans_labels(table, k), chameleon_labels(table, k, n_init=n_init, knn=20)


def _figure() -> Figure:
    panels = []
    for k in (2, 4):
        table = draw_points("ina", k)
        released = IndependentNoise(sample_size=200, insecure_seed=1).fit_transform(table)
        before = points("before", table[::20].tolist())
        after = points("after", released[::20].tolist(), mark="cross")
        panels.append(Panel(f"k = {k}, sample of 200", "x", "y", (before, after)))
    return Figure("Figure A", "Points before and after", tuple(panels), "Every twentieth point.")


def reproduce(worker: Worker, *, quick: bool, folder: object = None) -> Reproduction:  # noqa: ARG001
    """Return tables 1 to 3.

    Parameters
    ----------
    quick : bool
        Chameleon on one release only, with a sample of 200.
    folder : unused
        The paper's points are synthetic.
    """
    releases, n_init = 10, 2 if quick else 5
    items = [(k, n_init) for k in CLUSTERS]
    originals = worker.stage(0.0, 0.05).map(_original, items, "INA: clusters of the original points")
    jobs = [
        _Job(k, sample, run, kmeans, chameleon if not quick or (run == 0 and sample == 200) else None, n_init)
        for k, (kmeans, chameleon) in zip(CLUSTERS, originals, strict=True)
        for sample in SAMPLES
        for run in range(releases)
    ]
    found = worker.stage(0.05, 1.0).map(_release, jobs, "INA: tables 1 to 3")
    measured: dict[tuple[int, int], list[Release]] = {}
    for job, release in zip(jobs, found, strict=True):
        measured.setdefault((job.sample, job.k), []).append(release)
    title, citation = source("ina")
    return Reproduction(
        paper="ina",
        title=title,
        citation=citation,
        quick=quick,
        protocol=(
            ORIGIN,
            f"Five sets of 10,000 points, samples of 50, 100, 200 and 1,000 rows, beta = 5, {releases} releases each.",
            "Columns are scaled by their range (the paper leaves its alpha open).",
            f"k-means: k-means++ starts, the best of ten; Chameleon: 20 neighbours, up to {n_init} seeds of METIS"
            + (" (one release only, sample of 200)." if quick else "."),
            "Constant noise: uniform, the same width for all rows, the same Sec in each column as the release.",
        ),
        tables=ina_tables(measured, CLUSTERS, SAMPLES),
        figures=(_figure(),),
    )
