"""Columns that were moved down the file, each by a number of rows of its own: known people tell by how many.

A column that is rolled, or turned upside down, holds everybody's value at another row, always equally far off. At that
distance, and at no other, ranks of known people go together with those of the release: the distance is found by one
correlation over all of them.
"""

from __future__ import annotations

import numpy as np

from sfumato.attack.catalogue import entry
from sfumato.attack.engine.decimals import snap
from sfumato.attack.engine.interface import Attack, Deadline, NothingFoundError, needs_known_rows
from sfumato.attack.engine.knowledge import FloatArray, Guess, IntArray, Knowledge, guess_values
from sfumato.attack.engine.transforms import own_scale
from sfumato.attack.known.curves import drawn_curve
from sfumato.attack.public.quantile_mapping import rank_levels

_FEWEST = 24
_SURE = 1.5  # deviations of a correlation beyond what the largest of so many by chance is
_ALL_PAIRS = 3_000_000  # cells of a release beyond which a column is looked for at its own place only


def best_lag(rows: IntArray, hidden: FloatArray, seen: FloatArray) -> tuple[float, int, bool]:
    """Return by how many rows a column was moved, whether it is upside down, and how sure that is, in deviations.

    Parameters
    ----------
    rows : array of shape (m,)
        Known rows.
    hidden : array of shape (m,)
        What they hold, scaled.
    seen : array of shape (n,)
        A released column, scaled.

    Returns
    -------
    tuple of float, int and bool
        What is known of row i stands in row (i + lag) % n, or upside down in row (lag - i) % n.

    Examples
    --------
    >>> column = np.random.default_rng(0).normal(size=200)
    >>> best_lag(np.arange(0, 200, 4), column[::4], np.roll(column, 17))[1:]
    (17, False)
    """
    n = len(seen)
    placed = np.bincount(rows, hidden, minlength=n)
    there = np.fft.rfft(seen)
    here = np.fft.rfft(placed)
    ahead = np.fft.irfft(there * np.conj(here), n)  # sum over i of hidden[i] * seen[i + lag]
    turned = np.fft.irfft(there * here, n)  # sum over i of hidden[i] * seen[lag - i]
    size = float(np.linalg.norm(hidden))
    found = max(
        (float(np.abs(told).max()), int(np.abs(told).argmax()), upside)
        for told, upside in ((ahead, False), (turned, True))
    )
    return found[0] / max(size, 1e-300), found[1], found[2]


class Lags(Attack):
    """Find by how many rows each column was moved, put it back, and draw what it says of the original.

    Examples
    --------
    >>> from sfumato.attack import run_attack
    >>> table = np.random.default_rng(0).normal(size=(600, 3))
    >>> moved = np.column_stack([np.roll(column, 50 * j + 9) for j, column in enumerate(table.T)])
    >>> run_attack(Lags(), table, moved).rate
    1.0
    """

    entry = entry("lags")

    def objection(self, knowledge: Knowledge) -> str | None:
        """Return a reason when too few people are known to be sure."""
        return needs_known_rows(knowledge, _FEWEST)

    def run(self, knowledge: Knowledge, deadline: Deadline) -> Guess:
        """Return the columns that were moved, from where they stand now."""
        assert knowledge.pairs is not None
        rows, values, released = knowledge.pairs.rows, knowledge.pairs.values, knowledge.released
        n, e = released.shape
        chance = float(np.sqrt(2 * np.log(2 * n * e * knowledge.n_columns)))
        ranked = own_scale(np.column_stack([rank_levels(column) for column in released.T]))
        hidden = own_scale(np.column_stack([rank_levels(column) for column in values.T]))
        guess = np.full((knowledge.targets.size, knowledge.n_columns), np.nan)
        told = 0
        for j in range(knowledge.n_columns):
            every = released.size * knowledge.n_columns <= _ALL_PAIRS * 10
            tried = range(e) if every else range(min(j, e - 1), min(j, e - 1) + 1)
            found = (0.0, 0, False, 0)
            for k in tried:
                deadline.check(n)
                found = max(found, (*best_lag(rows, hidden[:, j], ranked[:, k]), k))
            sure, lag, upside, k = found
            if sure < chance + _SURE or (lag == 0 and not upside):
                continue
            told += 1

            def at(asked: IntArray, lag: int = lag, upside: bool = upside, k: int = k) -> FloatArray:
                place = (lag - asked) % n if upside else (asked + lag) % n
                return np.asarray(released[place, k])

            line = np.polyfit(at(rows), values[:, j], 1)
            straight = np.polyval(line, at(rows)) - values[:, j]
            if np.median(np.abs(straight)) <= 1e-6 * max(float(np.ptp(values[:, j])), 1e-300):
                guess[:, j] = np.polyval(line, at(knowledge.targets))
            else:
                guess[:, j] = drawn_curve(at(knowledge.targets), at(rows), values[:, j])
        if not told:
            raise NothingFoundError("no column is found at other rows")
        return guess_values(snap(guess, knowledge.decimals), note=f"{told} of {knowledge.n_columns} columns were moved")
