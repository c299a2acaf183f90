"""The scalings in which a miner may cluster a table: the owner's, or one by the released table's own statistics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sfumato._arrays import Flags, Floats
from sfumato.exceptions import ParameterError

SCALINGS = {
    "owner": "both tables by the means and standard deviations of the original",
    "std": "each table by its own means and standard deviations",
    "range": "each table by its own minima and ranges",
    "none": "both tables as they are",
}
#: what a miner does who rescales a release by its own figures, and what to tell them
OWN = {
    "std": ("standard deviations (z-score)", "give the original's means and standard deviations with the release"),
    "range": ("minima and maxima (min-max)", "advise against it, or give the original's minima and maxima"),
}
# Squares of larger numbers, summed over a table, leave the range of floats; no cluster is told apart out there.
LARGEST = 1e140


@dataclass(frozen=True)
class Rescaling:
    """A shift and a division of each column.

    Attributes
    ----------
    shift, scale : array of shape (d,)
    """

    shift: Floats
    scale: Floats

    def apply(self, rows: Floats) -> Floats:
        """Return the rows in this scaling, shape (n, d)."""
        with np.errstate(over="ignore"):
            # half of each before the subtraction: the difference of two large numbers stays finite
            halves = (rows * 0.5 - self.shift * 0.5) / self.scale
            scaled = np.clip(halves * 2.0, -LARGEST, LARGEST)
        return np.ascontiguousarray(scaled, dtype=np.float64)


def rescaling_by(table: Floats, kind: str) -> Rescaling:
    """Return the rescaling by a table's own statistics; a constant column is divided by 1.

    Parameters
    ----------
    table : array of shape (n, d)

    Examples
    --------
    >>> table = np.array([[1.0, 7.0], [3.0, 7.0]])
    >>> rescaling_by(table, "std").apply(table).tolist()
    [[-1.0, 0.0], [1.0, 0.0]]
    >>> rescaling_by(table, "range").apply(table).tolist()
    [[0.0, 0.0], [1.0, 0.0]]
    """
    n_columns = table.shape[1]
    shift, scale = np.zeros(n_columns), np.ones(n_columns)
    if kind == "none":
        return Rescaling(shift, scale)
    if kind not in {"std", "range"}:
        raise ParameterError(f"no scaling {kind!r}; there are {', '.join(SCALINGS)}")
    for index in range(n_columns):
        column = np.ascontiguousarray(table[:, index])
        low, high = float(column.min()), float(column.max())
        if low == high:
            shift[index] = low
            continue
        # powers of two are exact, and keep the squares of very large and very small columns in range
        unit = float(2.0 ** np.floor(np.log2(max(abs(low), abs(high)))))
        if kind == "range":
            shift[index], width = low, (high / unit - low / unit) * unit
        else:
            column = column / unit
            shift[index], width = float(column.mean()) * unit, float(column.std()) * unit
        scale[index] = width if 0.0 < width < np.inf else max(abs(low), abs(high))
    return Rescaling(shift, scale)


def release_rescaling(
    original: Floats, released: Floats, scaling: str, raw: Flags | None = None
) -> tuple[Rescaling, Rescaling]:
    """Return how the original and how the release is rescaled in one of the `SCALINGS`.

    Parameters
    ----------
    original : array of shape (n, d)
    released : array of shape (n, e)
        In the owner's scaling e must be d.
    raw : array of shape (d,), optional
        Columns that no scaling touches: the yes and no of one-hot categories.

    Returns
    -------
    tuple of Rescaling
        Of the original, of the release.

    Examples
    --------
    >>> original, released = np.array([[0.0], [2.0]]), np.array([[0.0], [6.0]])
    >>> before, after = release_rescaling(original, released, "owner")
    >>> before.apply(original).ravel().tolist(), after.apply(released).ravel().tolist()
    ([-1.0, 1.0], [-1.0, 5.0])
    """
    if scaling == "owner":
        by_original = _but(rescaling_by(original, "std"), raw)
        return by_original, by_original
    return _but(rescaling_by(original, scaling), raw), _but(rescaling_by(released, scaling), raw)


def _but(rescaling: Rescaling, raw: Flags | None) -> Rescaling:
    """Return a rescaling that leaves some columns as they are."""
    if raw is None:
        return rescaling
    return Rescaling(np.where(raw, 0.0, rescaling.shift), np.where(raw, 1.0, rescaling.scale))


def one_hot(tables: Sequence[Floats], categories: Sequence[int]) -> tuple[list[Floats], Flags]:
    """Return tables with a column for every category in the place of their codes, and which columns these are.

    Parameters
    ----------
    tables : sequence of arrays of shape (n, d)
        With the same columns.
    categories : sequence of int
        The columns that hold codes 0, 1, ...

    Examples
    --------
    >>> (table,), raw = one_hot([np.array([[0.5, 1.0], [0.7, 0.0]])], [1])
    >>> table.tolist(), raw.tolist()
    ([[0.5, 0.0, 1.0], [0.7, 1.0, 0.0]], [False, True, True])
    """
    parts: list[list[Floats]] = [[] for _ in tables]
    raw: list[bool] = []
    for column in range(tables[0].shape[1]):
        levels = 1 + int(max(table[:, column].max() for table in tables)) if column in categories else 0
        raw += [True] * levels if levels else [False]
        for part, table in zip(parts, tables, strict=True):
            values = table[:, column : column + 1]
            part.append((values == np.arange(levels)).astype(np.float64) if levels else values)
    return [np.concatenate(part, axis=1) for part in parts], np.array(raw)
