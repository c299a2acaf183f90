"""Records that stand in the release as they are, wherever they stand.

An audit compares row by row. A release whose rows are in another order than the audit believes, or that publishes
some records untouched, must not pass because of that.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato._arrays import Floats
from sfumato.attack.engine.statistics import lift, wilson_interval
from sfumato.attack.linkage.kept_columns import number_rows


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
        The same for a release whose columns were shuffled, each by itself: what few distinct values give anyway. For
        whole rows the most that strangers' records may be expected to give.
    n_rows : int
    singles : bool
        Whether only records that nobody else has are counted, as for whole rows: one of them on its own row is no
        chance. Default: False.
    """

    in_place: float
    anywhere: float
    by_chance: float
    n_rows: int
    singles: bool = False

    @property
    def lift(self) -> float:
        """Lower bound of (anywhere - by chance) / (1 - by chance)."""
        own = wilson_interval(self.in_place * self.n_rows, self.n_rows)[0] if self.singles else 0.0
        if self.by_chance >= 1.0:
            return own
        found = lift(self.anywhere * self.n_rows, self.n_rows, baseline=0.0, control=self.by_chance)
        return max(own, found.lower, 0.0)

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


def find_whole_verbatim(original: Floats, released: Floats, *, seed: int = 0) -> Verbatim:
    """Look for original records of categories and numbers, of those that only one person has.

    Shuffled columns are no control here: categories hang together, and records of strangers coincide more often than
    shuffled ones. Two halves of the original tell how often they do.

    Parameters
    ----------
    original, released : arrays of shape (n, d)
    """
    n = len(original)
    before, after = number_rows(original, released)
    single = np.bincount(before, minlength=int(max(before.max(), after.max())) + 1)[before] == 1
    first, second = np.array_split(np.random.default_rng([seed, 9]).permutation(n), 2)
    strangers = int(np.isin(before[first], before[second]).sum())
    alone = int((np.unique(before[first], return_counts=True)[1] == 1).sum())
    most = wilson_interval(min(strangers, alone), max(alone, 1))[1]
    return Verbatim(
        in_place=float((single & (before == after)).mean()),
        anywhere=float((single & np.isin(before, after)).mean()),
        by_chance=min(1.0, 2 * most),  # a half meets only half of the others
        n_rows=n,
        singles=True,
    )


def _share_found(original: Floats, released: Floats) -> float:
    held = set(map(bytes, np.ascontiguousarray(released + 0.0).view(np.uint8).reshape(len(released), -1)))
    asked = np.ascontiguousarray(original + 0.0).view(np.uint8).reshape(len(original), -1)
    return sum(bytes(row) in held for row in asked) / len(asked)
