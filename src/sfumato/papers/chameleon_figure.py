"""Chameleon's clusters of t7.10k, the point set that the algorithm is known by."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from sfumato.cluster import Chameleon
from sfumato.metrics import adjusted_rand
from sfumato.papers.data_files import VARIABLE, read_numbers
from sfumato.papers.result import Figure, Panel, Series
from sfumato.papers.work import Worker


def _found(
    points: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    return np.asarray(Chameleon(9).fit_predict(points), dtype=np.int64)


def chameleon_figure(worker: Worker, folder: str | Path | None) -> Figure | None:
    """Return the figure, or None when no folder of data is named."""
    if folder is None and not os.environ.get(VARIABLE):
        return None
    table = read_numbers("chameleon_t7_10k.csv", folder, ("x", "y", "label"))
    labels = worker.map(_found, [table[:, :2]], "Chameleon on t7.10k")[0]
    inside = table[:, 2] > 0
    score = adjusted_rand(table[inside, 2], labels[inside])
    shown = slice(None, None, 3)
    x, y = (tuple(round(float(v), 1) for v in table[shown, column]) for column in (0, 1))
    series = Series("points", x, y, "dot", tuple(int(label) for label in labels[shown]))
    note = (
        f"Nine clusters; adjusted Rand index {score:.3f} against the reference labels without noise. Every third point."
    )
    return Figure("Figure B", "Chameleon's clusters of t7.10k", (Panel("t7.10k", "x", "y", (series,)),), note)
