"""Blocks of near rows: a table is halved at medians until its parts are small.

Each cut moves the rows themselves, so that later cuts read memory in order: the cost grows with n log n in
practice too, where permuting indices does not.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sfumato._arrays import Flags, Floats, Integers

_STACK_CELLS = 1 << 18  # numbers that stay in the cache


def kd_blocks(tile: Floats, most_rows: int, multiple: int, *, share: float = 0.5) -> Iterator[tuple[Integers, Floats]]:
    """Yield (row numbers, rows of shape (d, m)) of blocks with at most `most_rows` rows.

    Parameters
    ----------
    tile : array of shape (d, n)
    multiple : int
        The left part of each cut is a multiple of this, so that groups of that size fit.
    share : float
        Share of the rows on the left of the first cut; later ones are at the median.

    Examples
    --------
    >>> [rows.tolist() for rows, _ in kd_blocks(np.array([[3.0, 1.0, 2.0, 0.0]]), 2, 1)]
    [[1, 3], [0, 2]]
    """
    stack = [(np.arange(tile.shape[1]), tile)]
    while stack:
        rows, part = stack.pop()
        if len(rows) <= most_rows:
            yield rows, part
            continue
        # means by plain sums: the widest column only steers the cut, but it must be the same one everywhere
        centre = np.add.reduce(part, axis=1) / part.shape[1]
        gaps = part - centre[:, None]
        gaps *= gaps
        values = part[int(np.argmax(np.add.reduce(gaps, axis=1)))]
        left = _lower_part(values, max(multiple, int(len(rows) * share) // multiple * multiple))
        share = 0.5
        stack.append((rows[~left], np.ascontiguousarray(part[:, ~left])))
        stack.append((rows[left], np.ascontiguousarray(part[:, left])))


def kd_stacks(
    tile: Floats, most_rows: int, multiple: int, *, share: float = 0.5, width: int = 1
) -> Iterator[tuple[Integers, Integers, Floats]]:
    """Yield the blocks in stacks of equal length: (block numbers, row numbers, rows of shape (d, blocks, m)).

    What is done to every block in the same number of steps can be done to a stack of them at once.

    Parameters
    ----------
    tile, most_rows, multiple, share
        See `kd_blocks`.
    width : int
        Numbers that a step holds for each row; stacks are as high as the cache allows.

    Examples
    --------
    >>> [numbers.tolist() for numbers, _, _ in kd_stacks(np.arange(6.0)[None], 2, 1)]
    [[0, 2], [1, 3]]
    """
    by_length: dict[int, list[tuple[int, Integers, Floats]]] = {}
    for number, (rows, part) in enumerate(kd_blocks(tile, most_rows, multiple, share=share)):
        by_length.setdefault(len(rows), []).append((number, rows, part))
    for length, blocks in by_length.items():
        height = max(1, _STACK_CELLS // (length * width))
        for first in range(0, len(blocks), height):
            some = blocks[first : first + height]
            numbers = np.array([number for number, _, _ in some])
            yield numbers, np.stack([rows for _, rows, _ in some]), np.stack([part for *_, part in some], axis=1)


def _lower_part(values: Floats, count: int) -> Flags:
    """Mark exactly `count` smallest values, ties by position."""
    limit = np.partition(values, count - 1)[count - 1]
    lower = values < limit
    equal = np.flatnonzero(values == limit)
    lower[equal[: count - int(np.count_nonzero(lower))]] = True
    return np.asarray(lower)
