"""Made tables on which the exposed few are measured, and two real ones where their folder is named."""

from __future__ import annotations

import os

import numpy as np
from numpy.typing import NDArray

from tools.frontier.tables import read_table

__all__ = ["MADE", "REAL", "table"]

Floats = NDArray[np.float64]

MADE = ("clusters", "one cloud", "skewed")
REAL = {"census": 1_080, "adult": 4_000} if "SFUMATO_DATA" in os.environ else {}


def table(name: str, rows: int) -> Floats:
    """Return one of the tables, with so many rows at most."""
    if name in REAL:
        values = read_table(name).values
        return values[np.sort(np.random.default_rng(0).permutation(len(values))[:rows])]
    draw = np.random.default_rng([rows, MADE.index(name)])
    if name == "clusters":
        return 3.0 * draw.normal(size=(6, 6))[draw.integers(0, 6, rows)] + draw.normal(size=(rows, 6))
    if name == "one cloud":
        return draw.normal(size=(rows, 7)) @ draw.normal(size=(7, 7)) + 0.5 * draw.normal(size=(rows, 7))
    points = draw.normal(size=(rows, 5)) @ (np.eye(5) + 0.4 * draw.normal(size=(5, 5)))
    return np.column_stack([np.exp(0.8 * points[:, :3]), points[:, 3:]])
