"""Two releases, one with a person and one without: what their sums differ by is the person, if sums are kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sfumato.attack.engine.knowledge import FloatArray
from sfumato.attack.shadows.releasing import choose_people, releasing, standardised
from sfumato.core.numbers import number_table
from sfumato.exceptions import DataError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

_CLOSE = 0.05  # standard deviations
_RIDGE = 1.0
_FEWEST_ROWS = 8


@dataclass(frozen=True)
class RowDifference:
    """How much of a person two releases tell that differ by this person only.

    Attributes
    ----------
    people, exposed : int
        People who were left out in turn, and those of them who stand farthest from the middle.
    cells, cells_exposed : float
        Share of their cells that come out within 0.05 standard deviations.
    guess, guess_exposed : float
        The same for the best of three guesses: the column's mean, its median, and a regression on others for somebody
        who knows all other cells of the person.
    error, error_exposed : float
        Median error of a cell, in standard deviations.
    """

    people: int
    exposed: int
    cells: float
    cells_exposed: float
    guess: float
    guess_exposed: float
    error: float
    error_exposed: float


def one_row_difference(
    method: Any, table: ArrayLike, *, people: int = 20, same_key: bool = False, seed: int = 0
) -> RowDifference:
    """Release a table, then the table without one person, and subtract the column sums; in turn for several people.

    Parameters
    ----------
    method : perturber or callable
        A perturber, or a function of a table and a number that returns a release. Rows may be held back.
    table : array-like of shape (n, d)
        Numbers, without missing cells.
    people : int
        How many people are left out in turn, those farthest from the middle included. Default: 20.
    same_key : bool
        Whether all releases are made with one key. Default: False.
    seed : int
        Chooses people and keys. Default: 0.

    Returns
    -------
    RowDifference

    Examples
    --------
    >>> table = np.random.default_rng(0).normal(size=(100, 3))
    >>> one_row_difference(lambda rows, number: rows[::-1], table).cells
    1.0
    """
    original = number_table(table, "table")
    if len(original) < _FEWEST_ROWS:
        raise DataError(f"{len(original)} rows are too few to leave one out; it needs {_FEWEST_ROWS}")
    points, unit = standardised(original)
    chosen, far = choose_people(original, min(people, len(original)), seed)
    release = releasing(method)
    whole = _total(release(original, seed + 1), len(original))
    errors, guesses = np.empty((len(chosen), points.shape[1])), np.empty((3, len(chosen), points.shape[1]))
    for i, person in enumerate(chosen):
        left = np.delete(original, person, axis=0)
        other = _total(release(left, seed + 1 if same_key else seed + 2 + i), len(left))
        errors[i] = np.abs(whole - other - original[person]) / unit
        others = np.delete(points, person, axis=0)
        guesses[0, i] = np.abs(points[person] - others.mean(axis=0))
        guesses[1, i] = np.abs(points[person] - np.median(others, axis=0))
        guesses[2, i] = np.abs(points[person] - _regressed(others, points[person]))
    varies = np.ptp(original, axis=0) > 0
    errors, near = errors[:, varies], (guesses <= _CLOSE)[:, :, varies]
    return RowDifference(
        people=len(chosen),
        exposed=len(far),
        cells=float((errors <= _CLOSE).mean()),
        cells_exposed=float((errors[far] <= _CLOSE).mean()),
        guess=float(near.mean(axis=(1, 2)).max()),
        guess_exposed=float(near[:, far].mean(axis=(1, 2)).max()),
        error=float(np.median(errors)),
        error_exposed=float(np.median(errors[far])),
    )


def _total(released: FloatArray, n_rows: int) -> FloatArray:
    """Return the column sums of a release; rows that are held back count as the mean of the others."""
    total: FloatArray = np.nanmean(released, axis=0) * n_rows
    return total


def _regressed(others: FloatArray, person: FloatArray) -> FloatArray:
    """Return each cell of a person as a ridge regression on others tells it from all other cells."""
    d = others.shape[1]
    gram = others.T @ others + _RIDGE * np.eye(d)
    told = np.empty(d)
    for j in range(d):
        rest = np.delete(np.arange(d), j)
        weights = np.linalg.solve(gram[np.ix_(rest, rest)], gram[rest, j]) if d > 1 else np.empty(0)
        told[j] = person[rest] @ weights
    return told
