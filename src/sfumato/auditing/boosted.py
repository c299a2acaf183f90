"""Telling a column from all others by gradient boosting: a model of the release, tried on its people and on strangers.

What the nearest row does not show a model may have learnt by heart. It learns from the released rows of one half of the
people and is asked about these people, and about the other half, who are not in those rows: what it tells of strangers,
too, is knowledge about people in general.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier

from sfumato._arrays import Flags, Floats
from sfumato.core.sharing import share

QUESTION = "inference by trees"
_COLUMNS = 3  # that are told, of those that vary
_LEVELS = 5  # classes of a column: its values, or as many equal parts of them
_ROWS = 2_000  # that a model learns from
_TREES, _LEAVES, _SMALLEST = 25, 15, 5


def infer_by_trees(
    inside: Floats, outside: Floats, view: Floats, people: NDArray[np.intp], columns: NDArray[np.intp]
) -> tuple[Flags, Flags]:
    """Tell whether a model of the release gives away a column of people in it, and of people who are not.

    Parameters
    ----------
    inside, outside : arrays of shape (n, d)
        Originals in standard deviations: people whose rows are seen, and others.
    view : array of shape (n, d)
        Released rows.
    people : array of int
        Whom to ask about, in both.
    columns : array of int
        In which order columns are told.

    Returns
    -------
    tuple of two arrays of shape (people,)
        Whether each was told right, in turn in one of the columns.

    Examples
    --------
    >>> draw = np.random.default_rng(0)
    >>> one, other = draw.normal(size=(2, 300, 3))
    >>> told, control = infer_by_trees(one, other, one, np.arange(300), np.arange(3))
    >>> bool(told.mean() > 2 * control.mean())
    True
    """
    told = [j for j in columns if len(_cuts(view[:_ROWS, j]))][:_COLUMNS]
    hits, control = np.zeros(len(people), dtype=np.bool_), np.zeros(len(people), dtype=np.bool_)
    learnt = view[:_ROWS]

    def learn(turn: int) -> None:
        secret, asked = told[turn], np.arange(turn, len(people), len(told))
        known = np.delete(np.arange(view.shape[1]), secret)
        cuts = _cuts(learnt[:, secret])
        model = HistGradientBoostingClassifier(
            max_iter=_TREES,
            max_leaf_nodes=_LEAVES,
            min_samples_leaf=_SMALLEST,
            early_stopping=False,
            random_state=0,
        )
        model.fit(learnt[:, known], np.searchsorted(cuts, learnt[:, secret], side="right"))
        for group, target in ((inside, hits), (outside, control)):
            persons = group[people[asked]]
            truth = np.searchsorted(cuts, persons[:, secret], side="right")
            target[asked] = model.predict(persons[:, known]) == truth

    share(learn, range(len(told)))
    return hits, control


def _cuts(column: Floats) -> Floats:
    """Return where a column is cut into classes: between its values if they are few, else at its quantiles."""
    levels = np.unique(column)
    if len(levels) > _LEVELS:
        levels = np.unique(np.quantile(column, np.linspace(0, 1, _LEVELS + 1)[:-1]))
    # between two values, so that one that is moved a little stays in its class
    return np.asarray((levels[1:] + levels[:-1]) / 2)
