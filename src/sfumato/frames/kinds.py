"""What a column holds, guessed from its values: continuous numbers, counts, codes, spikes, categories, dates, text."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato._arrays import Floats

EXCHANGED_KINDS = ("continuous", "count", "category")  # what `AtomExchange` is told

_FEW = 30  # different whole values of a count or a code
_SPIKE = 0.05  # share of the rows that have one and the same value
_SENTINELS = {-1.0, -2.0, -7.0, -8.0, -9.0, -99.0, -999.0, -9999.0, 99.0, 999.0, 9999.0, 99999.0, 999999.0}
_MOST_DECIMALS = 9
_LONELY = 0.5  # a sentinel stands apart by this share of the range of the others


@dataclass(frozen=True)
class NumberGuess:
    """What a column of numbers seems to hold.

    Attributes
    ----------
    kind : "continuous" or "count"
    held : tuple of float
        Values that many rows have, or that stand for something else than a number.
    reason : str
    decimals : int, optional
        Of its numbers; None for more than nine.
    """

    kind: str
    held: tuple[float, ...]
    reason: str
    decimals: int | None = None


def guess_number(values: Floats, *, integer: bool) -> NumberGuess:
    """Guess what a column of numbers holds.

    Parameters
    ----------
    values : array of shape (n,)
        Some or all values; missing ones left out.
    integer : bool
        Whether all of the column's numbers are whole.

    Examples
    --------
    >>> guess_number(np.array([0.0, 1, 2, 1, 0, 3] * 20), integer=True).kind
    'count'
    >>> guess_number(np.concatenate([np.zeros(80), np.arange(40) * 1.7 + 5]), integer=False).held
    (0.0,)
    """
    different, counts = np.unique(values, return_counts=True)
    decimals = next((places for places in range(_MOST_DECIMALS + 1) if _has(different, places)), None)
    if integer and len(different) <= _FEW:
        return NumberGuess("count", (), f"{len(different)} different whole numbers", decimals)
    if len(different) <= 2:
        return NumberGuess("count", (), "two values", decimals)
    spikes = [float(one) for one in different[counts >= max(_SPIKE * len(values), 3)]]
    sentinels = _sentinels(different, counts)
    held = tuple(sorted({*spikes, *sentinels}))
    if sentinels:
        return NumberGuess("continuous", held, "numbers, and a value that stands apart", decimals)
    if held:
        return NumberGuess("continuous", held, "numbers, and a value that many rows have", decimals)
    return NumberGuess("continuous", (), f"{len(different)} different numbers", decimals)


def _has(values: Floats, places: int) -> bool:
    """Tell whether numbers have so many decimals at most."""
    return bool((np.round(values, places) == values).all())


def _sentinels(different: Floats, counts: np.ndarray) -> list[float]:
    """Return usual marks for "unknown" at the ends of a column, apart from its other values."""
    found = []
    for end, rest in ((0, different[1:]), (-1, different[:-1])):
        value = float(different[end])
        span = float(rest[-1] - rest[0])
        apart = abs(value - float(rest[0 if end == 0 else -1]))
        negative = value < 0 <= rest[0]
        if value in _SENTINELS and counts[end] >= 3 and (negative or apart > _LONELY * span):
            found.append(value)
    return found
