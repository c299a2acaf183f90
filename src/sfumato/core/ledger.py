"""Which values each row's noise has been used for.

Using one row's words for two different values cancels the noise: T(a) - T(b) = a - b. The ledger keeps a
keyed hash of every row that a fitted object has released under explicit row numbers, and tells when a row
number comes back with other values. The same values again are harmless: they give the same release.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_REMEMBERED_ROWS = 10_000_000  # 80 MB; beyond it any overlap counts as reuse


class Ledger:
    """Remember released rows; hold only keyed hashes of them.

    Examples
    --------
    >>> ledger = Ledger()
    >>> ledger.reused(0, np.array([1, 2, 3], dtype=np.uint64))
    0
    >>> ledger.reused(2, np.array([3, 4], dtype=np.uint64))  # row 2 again, with the same values
    0
    >>> ledger.reused(1, np.array([9], dtype=np.uint64))  # row 1 again, with others
    1
    """

    def __init__(self) -> None:
        self._segments: list[tuple[int, int, NDArray[np.uint64] | None]] = []
        self._remembered = 0

    def reused(self, start: int, hashes: NDArray[np.uint64]) -> int:
        """Record rows start, start+1, ... and return how many had been released with other values."""
        stop = start + len(hashes)
        reused = np.zeros(len(hashes), dtype=np.bool_)
        for low, high, known in self._segments:
            first, last = max(start, low), min(stop, high)
            if first < last:
                here = slice(first - start, last - start)
                reused[here] |= True if known is None else known[first - low : last - low] != hashes[here]
        keep = self._remembered + len(hashes) <= _REMEMBERED_ROWS
        self._remembered += len(hashes) if keep else 0
        self._segments.append((start, stop, hashes if keep else None))
        return int(np.count_nonzero(reused))
