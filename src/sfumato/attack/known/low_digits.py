"""Digits that noise did not reach may tell the original, in any usual base."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.stats import rankdata

from sfumato.attack.catalogue import entry
from sfumato.attack.engine.blocks import followers
from sfumato.attack.engine.decimals import snap
from sfumato.attack.engine.interface import Attack, Deadline, NothingFoundError, needs_known_rows
from sfumato.attack.engine.knowledge import FloatArray, Guess, Knowledge, guess_values
from sfumato.attack.public.quantile_mapping import rank_levels

BASES = (2, 3, 5, 6, 7, 10, 11, 12, 13)
_LARGEST = 2.0**45  # a double has 52 bits: digits below are not there
_SURE = 0.95  # rank correlation with what is hidden; thousands of digits of nothing stay far below it
_LINE = 0.999
_STRAIGHT = 0.9999


def units() -> FloatArray:
    """Return by what a value is multiplied to read its digits after the point from a place on, smallest first.

    Examples
    --------
    >>> units()[:4]
    array([1., 2., 3., 4.])
    """
    powers = {float(base**k) for base in BASES for k in range(46) if base**k <= _LARGEST / 16}
    return np.array(sorted(powers))


def digits_after(column: FloatArray) -> Iterator[tuple[float, FloatArray]]:
    """Yield what stands behind each place of a column's digits, from 0 to 1.

    Parameters
    ----------
    column : array of shape (n,)
        Released values.

    Examples
    --------
    >>> dict(digits_after(np.array([0.25, 1.5])))[2.0]
    array([0.5, 0. ])
    """
    largest = max(float(np.abs(column).max()), 1e-300)
    for unit in units():
        if largest * unit > _LARGEST:
            return
        rest = digits_at(column, unit)
        if np.ptp(rest) > 0:
            yield unit, rest


def digits_at(column: FloatArray, unit: float) -> FloatArray:
    """Return what stands behind one place of a column's digits, from 0 to 1.

    Parameters
    ----------
    column : array of shape (n,)
        Released values.
    unit : float
        Of `units`.

    Examples
    --------
    >>> digits_at(np.array([0.25, 1.5]), 2.0)
    array([0.5, 0. ])
    """
    scaled = column * unit
    rest = scaled - np.floor(scaled)
    return np.where(rest > 1 - 1e-6 * np.maximum(1e-3, np.abs(scaled) * 1e-9), 0.0, rest)


def _ranked(table: FloatArray) -> FloatArray:
    """Return ranks of every column, centred and of length 1; columns of one value become 0."""
    return _centred(rankdata(table, axis=0))


def _centred(table: FloatArray) -> FloatArray:
    around = table - table.mean(axis=0)
    lengths = np.linalg.norm(around, axis=0)
    return np.asarray(around / np.where(lengths > 0, lengths, 1.0))


def telling_digits(
    released: FloatArray, rows: np.ndarray, hidden: FloatArray, deadline: Deadline
) -> list[tuple[float, FloatArray]]:
    """Return for each hidden column the digits that follow it best: rank correlation, and values in all rows.

    Parameters
    ----------
    released : array of shape (n, e)
        The release.
    rows : array of shape (m,)
        Known rows.
    hidden : array of shape (m, c)
        What is hidden in them.
    deadline : Deadline
        Checked between columns.
    """
    wanted, lines = _ranked(hidden), _centred(hidden)
    scores = np.zeros(hidden.shape[1])
    best: list[tuple[float, int, float]] = [(0.0, 0, 1.0)] * hidden.shape[1]
    for k, column in enumerate(released.T):
        deadline.check()
        read = list(digits_after(column[rows]))  # those of everybody are read where they tell something
        if not read:
            continue
        digits = np.column_stack([rest for _, rest in read])
        near = followers(k, hidden.shape[1])
        found = wanted[:, near].T @ _ranked(digits)
        # few people have one order by chance in some digits, but never stand on a line by chance
        straight = np.abs(lines[:, near].T @ _centred(digits))
        score = np.abs(found) + np.where(straight > _STRAIGHT, straight, 0.0)
        for at, (j, place) in enumerate(zip(near, score.argmax(axis=1), strict=True)):
            if score[at, place] > scores[j]:
                scores[j] = score[at, place]
                best[j] = (float(found[at, place]), k, read[place][0])
    return [(follows, digits_at(released[:, k], unit)) for follows, k, unit in best]


class LowDigits(Attack):
    """Look for digits that follow an original column in the known rows, and read the others from them.

    Examples
    --------
    >>> from sfumato.attack import run_attack
    >>> draw = np.random.default_rng(0)
    >>> table = draw.uniform(size=(300, 2))
    >>> released = np.round(draw.normal(size=(300, 2)), 3) + 1e-3 * table
    >>> run_attack(LowDigits(), table, released).rate > 0.95
    True
    """

    entry = entry("low-digits")

    def objection(self, knowledge: Knowledge) -> str | None:
        """Return a reason when too few people are known to be sure."""
        return needs_known_rows(knowledge, 7)

    def run(self, knowledge: Knowledge, deadline: Deadline) -> Guess:
        """Return the columns that stand in some digits; nothing for the others."""
        assert knowledge.pairs is not None
        assert knowledge.marginals is not None
        rows, values, public = knowledge.pairs.rows, knowledge.pairs.values, knowledge.marginals
        guess = np.full((knowledge.targets.size, knowledge.n_columns), np.nan)
        told = 0
        for j, (follows, digits) in enumerate(telling_digits(knowledge.released, rows, values, deadline)):
            if abs(follows) < _SURE:
                continue
            told += 1
            slope, start = np.polyfit(digits[rows], values[:, j], 1)
            line = slope * digits + start
            if np.corrcoef(line[rows], values[:, j])[0, 1] >= _LINE:
                guess[:, j] = line[knowledge.targets]
            else:
                levels = rank_levels(digits if follows > 0 else -digits)[knowledge.targets]
                guess[:, j] = np.interp(levels, public.levels, public.quantiles[:, j])
        if not told:
            raise NothingFoundError("no digits follow an original column")
        note = f"{told} of {knowledge.n_columns} columns stand in some digits"
        return guess_values(snap(guess, knowledge.decimals), note=note)
