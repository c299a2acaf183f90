"""The first order of an exchange: each column gets its group's values in the rank order of mixed rows.

Mixed rows are what a random orthogonal matrix makes of the rows of a group, a Hadamard matrix with random signs: they
have the group's own covariance. A column takes the group's values in their order, so that its values stay and its
correlations with the others nearly do. All sums are of whole numbers, and exact.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sfumato._arrays import Floats, Integers
from sfumato.perturb.exchange.space import MixedSpace
from sfumato.perturb.exchange.swaps import Dice, Swaps

_SIGN, _PLACE, _TIE, _DIRECTION = 1, 2, 3, 1 << 32  # counters of the dice


def order_groups(swaps: Swaps, space: MixedSpace, groups: Sequence[Integers], dice: Dice) -> None:
    """Let the rows of each group take one another's values.

    Parameters
    ----------
    groups : sequence of arrays
        Rows of each group, in order.
    """
    for members in groups:
        if len(members) > 1:
            _order(swaps, space, members, dice)


def _order(swaps: Swaps, space: MixedSpace, members: Integers, dice: Dice) -> None:
    n = len(members)
    place = np.argsort(dice.words(members, _PLACE), kind="stable")
    sign = np.where(dice.words(members, _SIGN) >> np.uint64(63), 1.0, -1.0)
    ties = dice.words(members, _TIE)
    sort_by = np.zeros((len(swaps.units), n))  # the values of each unit, seen in one direction
    for target, columns in zip(sort_by, swaps.units, strict=True):
        for column in columns:
            values = swaps.coordinates[column, members]
            levels = space.axes[column].levels
            target += _direction(dice, members, column, levels)[values.astype(np.int64)] if levels else values
    padded = np.zeros((len(sort_by), 1 << (n - 1).bit_length()))
    means = np.cumsum(sort_by, axis=1)[:, -1:] / n
    padded[:, place] = np.rint(sort_by - means) * sign  # whole numbers: the sums below are exact
    mixed = hadamard(padded)[:, place]
    for unit in range(len(sort_by)):
        swaps.source[unit, members[np.lexsort((ties, mixed[unit]))]] = members[np.lexsort((ties, sort_by[unit]))]


def _direction(dice: Dice, members: Integers, column: int, levels: int) -> Floats:
    """Return a random number for each category: the order of categories is another one in every group."""
    counters = _DIRECTION * (column + 1) + np.arange(levels)
    words = dice.words(members[:1].repeat(levels), counters)
    return (words >> np.uint64(44)).astype(np.float64) - float(1 << 19)


def hadamard(values: Floats) -> Floats:
    """Return the Walsh-Hadamard transform of rows of 2^k numbers, without its factor.

    Examples
    --------
    >>> hadamard(np.array([[1.0, 2.0, 3.0, 4.0]])).tolist()
    [[10.0, -2.0, -4.0, 0.0]]
    """
    rows, half = len(values), 1
    while half < values.shape[1]:
        pairs = values.reshape(rows, -1, 2, half)
        values = np.stack([pairs[:, :, 0] + pairs[:, :, 1], pairs[:, :, 0] - pairs[:, :, 1]], axis=2)
        values = values.reshape(rows, -1)
        half *= 2
    return values
