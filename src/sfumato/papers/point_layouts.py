"""Synthetic points of the papers that publish none: mixtures found by search, carried as data."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

ORIGIN = (
    "The paper does not publish its points. These come from mixtures whose parameters were found by search, "
    "so that the paper's tables are reachable; they are not the authors' data."
)


@cache
def _layouts(paper: str) -> dict[str, Any]:
    text = resources.files(__package__).joinpath("layouts", f"{paper}.json").read_text("utf-8")
    layouts: dict[str, Any] = json.loads(text)["layouts"]
    return layouts


def draw_points(paper: str, n_clusters: int, *, seed: int = 1) -> NDArray[np.float64]:
    """Return points of a paper's layout, cluster after cluster.

    Parameters
    ----------
    n_clusters : int
        2 to 6, the layout.

    Returns
    -------
    array of shape (n, 2)

    Examples
    --------
    >>> draw_points("gdtm", 2).shape, draw_points("ina", 6).shape
    ((6000, 2), (10000, 2))
    """
    layout = _layouts(paper)[str(n_clusters)]
    rng = np.random.default_rng([seed, n_clusters])
    parts = []
    for cluster in layout["clusters"]:
        if layout["shape"] == "disc":
            # two coordinates of a point on the sphere in four dimensions are uniform in the disc; radius 2 makes
            # each variance 1
            on_sphere = rng.normal(size=(cluster["size"], 4))
            unit = 2.0 * on_sphere[:, :2] / np.linalg.norm(on_sphere, axis=1)[:, None]
        else:
            unit = rng.normal(size=(cluster["size"], 2))
        parts.append(unit @ np.linalg.cholesky(np.array(cluster["cov"])).T + np.array(cluster["mean"]))
    return np.concatenate(parts)
