"""Linkage inside atoms: a known person is compared with the released rows that share their labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sfumato.attack.atoms.regions import Atoms, atoms_of
from sfumato.attack.engine.knowledge import FloatArray, Guess, IntArray, Knowledge, guess_links

if TYPE_CHECKING:
    from sfumato.attack.engine.interface import Deadline

CELLS = 1_000_000


@dataclass(frozen=True, eq=False)
class Cell:
    """One atom with its known people and released rows.

    Parameters
    ----------
    code : array of shape (number of clusterings,)
    people : array of shape (m,)
        Positions among the known people.
    rows : array of shape (r,)
        Rows of the release.
    """

    code: IntArray
    people: IntArray
    rows: IntArray


def cells(knowledge: Knowledge) -> list[Cell]:
    """Return the atoms that hold known people, by the nearest named centres of the people and of the released rows.

    Parameters
    ----------
    knowledge : Knowledge
        With records and clusterings; published labels replace the nearest centres of the released rows.

    Returns
    -------
    list of Cell
        People whose atom holds no released row are in none.
    """
    assert knowledge.records is not None
    assert knowledge.clusterings is not None
    named = knowledge.clusterings
    codes = named.codes(knowledge.released) if knowledge.labels is None else knowledge.labels
    atoms: Atoms = atoms_of(codes)
    of_person = atoms.find(named.codes(knowledge.records))
    order = np.argsort(atoms.of_row, kind="stable")
    rows = np.split(order, np.cumsum(atoms.sizes)[:-1])
    return [
        Cell(atoms.codes[atom], np.flatnonzero(of_person == atom), rows[atom])
        for atom in np.unique(of_person[of_person >= 0])
    ]


def link_cells(
    people: int,
    held: list[Cell],
    cost: Callable[[int, IntArray], FloatArray],
    deadline: Deadline,
    *,
    width: int = 1,
    note: str = "",
) -> Guess:
    """Return for every person the rows of least cost in their own atom, equal ones together.

    Parameters
    ----------
    people : int
        How many are known.
    cost : callable
        Takes the position of a cell in `held` and some of its people, returns an array of shape
        (those people, rows of the cell).
    deadline : Deadline
        When the work is used up, the remaining people get no answer.
    width : int, optional
        Numbers that the cost computes for each pair: memory is kept below some megabytes of them.
    note : str, optional

    Returns
    -------
    Guess
        Links; incomplete when the work was used up.
    """
    candidates = [np.empty(0, dtype=np.int64)] * people
    for position, cell in enumerate(held):
        size = max(1, CELLS // max(1, len(cell.rows) * width))
        for begin in range(0, len(cell.people), size):
            if deadline.expired:
                return guess_links(candidates, complete=False, note="the work did not suffice for everybody")
            part = cell.people[begin : begin + size]
            deadline.spend(len(part) * len(cell.rows) * width)
            table = cost(position, part)
            least = table.min(axis=1, keepdims=True)
            equal = table <= least + 1e-9 * (1 + np.abs(least))
            for person, row in zip(part, equal, strict=True):
                candidates[person] = cell.rows[row]
    return guess_links(candidates, note=note)
