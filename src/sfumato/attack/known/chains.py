"""Rows that hang on the rows before them: sums, differences and moving means are undone from one row to the next.

A release that adds up rows, takes their differences or smooths them hides every row behind others, and leaves a chain:
whoever knows one row (as many as are smoothed together) finds the next, and so on to the end.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sfumato.attack.catalogue import entry
from sfumato.attack.engine.decimals import snap
from sfumato.attack.engine.interface import Attack, Deadline, NothingFoundError
from sfumato.attack.engine.knowledge import FloatArray, Guess, Knowledge, guess_values
from sfumato.attack.engine.transforms import own_scale
from sfumato.attack.known.affine import apply_affine, fit_affine

_STEPS = (1, 2, 3, 4, 5)  # rows that are smoothed together
_LEFT = 0.2  # share of the variance of other known rows that a chain may leave


def chained(released: FloatArray) -> Iterator[tuple[str, FloatArray]]:
    """Yield what rows are if each release is a sum, a difference or a moving sum of them, but for a few constants.

    Parameters
    ----------
    released : array of shape (n, e)
        The release, in its order.

    Examples
    --------
    >>> dict(chained(np.array([[1.0], [3.0], [6.0]])))["sums of all rows before"].ravel()
    array([1., 2., 3.])
    """
    n, e = released.shape
    steps = np.diff(released, axis=0, prepend=0.0)
    yield "sums of all rows before", steps
    for width in _STEPS:
        # rows that stand so many apart are a chain of their own, which begins with a constant of its own
        places = (np.arange(n)[:, None] % width == np.arange(1, width)).astype(np.float64)
        words = [("differences over", released, 0), ("sums of", steps, width // 2)]
        for name, links, middle in words[: 1 if width == 1 else 2]:  # the sum of one row is the row
            held = np.zeros((-(-n // width) * width, e))
            held[:n] = links
            found = held.reshape(-1, width, e).cumsum(axis=0).reshape(-1, e)[:n]
            for ahead in {0, middle}:  # sums of the rows before, or around
                yield f"{name} {width} rows", np.column_stack([np.roll(found, ahead, axis=0), places])


class Chains(Attack):
    """Undo sums, differences and moving means over rows, and keep what known rows agree with.

    Examples
    --------
    >>> from sfumato.attack import run_attack
    >>> table = np.random.default_rng(0).normal(size=(300, 3))
    >>> run_attack(Chains(), table, (table + np.roll(table, 1, axis=0)) / 2).rate
    1.0
    """

    entry = entry("chains")

    def run(self, knowledge: Knowledge, deadline: Deadline) -> Guess:
        """Return all target rows at the end of the best chain."""
        assert knowledge.pairs is not None
        rows, values = knowledge.pairs.rows, knowledge.pairs.values
        scaled = own_scale(values)
        best: tuple[float, str, FloatArray] | None = None
        for name, table in chained(knowledge.released):
            deadline.check(table.size)
            tried = np.arange(len(rows)) % 3 == 0  # on these, learnt from the others
            if (~tried).sum() < table.shape[1] + 3:
                continue
            told = apply_affine(fit_affine(table[rows[~tried]], scaled[~tried]), table[rows[tried]])
            left = float(np.median(((told - scaled[tried]) ** 2).mean(axis=0)))
            if best is None or left < best[0]:
                best = (left, name, table)
        if best is None or best[0] > _LEFT:
            raise NothingFoundError("no sums or differences of rows tell the known ones")
        _, name, table = best
        guess = apply_affine(fit_affine(table[rows], values), table[knowledge.targets])
        return guess_values(snap(guess, knowledge.decimals), note=f"the release holds {name}")
