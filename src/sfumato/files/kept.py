"""How many people the kept columns single out: whoever knows these values finds their rows."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato._arrays import Integers

_MOST = 1 << 20  # combinations that are counted; of more a random part is
FEW = 5  # people who share a combination hide one another no more if they are fewer


class KeptCombinations:
    """Rows by their combination of kept values, counted in any order and in bounded memory.

    Of more than a million combinations those are counted whose hash ends in zeros, as many as it takes: a fair share.

    Examples
    --------
    >>> seen = KeptCombinations.of(pl.DataFrame({"town": ["A", "A", "B"], "job": [1, 1, 1]}))
    >>> seen.alone, seen.among_few
    (1, 3)
    """

    def __init__(self) -> None:
        self._hashes: NDArray[np.uint64] = np.empty(0, dtype=np.uint64)
        self._counts: Integers = np.empty(0, dtype=np.int64)
        self._zeros = 0

    @classmethod
    def of(cls, rows: pl.DataFrame) -> KeptCombinations:
        """Count some rows.

        Parameters
        ----------
        rows : polars.DataFrame
            Their kept columns.
        """
        seen = cls()
        hashes = rows.hash_rows(seed=0).to_numpy() if rows.width else np.empty(0, dtype=np.uint64)
        seen._hashes, seen._counts = np.unique(hashes, return_counts=True)
        seen._thin()
        return seen

    def merge(self, other: KeptCombinations) -> None:
        """Add the counts of other rows."""
        hashes = np.concatenate([self._hashes, other._hashes])
        counts = np.concatenate([self._counts, other._counts])
        self._zeros = max(self._zeros, other._zeros)
        self._hashes, where = np.unique(hashes, return_inverse=True)
        self._counts = np.bincount(where, weights=counts, minlength=len(self._hashes)).astype(np.int64)
        self._thin()

    @property
    def alone(self) -> int:
        """Rows with a combination of their own; about, if there are more than a million combinations."""
        return int(np.count_nonzero(self._counts == 1)) << self._zeros

    @property
    def among_few(self) -> int:
        """Rows that share theirs with fewer than four others, those who are alone included."""
        return int(self._counts[self._counts < FEW].sum()) << self._zeros

    def _thin(self) -> None:
        while True:
            fits = (self._hashes & np.uint64((1 << self._zeros) - 1)) == 0
            self._hashes, self._counts = self._hashes[fits], self._counts[fits]
            if len(self._hashes) <= _MOST:
                return
            self._zeros += 1


def singled_out(seen: KeptCombinations, rows: int, columns: tuple[str, ...]) -> str | None:
    """Return a warning about people whom kept columns single out; None if there are none.

    Parameters
    ----------
    rows : int
        All rows.
    columns : tuple of str
        The kept ones.
    """
    if not seen.among_few:
        return None
    return (
        f"the kept columns ({', '.join(columns[:5])}{' ...' if len(columns) > 5 else ''}) single people out: of "
        f"{rows:,} rows {seen.alone:,} have a combination of their own, and {seen.among_few:,} share theirs with "
        f"fewer than {FEW - 1} others. Whoever knows these values finds their row. Keep fewer columns, or let them be "
        "perturbed."
    )
