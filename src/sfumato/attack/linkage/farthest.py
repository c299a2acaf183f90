"""Recognise the rows that stand farthest out: whoever stands alone keeps their direction, even when drawn inwards."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sfumato.attack.catalogue import entry
from sfumato.attack.engine.interface import Attack, Deadline, NothingFoundError, needs_same_columns
from sfumato.attack.engine.knowledge import guess_links
from sfumato.attack.linkage.linking import standardise

if TYPE_CHECKING:
    from sfumato.attack.engine.knowledge import FloatArray, Guess, IntArray, Knowledge

COSINE = 0.99  # directions that are the same
LENGTHS = (0.5, 1.5)  # a released row's length over a person's
_SHARE, _FEWEST = 0.01, 10  # rows that count as the farthest


def farthest_rows(points: FloatArray) -> IntArray:
    """Return the numbers of the rows farthest from 0: one in a hundred, at least ten.

    Parameters
    ----------
    points : array of shape (n, d)
        Rows in standard deviations from the mean.

    Examples
    --------
    >>> int(farthest_rows(np.vstack([np.ones((40, 2)), [[9.0, 9.0]]]))[0])
    40
    """
    lengths = np.round((points**2).sum(axis=1), 9)
    return np.argsort(-lengths, kind="stable")[: max(_FEWEST, int(_SHARE * len(points)))]


class FarthestRow(Attack):
    """Link a person to the one of the farthest released rows that lies in their direction, at about their distance.

    The farthest rows are seen in the release alone: whoever knows of somebody extraordinary looks there.

    Examples
    --------
    >>> from sfumato.attack import run_attack
    >>> draw = np.random.default_rng(0)
    >>> table = draw.normal(size=(300, 5))
    >>> table[:8] = 12 * table[:8] / np.linalg.norm(table[:8], axis=1)[:, None]
    >>> released = draw.normal(size=(300, 5))
    >>> released[:8] = 0.7 * table[:8]
    >>> run_attack(FarthestRow(), table, released, known=range(8)).rate
    1.0
    """

    entry = entry("farthest")

    def objection(self, knowledge: Knowledge) -> str | None:
        """Return a reason when columns do not correspond."""
        return needs_same_columns(knowledge)

    def run(self, knowledge: Knowledge, deadline: Deadline) -> Guess:
        """Return the rows in the people's directions."""
        assert knowledge.records is not None
        assert knowledge.marginals is not None
        deadline.check()
        public = knowledge.marginals
        people = standardise(knowledge.records, public.mean, public.sd)
        points = standardise(knowledge.released, public.mean, public.sd)
        rows = farthest_rows(points)
        rows = rows[(points[rows] ** 2).sum(axis=1) > 0]
        if not rows.size:
            raise NothingFoundError("all released rows are alike")
        far, own = np.linalg.norm(points[rows], axis=1), np.linalg.norm(people, axis=1)
        own = np.where(own > 0, own, 1.0)
        cosine = (people @ points[rows].T) / own[:, None] / far
        ratio = far / own[:, None]
        cosine[(ratio < LENGTHS[0]) | (ratio > LENGTHS[1])] = -1.0
        best = cosine.max(axis=1, keepdims=True)
        named = [rows[same] for same in (cosine >= COSINE) & (cosine >= best - 1e-9)]
        answered = sum(1 for candidates in named if candidates.size)
        if not answered:
            raise NothingFoundError("none of the farthest rows lies in the direction of a known person")
        return guess_links(named, note=f"{answered} people in the direction of one of the {len(rows)} farthest rows")
