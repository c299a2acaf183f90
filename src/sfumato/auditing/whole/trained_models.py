"""A model trained on the release and tried on the original, beside one that was trained on the original."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from sfumato.frames.whole import WholeRows

_ROWS = 4_000
_MOST_LEVELS = 30
_MOST_COLUMNS = 6
_TREES = 40


@dataclass(frozen=True)
class TrainedModel:
    """A forest that tells one category from all other columns.

    Attributes
    ----------
    column : str
    original, release : float
        Share of other people's original rows told right by the forest of the original rows, and by that of the
        released rows; the closer the better.
    majority : float
        Share that the most frequent value has.
    """

    column: str
    original: float
    release: float
    majority: float


def measure_models(rows: WholeRows, *, seed: int = 0) -> tuple[TrainedModel, ...]:
    """Train on half of the people and try on the original rows of the other half.

    Categories of 2 to 30 values are told, the last six of the table at most, on 4,000 people at most.

    Parameters
    ----------
    rows : WholeRows
    seed : int
        Splits the people, and grows the trees. Default: 0.
    """
    asked = [
        j
        for j, category in enumerate(rows.categories)
        if category and not rows.kept[j] and 2 <= len(np.unique(rows.original[:, j])) <= _MOST_LEVELS
    ][-_MOST_COLUMNS:]
    if not asked or len(rows.names) < 2 or len(rows.original) < 20:
        return ()
    order = np.random.default_rng([seed, 23]).permutation(len(rows.original))[:_ROWS]
    learn, test = np.split(order, [len(order) // 2])
    found = []
    for j in asked:
        others = np.arange(len(rows.names)) != j
        truth = rows.original[test, j]
        right = []
        for table in (rows.original, rows.released):
            forest = RandomForestClassifier(_TREES, max_depth=10, random_state=seed, n_jobs=1)
            forest.fit(table[learn][:, others], table[learn, j])
            right.append(float((forest.predict(rows.original[test][:, others]) == truth).mean()))
        values, counts = np.unique(rows.original[learn, j], return_counts=True)
        majority = float((truth == values[counts.argmax()]).mean())
        found.append(TrainedModel(rows.names[j], right[0], right[1], majority))
    return tuple(found)
