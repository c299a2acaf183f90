"""Records that stand in the release as they are, wherever they stand.

An audit compares row by row. A release whose rows are in another order than the audit believes, or that publishes
some records untouched, must not pass because of that.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato._arrays import Floats
from sfumato.attack.engine.statistics import lift


@dataclass(frozen=True)
class Verbatim:
    """How many original records occur in the release.

    Attributes
    ----------
    in_place : float
        Share of rows released as they are.
    anywhere : float
        Share of the original records that occur somewhere in the release.
    by_chance : float
        The same for a release whose columns were shuffled, each by itself: what few distinct values give anyway.
    n_rows : int
    """

    in_place: float
    anywhere: float
    by_chance: float
    n_rows: int

    @property
    def lift(self) -> float:
        """Lower bound of (anywhere - by chance) / (1 - by chance)."""
        if self.by_chance >= 1.0:
            return 0.0
        found = lift(self.anywhere * self.n_rows, self.n_rows, baseline=0.0, control=self.by_chance)
        return max(0.0, found.lower)

    @property
    def looks_shuffled(self) -> bool:
        """Whether most verbatim records stand at other rows than their own."""
        return self.lift > 0.2 and self.in_place < 0.5 * self.anywhere


def find_verbatim(original: Floats, released: Floats, *, seed: int = 0) -> Verbatim:
    """Look for original records in a release with the same columns.

    Parameters
    ----------
    original, released : arrays of shape (n, d)
    """
    generator = np.random.default_rng([seed, 9])
    mixed = np.column_stack([generator.permutation(column) for column in released.T])
    return Verbatim(
        in_place=float((original == released).all(axis=1).mean()),
        anywhere=_share_found(original, released),
        by_chance=_share_found(original, mixed),
        n_rows=len(original),
    )


def _share_found(original: Floats, released: Floats) -> float:
    held = set(map(bytes, np.ascontiguousarray(released + 0.0).view(np.uint8).reshape(len(released), -1)))
    asked = np.ascontiguousarray(original + 0.0).view(np.uint8).reshape(len(original), -1)
    return sum(bytes(row) in held for row in asked) / len(asked)
