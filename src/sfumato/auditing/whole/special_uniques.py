"""People who are alone with a combination of few columns (special uniques, after SUDA)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from sfumato._arrays import Flags, Floats
from sfumato.exceptions import ParameterError

#: rows x combinations of columns that are looked at; beyond it combinations are drawn at random
_WORK = 20_000_000


@dataclass(frozen=True)
class SpecialUniques:
    """How many rows are alone with a combination of few columns.

    Attributes
    ----------
    alone : tuple of float
        Share of the rows that are alone with some combination of at most 1, 2, ... columns; less is better.
    minimal : tuple of int
        Minimal uniques of each size: pairs of a row and a combination with which it is alone, and with no part of it.
    tried, combinations : tuple of int
        How many combinations of each size were looked at, of how many.
    """

    alone: tuple[float, ...]
    minimal: tuple[int, ...]
    tried: tuple[int, ...]
    combinations: tuple[int, ...]


def special_uniques(table: Floats, *, max_size: int = 4, seed: int = 0) -> SpecialUniques:
    """Count the rows that are alone with a combination of few columns, and the smallest such combinations.

    The work is bounded: where a table has too many combinations, some are drawn at random, and the result says how
    many. Rows are never left out, because fewer rows would look alone more often.

    Parameters
    ----------
    table : array of shape (n, d)
        Categories or counts, as numbers.
    max_size : int
        Most columns in a combination. Default: 4.
    seed : int
        Draws combinations where there are too many. Default: 0.

    Returns
    -------
    SpecialUniques

    Examples
    --------
    The last row is alone with its second value; the others are alone with both columns, and with neither of them:

    >>> found = special_uniques(np.array([[1, 1], [2, 1], [1, 2], [2, 2], [2, 3]]), max_size=2)
    >>> found.alone, found.minimal
    ((0.2, 1.0), (1, 4))
    """
    if max_size < 1:
        raise ParameterError(f"max_size must be at least 1, got {max_size}")
    codes = [np.unique(column, return_inverse=True)[1].reshape(-1).astype(np.int64) for column in table.T]
    n, d = table.shape
    generator = np.random.default_rng([seed, 11])
    budget = max(d, _WORK // max(n, 1))
    seen: dict[tuple[int, ...], Flags] = {}
    anyone = np.zeros(n, dtype=np.bool_)
    alone, minimal, tried, every = [], [], [], []
    for size in range(1, min(max_size, d) + 1):
        chosen = _chosen(d, size, budget, generator)
        budget -= len(chosen)
        count = 0
        for columns in chosen:
            mine = _alone([codes[j] for j in columns])
            seen[columns] = mine
            fresh = mine.copy()
            for part in combinations(columns, size - 1):
                if part in seen:
                    fresh &= ~seen[part]
            count += int(fresh.sum())
            anyone |= mine
        alone.append(float(anyone.mean()))
        minimal.append(count)
        tried.append(len(chosen))
        every.append(comb(d, size))
    return SpecialUniques(tuple(alone), tuple(minimal), tuple(tried), tuple(every))


def _chosen(d: int, size: int, budget: int, generator: np.random.Generator) -> list[tuple[int, ...]]:
    """Return the combinations of columns to look at, in order."""
    if comb(d, size) <= budget:
        return list(combinations(range(d), size))
    drawn = (tuple(sorted(generator.choice(d, size, replace=False).tolist())) for _ in range(max(budget, 0)))
    return sorted(set(drawn))


def _alone(codes: list[NDArray[np.int64]]) -> Flags:
    """Return which rows are alone with their values of some columns."""
    together = np.zeros(len(codes[0]), dtype=np.int64)
    space = 1
    for column in codes:
        levels = int(column.max()) + 1
        together = together * levels + column
        space *= levels
        if space > 8 * len(together):
            _, together = np.unique(together, return_inverse=True)
            together = together.reshape(-1)
            space = int(together.max()) + 1
    return np.asarray(np.bincount(together)[together] == 1)
