"""How many decimals the numbers of a CSV block have, from the places of its points: no cell is cut out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

_POINT, _END, _RETURN, _POWER, _SMALL = ord("."), ord("\n"), ord("\r"), ord("e"), 32


def decimals_of_block(
    block: bytes, separator: str, n_columns: int, wanted: Sequence[int], mark: bytes = b'"'
) -> list[tuple[int, int]] | None:
    r"""Return the fewest and the most decimals of some columns of plain numbers.

    Parameters
    ----------
    block : bytes
        Whole records, each with all its separators.
    wanted : sequence of int
        Places of columns whose cells are known to be numbers.
    mark : bytes
        What quotes a cell; empty if nothing does.

    Examples
    --------
    >>> decimals_of_block(b"1.50,x.y,2\n2.5,z,3\n", ",", 3, [0, 2])
    [(1, 2), (0, 0)]
    >>> decimals_of_block(b"1e-3,2\n", ",", 2, [0]) is None
    True
    """
    if mark and mark in block:
        return None
    letters = np.frombuffer(block, dtype=np.uint8)
    ends = np.flatnonzero((letters == _END) | (letters == ord(separator)))
    if not block.endswith(b"\n"):
        ends = np.append(ends, len(letters))
    if len(ends) % n_columns:
        return None
    if b"e" in block or b"E" in block:
        powers = np.flatnonzero((letters | _SMALL) == _POWER)
        if np.isin(np.unique(np.searchsorted(ends, powers) % n_columns), list(wanted)).any():
            return None
    points = np.flatnonzero(letters == _POINT)
    if len(points) == len(ends):
        behind = ends - points
        behind -= 1
        single = bool((behind >= 0).all() and (points[1:] > ends[:-1]).all())
    else:
        single = False
    if not single:
        behind = _mixed(ends, points)
    table = behind.reshape(-1, n_columns)
    if b"\r" in block:
        last = letters[np.maximum(ends[n_columns - 1 :: n_columns] - 1, 0)] == _RETURN
        table[:, -1] -= last & (table[:, -1] > 0)
    return [(int(table[:, column].min()), int(table[:, column].max())) for column in wanted]


def _mixed(ends: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return the decimals of each cell where some have none (and texts may have several points)."""
    before = np.searchsorted(points, ends)  # points up to the end of each cell
    starts = np.append(0, ends[:-1] + 1)
    last = points[np.maximum(before - 1, 0)] if len(points) else np.zeros(len(ends), dtype=ends.dtype)
    inside = (before > 0) & (last >= starts)
    return np.where(inside, ends - last - 1, 0)
