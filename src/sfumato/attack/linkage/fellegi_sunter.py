"""Probabilistic linkage: columns that agree count for or against a link, with weights estimated by EM."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.attack.catalogue import entry
from sfumato.attack.engine.interface import Attack, Deadline, needs_same_columns
from sfumato.attack.engine.knowledge import FloatArray, Guess, Knowledge
from sfumato.attack.linkage.linking import link_best, standardise

#: differences, in standard deviations, that separate the levels of agreement
_EDGES = np.array([0.05, 0.15, 0.4, 1.0])
_ROUNDS = 12
_PAIRS = 1_000_000
_FEWEST = 1_000  # rows for each person that weights are learnt from
_EXPECTED = np.array([0.4, 0.25, 0.2, 0.1, 0.05])  # levels among links, before anything is learnt


def agreement(people: FloatArray, rows: FloatArray) -> NDArray[np.uint8]:
    """Return how well every person agrees with every row in one column.

    Parameters
    ----------
    people : array of shape (m,)
        Values of people.
    rows : array of shape (n,)
        Values of rows, in the same unit.

    Returns
    -------
    array of shape (m, n)
        Level of agreement, 0 = best.

    Examples
    --------
    >>> agreement(np.array([0.0]), np.array([0.01, 0.3, 9.0]))
    array([[0, 2, 4]], dtype=uint8)
    """
    difference = np.abs(people[:, None] - rows[None, :])
    level = np.zeros(difference.shape, dtype=np.uint8)
    for edge in _EDGES:
        level += difference > edge
    return level


def equality(people: FloatArray, rows: FloatArray) -> NDArray[np.uint8]:
    """Return the level of agreement in a column of categories: the best one if they are equal, or else the worst.

    Parameters
    ----------
    people : array of shape (m,)
        Values of people.
    rows : array of shape (n,)
        Values of rows.

    Examples
    --------
    >>> equality(np.array([1.0]), np.array([1.0, 2.0]))
    array([[0, 4]], dtype=uint8)
    """
    worst = np.uint8(_EDGES.size)
    return np.where(people[:, None] != rows[None, :], worst, np.uint8(0))


def rareness(people: FloatArray, rows: FloatArray) -> FloatArray:
    """Return how much more an agreement on each person's category tells than one on a usual category (Winkler).

    Parameters
    ----------
    people : array of shape (m,)
        Values of people.
    rows : array of shape (n,)
        Values of rows.

    Returns
    -------
    array of shape (m,)
        log of (share of agreements in the column / share of the rows that have the person's value).

    Examples
    --------
    >>> rareness(np.array([1.0, 2.0]), np.array([1.0, 1.0, 1.0, 2.0])).round(2)
    array([-0.41,  0.69])
    """
    values, counts = np.unique(rows, return_counts=True)
    place = np.searchsorted(values, people).clip(0, len(values) - 1)
    share = np.where(values[place] == people, counts[place], 1) / len(rows)
    return np.asarray(np.log(share.mean()) - np.log(share), dtype=np.float64)


def agreement_weights(levels: NDArray[np.uint8]) -> FloatArray:
    """Return the weight of every level of agreement of every column.

    Parameters
    ----------
    levels : array of shape (d, m, n)
        Levels of agreement of people with all rows, of which one each is the right one.

    Returns
    -------
    array of shape (d, number of levels)
        log of (probability among links / probability among others).

    Examples
    --------
    >>> weights = agreement_weights(np.array([[[0, 4, 4], [4, 0, 4]]], dtype=np.uint8))
    >>> bool(weights[0, 0] > weights[0, 4])
    True
    """
    d, people, rows = levels.shape
    count = _EDGES.size + 1
    others = np.stack([np.bincount(levels[j].reshape(-1), minlength=count) for j in range(d)]) + 0.5
    others = others / others.sum(axis=1, keepdims=True)
    links = np.tile(_EXPECTED, (d, 1))
    if rows > (kept := max(_FEWEST, _PAIRS // (people * d))):
        # the row that a person is stands among those that agree best at first sight: the others need no second one
        first = np.zeros((people, rows), dtype=np.float32)
        for j in range(d):
            first -= np.log(links[j] / others[j]).astype(np.float32)[levels[j]]
        best = np.sort(np.argpartition(first, kept, axis=1)[:, :kept], axis=1)
        levels, rows = np.take_along_axis(levels, best[None], axis=2), kept
    for _ in range(_ROUNDS):
        weights = np.log(links / others)
        score = np.zeros((people, rows))
        for j in range(d):
            score += weights[j][levels[j]]
        share = np.exp(score - score.max(axis=1, keepdims=True))
        share /= share.sum(axis=1, keepdims=True)  # every person is exactly one row
        for j in range(d):
            counted = np.bincount(levels[j].reshape(-1), weights=share.reshape(-1), minlength=count) + 0.05
            links[j] = counted / counted.sum()
    return np.asarray(np.log(links / others), dtype=np.float64)


class FellegiSunter(Attack):
    """Link by weighted agreement of columns, weights estimated from the data alone; rare categories count more.

    Examples
    --------
    >>> from sfumato.attack import run_attack
    >>> draw = np.random.default_rng(0)
    >>> table = draw.normal(size=(100, 5))
    >>> run_attack(FellegiSunter(), table, table + 0.1 * draw.normal(size=table.shape)).rate > 0.8
    True
    """

    entry = entry("fellegi-sunter")

    def objection(self, knowledge: Knowledge) -> str | None:
        """Return a reason when columns do not correspond."""
        return needs_same_columns(knowledge)

    def run(self, knowledge: Knowledge, deadline: Deadline) -> Guess:
        """Return the rows of largest weight."""
        assert knowledge.records is not None
        assert knowledge.marginals is not None
        people = standardise(knowledge.records, knowledge.marginals.mean, knowledge.marginals.sd)
        released = knowledge.released
        rows = standardise(released, released.mean(axis=0), released.std(axis=0))
        columns = range(knowledge.n_columns)
        exact = np.zeros(knowledge.n_columns, dtype=np.bool_)
        if knowledge.kinds is not None:
            exact = knowledge.kinds.categories | knowledge.kinds.kept
        people = np.where(exact, knowledge.records, people)
        rows = np.where(exact, released, rows)

        def levels(part: slice, j: int) -> NDArray[np.uint8]:
            return (equality if exact[j] else agreement)(people[part, j], rows[:, j])

        few = max(5, _PAIRS // (knowledge.n_rows * knowledge.n_columns))
        weights = agreement_weights(np.stack([levels(slice(few), j) for j in columns]))
        rare = {j: rareness(people[:, j], rows[:, j]) for j in columns if exact[j]}
        deadline.check()

        def cost(part: slice) -> FloatArray:
            total = np.zeros((len(people[part]), len(rows)))
            for j in columns:
                found = levels(part, j)
                total -= weights[j][found]
                if j in rare:
                    total -= np.where(found == 0, rare[j][part][:, None], 0.0)
            return total

        return link_best(len(people), len(rows), cost, deadline)
