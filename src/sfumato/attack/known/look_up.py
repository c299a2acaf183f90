"""A cipher of values: whatever a value of a column was replaced by, known rows tell it for everybody who has it."""

from __future__ import annotations

import numpy as np

from sfumato.attack.catalogue import entry
from sfumato.attack.engine.blocks import followers
from sfumato.attack.engine.interface import Attack, Deadline, NothingFoundError
from sfumato.attack.engine.knowledge import FloatArray, Guess, IntArray, Knowledge, guess_values

_PAIRS = 12  # columns beyond which not each two are looked at
_LEVELS = 0.5  # different pairs, of the known rows, beyond which they name people
_WORSE = 2.0  # how much more two columns must tell than one
_ENOUGH = 3  # known rows that share a released value with another one, without which nothing can be checked


def dictionary(codes: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray, float]:
    """Return the released values, what they stand for, and how much of the variance they leave open.

    Parameters
    ----------
    codes : array of shape (m,)
        Released values of known rows.
    values : array of shape (m,)
        Original ones.

    Returns
    -------
    tuple of array, array and float
        Different codes, the median original of each, and the share of the variance among rows whose code comes more
        than once; infinity when there are too few of these.

    Examples
    --------
    >>> dictionary(np.array([7.0, 7.0, 2.0, 7.0, 2.0]), np.array([1.0, 1.0, 5.0, 1.0, 5.0]))
    (array([2., 7.]), array([5., 1.]), 0.0)
    """
    different, place, counts = np.unique(codes, return_inverse=True, return_counts=True)
    place = place.reshape(-1)
    order = np.lexsort((values, place))
    ends = np.cumsum(counts)
    begins = ends - counts
    middle = (values[order][begins + (counts - 1) // 2] + values[order][begins + counts // 2]) / 2
    repeated = counts[place] > 1
    if repeated.sum() < _ENOUGH or np.ptp(values[repeated]) == 0:
        return different, middle, np.inf
    sums = np.bincount(place, values)
    freedom = float((counts - 1).sum())
    within = float(((values - (sums / counts)[place]) ** 2).sum()) / freedom
    return different, middle, within / float(values.var())


def _with_pairs(released: FloatArray, rows: IntArray) -> FloatArray:
    """Return released columns, and a number for each two values of two of them that many known rows share."""
    e = released.shape[1]
    if e > _PAIRS:
        return released
    codes = [np.unique(column, return_inverse=True)[1].reshape(-1) for column in released.T]
    pairs = [codes[k] * (int(codes[i].max()) + 1) + codes[i] for k in range(e) for i in range(k)]
    few = [one for one in pairs if len(np.unique(one[rows])) <= _LEVELS * len(rows)]
    return np.column_stack([released, *few])


def _repeats(codes: FloatArray) -> bool:
    """Tell whether enough known rows share a released value for a dictionary to be checked."""
    counts = np.unique(codes, return_counts=True)[1]
    return bool(counts[counts > 1].sum() >= _ENOUGH)


class LookUp(Attack):
    """Learn from known rows what each released value, or each two, stand for, wherever the column went.

    Examples
    --------
    >>> from sfumato.attack import run_attack
    >>> draw = np.random.default_rng(0)
    >>> table = draw.integers(0, 20, size=(400, 3)).astype(float)
    >>> cipher = draw.permutation(20).astype(float)
    >>> run_attack(LookUp(), table, cipher[table.astype(int)]).rate > 0.9
    True
    """

    entry = entry("look-up")

    def run(self, knowledge: Knowledge, deadline: Deadline) -> Guess:
        """Return what the values of the target rows stand for; nothing where nobody known has them."""
        assert knowledge.pairs is not None
        rows, values = knowledge.pairs.rows, knowledge.pairs.values
        released, single = _with_pairs(knowledge.released, rows), knowledge.released.shape[1]
        repeated = [_repeats(released[rows, k]) for k in range(released.shape[1])]
        pairs = range(single, released.shape[1])
        guess = np.full((knowledge.targets.size, knowledge.n_columns), np.nan)
        learnt = 0
        for j in range(knowledge.n_columns):
            deadline.check()
            looked = [k for k in (*followers(j, single), *pairs) if repeated[k]]
            tried = {k: dictionary(released[rows, k], values[:, j]) for k in looked}
            dearness = {k: tried[k][2] * (1.0 if k < single else _WORSE) for k in tried}
            best = min(tried, key=lambda k: (dearness[k], k != j), default=None)
            if best is None:
                continue
            codes, meaning, left = tried[best]
            if not np.isfinite(left) or left >= 1.0:
                continue
            learnt += 1
            asked = released[knowledge.targets, best]
            place = np.searchsorted(codes, asked).clip(0, len(codes) - 1)
            guess[:, j] = np.where(codes[place] == asked, meaning[place], np.nan)
        if not learnt:
            raise NothingFoundError("released values hardly come twice among known rows")
        return guess_values(guess, note=f"{learnt} of {knowledge.n_columns} columns have a dictionary")
