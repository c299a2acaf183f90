"""Noise that comes again: every so many rows, for everybody with one released value, as a wave or from row to row.

A known row tells its noise. Where the same noise is added to other rows as well, they need not be known: noise of known
rows is a table, or a line from one to the next, and those of them that are left out in turn say which it is.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sfumato.attack.catalogue import entry
from sfumato.attack.engine.decimals import snap
from sfumato.attack.engine.interface import Attack, Deadline, NothingFoundError, needs_known_rows, needs_same_columns
from sfumato.attack.engine.knowledge import BoolArray, FloatArray, Guess, IntArray, Knowledge, guess_values
from sfumato.attack.engine.scoring import CLOSE
from sfumato.attack.places.place_digits import find_pitch

_FEWEST = 24
_LEAST = 0.2  # share of the cells of known rows that others must tell, where they tell anything
_CONSTANT = 1e-3  # of a standard deviation
_ASKED = 8  # known rows at least of which they do
_GAIN = 0.1  # how many more that must be than of a release that is taken as it is
_PERIODS = 20_000  # rows after which noise may come again, at most
_BLOCKS = (2, 3, 4, 5, 6, 8, 10, 16, 20, 25, 32, 50, 64, 100)  # rows that may share their noise
_LEVELS = 0.5  # different values of a released column, of the known rows, beyond which it names people


def table_of(keys: IntArray, noise: FloatArray, asked: IntArray) -> FloatArray:
    """Return the median noise of everybody with the same key; NaN where no known row has it.

    Parameters
    ----------
    keys : array of shape (m,)
        Of known rows.
    noise : array of shape (m, d)
    asked : array of shape (p,)
        Keys.

    Examples
    --------
    >>> table_of(np.array([3, 3, 5]), np.array([[1.0], [3.0], [8.0]]), np.array([5, 3, 4])).ravel()
    array([ 8.,  2., nan])
    """
    different, place, counts = np.unique(keys, return_inverse=True, return_counts=True)
    place = place.reshape(-1)
    begins = np.cumsum(counts) - counts
    found = np.empty((len(different), noise.shape[1]))
    for j, column in enumerate(noise.T):
        ordered = column[np.lexsort((column, place))]
        found[:, j] = (ordered[begins + (counts - 1) // 2] + ordered[begins + counts // 2]) / 2
    at = np.searchsorted(different, asked).clip(0, len(different) - 1)
    return np.asarray(np.where((different[at] == asked)[:, None], found[at], np.nan))


def period_of(rows: IntArray, noise: FloatArray) -> int | None:
    """Return after how many rows noise comes again; None if it does not.

    Known rows with the same noise stand whole periods apart.

    Parameters
    ----------
    rows : array of shape (m,)
    noise : array of shape (m, d)
        Scaled.

    Examples
    --------
    >>> draw = np.random.default_rng(0)
    >>> noise, rows = draw.normal(size=(7, 2)), draw.permutation(100)[:40]
    >>> period_of(rows, noise[rows % 7])
    7
    """
    wide = int(np.argmax(noise.std(axis=0)))
    order = np.argsort(noise[:, wide], kind="stable")
    near = (np.abs(np.diff(noise[order], axis=0)) < CLOSE / 2).mean(axis=1) > 0.5  # neighbours in one column, in most
    apart = np.abs(np.diff(rows[order]))[near]
    if len(apart) < 4:
        return None
    # the period divides most of the distances: of some of them, the largest common divisor that does
    draw = np.random.default_rng([len(rows), 73])
    best = (0.6, 0)
    for _ in range(60):
        divisor = int(np.gcd.reduce(apart[draw.permutation(len(apart))[:3]]))
        if 1 < divisor <= _PERIODS:
            share = float((apart % divisor == 0).mean()) - 1.0 / divisor
            best = max(best, (share, divisor))
    return best[1] or None


def _between(rows: IntArray, noise: FloatArray, asked: IntArray) -> FloatArray:
    """Return the noise on the way from one known row to the next."""
    order = np.argsort(rows)
    return np.column_stack([np.interp(asked, rows[order], column[order]) for column in noise.T])


class RowNoise(Attack):
    """Subtract the noise of known rows from others that have the same, as rows that are left out in turn show.

    Examples
    --------
    >>> from sfumato.attack import run_attack
    >>> draw = np.random.default_rng(0)
    >>> table, noise = draw.normal(size=(600, 3)), 9 * draw.normal(size=(8, 3))
    >>> run_attack(RowNoise(), table, table + noise[np.arange(600) % 8]).rate
    1.0
    """

    entry = entry("row-noise")

    def objection(self, knowledge: Knowledge) -> str | None:
        """Return a reason when cells do not correspond, or too few people are known."""
        return needs_same_columns(knowledge) or needs_known_rows(knowledge, _FEWEST)

    def run(self, knowledge: Knowledge, deadline: Deadline) -> Guess:
        """Return target rows less the noise that others tell."""
        assert knowledge.pairs is not None
        rows, values = knowledge.pairs.rows, knowledge.pairs.values
        released, targets = knowledge.released, knowledge.targets
        words = [(released, values)]
        if (released > 0).all() and (values > 0).all():
            words.append((np.log(released), np.log(values)))
        best: tuple[float, FloatArray] | None = None
        for seen, truth in words:
            noise, logs = seen[rows] - truth, seen is not released
            if (noise.std(axis=0) <= _CONSTANT * np.maximum(truth.std(axis=0), 1e-300)).all():
                continue  # one shift or factor for all is found by fewer people
            usual = _right(seen[rows], values, logs=logs).mean()
            for keys in _ways(knowledge, rows, noise / np.maximum(truth.std(axis=0), 1e-300)):
                deadline.check(released.size)
                left_out = _without_itself(keys, rows, noise)
                asked = np.isfinite(left_out).all(axis=1)
                right = _right(seen[rows] - left_out, values, logs=logs)
                share = float(right[asked].mean()) if asked.sum() >= _ASKED else 0.0
                told = float(right.mean())
                if share >= max(_LEAST, usual + _GAIN) and (best is None or told > best[0]):
                    guess = seen[targets] - _noise(keys, rows, noise, targets)
                    best = (told, np.exp(guess) if logs else guess)
        if best is None:
            raise NothingFoundError("noise of known rows is not that of others")
        return guess_values(snap(best[1], knowledge.decimals))


def _ways(knowledge: Knowledge, rows: IntArray, noise: FloatArray) -> Iterator[IntArray | FloatArray | None]:
    """Yield a key of every row whose noise may be that of all rows with the key.

    None stands for what lies between rows, a table of numbers for where each column's noise is in its turn.
    """
    yield None
    pitches = [find_pitch(rows, column, knowledge.n_rows) for column in noise.T]
    if any(pitch is not None for pitch in pitches):
        yield np.outer(np.arange(knowledge.n_rows), [pitch or 0.0 for pitch in pitches]) % 1.0
    period = period_of(rows, noise)
    if period is not None:
        yield np.arange(knowledge.n_rows) % period
    yield (np.arange(knowledge.n_rows) + 1) // 2
    for size in _BLOCKS:
        yield np.arange(knowledge.n_rows) // size
    for column in knowledge.released.T:
        keys = np.unique(column, return_inverse=True)[1].reshape(-1)
        if 1 < len(np.unique(keys[rows])) <= _LEVELS * len(rows):
            yield keys


def _noise(keys: IntArray | FloatArray | None, rows: IntArray, noise: FloatArray, asked: IntArray) -> FloatArray:
    if keys is None:
        return _between(rows, noise, asked)
    if keys.ndim == 2:
        columns = zip(keys.T, noise.T, strict=True)
        return np.column_stack([np.interp(turn[asked], turn[rows], column, period=1.0) for turn, column in columns])
    return table_of(keys[rows].astype(np.int64), noise, keys[asked].astype(np.int64))


def _without_itself(keys: IntArray | FloatArray | None, rows: IntArray, noise: FloatArray) -> FloatArray:
    """Return what the other known rows say of the noise of each; NaN where they say nothing."""
    if keys is not None and keys.ndim == 2:
        # the others are every second known row: each half tells the other
        found, half = np.empty_like(noise), np.arange(len(rows)) % 2 == 0
        for side in (half, ~half):
            found[side] = _noise(keys, rows[~side], noise[~side], rows[side])
        return found
    if keys is None:
        order = np.argsort(rows)
        found = np.full_like(noise, np.nan)
        at, before, after = rows[order][1:-1], rows[order][:-2], rows[order][2:]
        share = ((at - before) / (after - before))[:, None]
        found[order[1:-1]] = noise[order[:-2]] + share * (noise[order[2:]] - noise[order[:-2]])
        return found
    _, place, counts = np.unique(keys[rows], return_inverse=True, return_counts=True)
    place = place.reshape(-1)
    others = (counts[place] - 1).astype(np.float64)[:, None]
    sums = np.column_stack([np.bincount(place, column)[place] for column in noise.T])
    return np.asarray(np.where(others > 0, (sums - noise) / np.maximum(others, 1), np.nan))


def _right(guess: FloatArray, values: FloatArray, *, logs: bool) -> BoolArray:
    """Return which cells of known rows a guess tells; logarithms are compared as what they are of."""
    spread = values.std(axis=0)
    guess = np.exp(np.minimum(guess, 700.0)) if logs else guess
    with np.errstate(invalid="ignore"):
        return np.asarray(np.abs(guess - values) <= CLOSE * spread)
