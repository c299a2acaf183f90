"""When a record counts as recovered, what needs no attack, and what an attack earns by luck."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.attack.engine.knowledge import FloatArray, IntArray

#: a cell is recovered within this share of its column's width
CLOSE = 0.05
#: interquartile range of a normal law in standard deviations
NORMAL_QUARTILES = 1.349


def tolerances(original: FloatArray) -> FloatArray:
    """Return the distance within which a cell of each column counts as recovered.

    Parameters
    ----------
    original : array of shape (n, d)
        The original table.

    Returns
    -------
    array of shape (d,)
        5 % of the standard deviation, or of the interquartile range over 1.349 where that is smaller: a few huge
        values inflate the deviation until everybody seems close. 0 marks a constant column, which is not scored.

    Examples
    --------
    >>> tolerances(np.array([[0.0, 7.0], [2.0, 7.0]])).round(4)
    array([0.0371, 0.    ])
    >>> tolerances(np.array([[0.0], [1.0], [2.0], [3.0], [1e6]])).round(4)
    array([0.0741])
    """
    found = np.zeros(original.shape[1])
    for j, column in enumerate(original.T):
        if column.min() == column.max():  # the sd of equal values may be 1e-17
            continue
        low, high = np.quantile(column, [0.25, 0.75])
        middle = (high - low) / NORMAL_QUARTILES
        found[j] = CLOSE * (min(column.std(), middle) if middle > 0 else column.std())
    return found


def cell_hits(guess: FloatArray, truth: FloatArray, tolerance: FloatArray) -> FloatArray:
    """Return 1 for every recovered cell, averaged over tied answers.

    Parameters
    ----------
    guess : array of shape (t, d) or (ties, t, d)
        Guessed values, NaN = no guess.
    truth : array of shape (t, d)
        Original values.
    tolerance : array of shape (d,)
        Of `tolerances`.

    Returns
    -------
    array of shape (t, d')
        Hits in the columns that are scored.

    Examples
    --------
    >>> cell_hits(np.array([[1.0, 5.0]]), np.array([[1.04, 0.0]]), np.array([0.05, 0.05]))
    array([[1., 0.]])
    """
    hits, answers = _hits(guess, truth, tolerance)
    weight = np.maximum(answers.sum(axis=0), 1)[:, None]
    averaged: FloatArray = (hits & answers[:, :, None]).sum(axis=0) / weight
    return averaged


def record_scores(guess: FloatArray, truth: FloatArray, tolerance: FloatArray) -> FloatArray:
    """Return what each record earns: 1 when at least half of its cells are recovered, shared between ties.

    Parameters
    ----------
    guess : array of shape (t, d) or (ties, t, d)
        Guessed values, NaN = no guess.
    truth : array of shape (t, d)
        Original values.
    tolerance : array of shape (d,)
        Of `tolerances`.

    Returns
    -------
    array of shape (t,)
        Between 0 and 1.

    Examples
    --------
    >>> truth = np.array([[1.0, 2.0]])
    >>> record_scores(np.array([[1.0, 9.0]]), truth, np.array([0.1, 0.1]))
    array([1.])
    >>> record_scores(np.array([[[1.0, 9.0]], [[8.0, 9.0]]]), truth, np.array([0.1, 0.1]))
    array([0.5])
    """
    hits, answers = _hits(guess, truth, tolerance)
    enough = (2 * hits.sum(axis=2) >= hits.shape[2]) & answers
    scores: FloatArray = enough.sum(axis=0) / np.maximum(answers.sum(axis=0), 1)
    return scores


def _hits(guess: FloatArray, truth: FloatArray, tolerance: FloatArray) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return hits (ties, t, scored columns) and whether there is an answer at all (ties, t)."""
    stacked = guess if guess.ndim == 3 else guess[None]
    scored = tolerance > 0
    with np.errstate(invalid="ignore", over="ignore"):  # NaN = no guess; a wild guess may overflow
        hits = np.abs(stacked - truth)[:, :, scored] <= tolerance[scored] * (1 + 1e-9)
    return hits, np.asarray(np.isfinite(stacked).any(axis=2))


def typical_record(original: FloatArray, tolerance: FloatArray) -> FloatArray:
    """Return the constant per column that recovers most cells: the baseline's guess for everybody.

    Parameters
    ----------
    original : array of shape (n, d)
        The original table.
    tolerance : array of shape (d,)
        Of `tolerances`.

    Returns
    -------
    array of shape (d,)
        The middle of the window of width 2 * tolerance that holds most values.

    Examples
    --------
    >>> table = np.array([[0.0], [3.0], [3.1], [9.0]])
    >>> typical_record(table, np.array([0.1])).round(2)
    array([3.05])
    """
    typical = np.empty(original.shape[1])
    for column, width in enumerate(2 * tolerance):
        values = np.sort(original[:, column])
        ends = np.searchsorted(values, values + width * (1 + 1e-12), side="right")
        first = int(np.argmax(ends - np.arange(values.size)))
        typical[column] = (values[first] + values[int(ends[first]) - 1]) / 2
    return typical


def link_scores(candidates: tuple[IntArray, ...], rows: IntArray) -> FloatArray:
    """Return what each link earns: 1 for the right row alone, 1/ties when it is one of several.

    Parameters
    ----------
    candidates : tuple of integer arrays
        Rows that an attack names for each person.
    rows : array of shape (m,)
        The right rows.

    Returns
    -------
    array of shape (m,)
        Between 0 and 1.

    Examples
    --------
    >>> link_scores((np.array([4]), np.array([1, 2])), np.array([4, 2]))
    array([1. , 0.5])
    """
    sizes = np.array([named.size for named in candidates], dtype=np.int64)
    if sizes.size != rows.size:
        raise ValueError(f"{sizes.size} answers for {rows.size} people")
    if not sizes.any():
        return np.zeros(rows.size)
    people = np.repeat(np.arange(rows.size), sizes)
    hit = np.bincount(people[np.concatenate(candidates) == rows[people]], minlength=rows.size) > 0
    return np.where(hit, 1.0 / np.maximum(sizes, 1), 0.0)


def residual_security(guess: FloatArray, truth: FloatArray, tolerance: FloatArray) -> tuple[float, ...]:
    """Return Var(x - guess) / Var(x) of every column: what is left of the data after the attack.

    Parameters
    ----------
    guess : array of shape (t, d) or (ties, t, d)
        Guessed values; cells without a guess count as the column's mean.
    truth : array of shape (t, d)
        Original values.
    tolerance : array of shape (d,)
        Of `tolerances`; 0 marks constant columns.

    Returns
    -------
    tuple of float, length d
        0 = everything is known, 1 = nothing is; 1 for constant columns, where nothing was hidden.

    Examples
    --------
    >>> truth = np.array([[1.0], [2.0], [3.0]])
    >>> residual_security(truth + 5, truth, np.array([0.1]))
    (0.0,)
    >>> residual_security(np.full((3, 1), np.nan), truth, np.array([0.1]))
    (1.0,)
    """
    table = guess[0] if guess.ndim == 3 else guess
    filled = np.where(np.isfinite(table), table, truth.mean(axis=0))
    with np.errstate(over="ignore", invalid="ignore"):
        left = np.var(truth - filled, axis=0)
    spread = np.var(truth, axis=0)
    safe = np.where(spread > 0, spread, 1.0)
    share = np.where((spread > 0) & (tolerance > 0), left / safe, 1.0)
    return tuple(float(value) for value in np.nan_to_num(share, nan=np.inf, posinf=np.inf))
