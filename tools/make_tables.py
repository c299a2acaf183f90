"""Make the tables behind the normal, Laplace and arcsine variates (src/sfumato/core/tables/*.npy).

Each law is symmetric, so a table holds the magnitude as a function of v, the smaller tail probability, on
(0, 1/2]. Every octave of v is cut into 64 segments, and each segment holds a cubic through four Chebyshev
nodes, computed with 40 digits and rounded once: the same bytes on every machine.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from mpmath import mp, mpf
from scipy.special import ndtri

mp.dps = 40
OCTAVES, SEGMENTS = 53, 64
FOLDER = Path(__file__).resolve().parent.parent / "src" / "sfumato" / "core" / "tables"


def normal(v: mpf) -> mpf:
    """Magnitude of the standard normal quantile: two Newton steps from the double value give 40 digits."""
    z = mpf(float(-ndtri(float(v))))
    for _ in range(3):
        z += (mp.erfc(z / mp.sqrt(2)) / 2 - v) * mp.sqrt(2 * mp.pi) * mp.exp(z * z / 2)
    return z


def laplace(v: mpf) -> mpf:
    """Magnitude of the quantile of the Laplace law with scale 1."""
    return -mp.log(2 * v)


def arcsine(v: mpf) -> mpf:
    """Magnitude of sin^2(pi u / 2) - 1/2."""
    return mp.cos(mp.pi * v) / 2


NODES = [(1 - mp.cos(mp.pi * (2 * i + 1) / 8)) / 2 for i in range(4)]


def cubic(values: list[mpf]) -> list[float]:
    """Return the power-basis coefficients, constant first, of the cubic through the nodes."""
    matrix = mp.matrix([[node**p for p in range(4)] for node in NODES])
    return [float(c) for c in mp.lu_solve(matrix, mp.matrix(values))]


def table(law) -> np.ndarray:  # noqa: ANN001
    rows = []
    for octave in range(OCTAVES):
        for segment in range(SEGMENTS):
            low = mpf(2) ** (octave - 1) * (1 + mpf(segment) / SEGMENTS)
            width = mpf(2) ** (octave - 1) / SEGMENTS
            rows.append(cubic([law((low + width * node) / mpf(2) ** 53) for node in NODES]))
    return np.ascontiguousarray(np.array(rows, dtype="<f8").T)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for law in (normal, laplace, arcsine):
        np.save(FOLDER / f"{law.__name__}_v1.npy", table(law), allow_pickle=False)
        print(f"wrote {law.__name__}_v1.npy")
