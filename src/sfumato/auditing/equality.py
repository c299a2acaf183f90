"""Cells that stand as they are, column by column, against the best guess: codes hardly vary among people alike.

A column of yes and no is equal in most rows of any release. What counts is how much more often it is equal than
somebody is right who says for everyone what most people say, or most of those in the same clusters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sfumato._arrays import Flags, Floats, Integers
from sfumato.attack.engine.result import lift


@dataclass(frozen=True)
class ColumnEquality:
    """One column.

    Attributes
    ----------
    name : str
    equal : float
        Share of its cells that are released as they are.
    mode : float
        Share that holds the most frequent value: what guessing that for everybody gets.
    guess : float
        The larger of that and of guessing what most of the others in the same clusters hold.
    lift_low : float
        Lower bound of (equal - guess) / (1 - guess).
    """

    name: str
    equal: float
    mode: float
    guess: float
    lift_low: float

    @property
    def words(self) -> str:
        """One sentence."""
        return f"{self.name} stands as it is in {self.equal:.0%} of the rows (best guess: {self.guess:.0%})."


def measure_equality(
    names: Sequence[str],
    original: Floats,
    released: Floats,
    *,
    company: Integers | None = None,
    kept: Sequence[str] = (),
) -> tuple[ColumnEquality, ...]:
    """Return how often the cells of each column are equal, for columns that vary and are not kept on purpose.

    Parameters
    ----------
    original, released : arrays of shape (n, d)
    company : array of shape (n,) or (n, groupings), optional
        Rows with the same number share all clusters that the release keeps, or some of them.
    kept : sequence of str
        Columns that are released as they are on purpose. Default: none.

    Examples
    --------
    >>> table = np.array([[0.0], [0.0], [0.0], [1.0]])
    >>> one = measure_equality(["smokes"], table, table)[0]
    >>> one.equal, one.mode, one.guess
    (1.0, 0.75, 0.75)
    """
    found = []
    for name, before, after in zip(names, original.T, released.T, strict=True):
        if name in kept or before.min() == before.max():
            continue
        same = before == after
        values, codes = np.unique(before, return_inverse=True)
        mode = float(np.bincount(codes).max()) / len(codes)
        guess = most_guess(before, company) if len(values) < len(codes) and same.any() else mode
        low = lift(float(same.sum()), len(same), baseline=guess).lower
        found.append(ColumnEquality(name, float(same.mean()), mode, guess, low))
    return tuple(found)


def most_guess(column: Floats, company: Integers | None = None) -> float:
    """Return how often somebody is right who says what most people hold, or most others of the same company.

    Parameters
    ----------
    column : array of shape (n,)
    company : array of shape (n,) or (n, groupings), optional
        Rows with the same number share all clusters that the release keeps, or some of them.

    Examples
    --------
    >>> most_guess(np.array([0.0, 0.0, 1.0, 1.0, 1.0]))
    0.6
    """
    codes = np.unique(column, return_inverse=True)[1].reshape(-1)
    mode = float(np.bincount(codes).max()) / len(codes)
    groupings = [] if company is None else list(company.reshape(len(codes), -1).T)
    return max([mode, *(float(_says_most(codes, np.ascontiguousarray(one)).mean()) for one in groupings)])


def _says_most(codes: Integers, company: Integers) -> Flags:
    """Return who holds what most of the others in their company hold, or most of all where they are alone."""
    width = int(codes.max()) + 1
    pairs, at, counts = np.unique(company * width + codes, return_inverse=True, return_counts=True)
    at, held, size = at.reshape(-1), pairs // width, np.bincount(company)
    # the two largest counts of each company: the others' mode is one of them
    order = np.lexsort((-counts, held))
    begins = np.flatnonzero(np.r_[True, held[order][1:] != held[order][:-1]])
    second = np.zeros(len(size), dtype=np.int64)
    first = np.zeros(len(size), dtype=np.int64)
    top = np.zeros(len(size), dtype=np.int64)
    first[held[order[begins]]], top[held[order[begins]]] = counts[order[begins]], order[begins]
    more = begins[np.r_[np.diff(begins), len(order) - begins[-1]] > 1] + 1
    second[held[order[more]]] = counts[order[more]]
    rival = np.where(top[company] == at, second[company], first[company])
    common = codes == np.bincount(codes).argmax()
    says: Flags = np.where(size[company] > 1, counts[at] - 1 >= np.maximum(rival, 1), common)
    return says
