"""Rows that were clipped at a cell's border towards their originals keep a fixed share of the distance to it."""

from __future__ import annotations

import numpy as np

from sfumato.attack.atoms.atom_linking import cells, link_cells
from sfumato.attack.catalogue import entry
from sfumato.attack.engine.interface import Attack, Deadline, needs_same_columns
from sfumato.attack.engine.knowledge import FloatArray, Guess, IntArray, Knowledge

#: share of the way to the border that a guard goes, where it is not public
FACTOR = 0.97
#: a ratio this close to the constant counts as clipped
CLOSE = 1e-3


def slack_ratio(person: FloatArray, row: FloatArray) -> FloatArray:
    """Return the smallest ratio of a row's slack to a person's, over the halfspaces of a cell.

    Parameters
    ----------
    person : array of shape (m, h)
        Slacks of people; those on a border of their own cell tell nothing there.
    row : array of shape (r, h)
        Slacks of released rows.

    Returns
    -------
    array of shape (m, r)

    Examples
    --------
    >>> slack_ratio(np.array([[1.0, 2.0]]), np.array([[0.5, 0.06], [3.0, 3.0]]))
    array([[0.03, 1.5 ]])
    """
    safe = np.where(person > 0, person, np.nan)
    with np.errstate(invalid="ignore"):
        ratio = np.fmin.reduce(row[None, :, :] / safe[:, None, :], axis=2)
    return np.where(np.isnan(ratio), np.inf, ratio)


class ClipSlack(Attack):
    """Link people to the rows of their own atom whose slack is the constant share of theirs, else to the nearest.

    A guard that goes 97 % of the way from x to the border leaves slack(y) = 0.03 slack(x) at that border. Clipping
    from the atom's mean leaves a share of the mean's slack instead, which is the same for everybody.

    Examples
    --------
    >>> from sfumato.attack import run_attack
    >>> draw = np.random.default_rng(0)
    >>> half = np.abs(draw.normal(size=(150, 3)))
    >>> table = np.vstack([half, half * [-1, 1, 1]])  # two mirrored clusters: the border is where column 0 is 0
    >>> pulled = np.column_stack([0.03 * table[:, 0], draw.normal(size=(300, 2))])
    >>> run_attack(ClipSlack(), table, pulled, labels={2: table[:, 0] > 0}).rate > 0.9
    True
    """

    entry = entry("clip-slack")

    def objection(self, knowledge: Knowledge) -> str | None:
        """Return a reason when columns do not correspond or there is no clustering."""
        assert knowledge.clusterings is not None
        return needs_same_columns(knowledge) or (None if knowledge.clusterings.centres else "there are no clusters")

    def run(self, knowledge: Knowledge, deadline: Deadline) -> Guess:
        """Return the rows that were clipped from the known people."""
        assert knowledge.records is not None
        assert knowledge.clusterings is not None
        named = knowledge.clusterings
        people, released = named.place(knowledge.records), knowledge.released
        kept = 1.0 - knowledge.number("factor", FACTOR)
        halfspaces = sum(len(centres) - 1 for centres in named.centres)

        held = cells(knowledge)

        def cost(position: int, part: IntArray) -> FloatArray:
            cell = held[position]
            rows = named.place(released[cell.rows])
            ratio = slack_ratio(named.slacks(people[part], cell.code), named.slacks(rows, cell.code))
            clipped = np.abs(ratio - kept) <= CLOSE * kept
            lengths = (rows**2).sum(axis=1)
            distance = np.abs((people[part] ** 2).sum(axis=1)[:, None] + lengths - 2 * people[part] @ rows.T)
            found = clipped.any(axis=1, keepdims=True)
            return np.where(clipped | ~found, distance, np.inf)

        return link_cells(len(people), held, cost, deadline, width=halfspaces + 2)
