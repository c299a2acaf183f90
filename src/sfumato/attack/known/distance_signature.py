"""People are recognised by their mutual distances, which rotations and shifts keep; then the map is solved."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sfumato.attack.catalogue import entry
from sfumato.attack.engine.decimals import rounding_error
from sfumato.attack.engine.interface import Attack, Deadline, NothingFoundError, needs_same_columns
from sfumato.attack.engine.knowledge import FloatArray, Guess, IntArray, Knowledge, guess_values
from sfumato.attack.known.affine import apply_affine, fit_affine

MOST_ROWS = 30_000
CELLS = 4_000_000


def recognise(people: FloatArray, rows: FloatArray, tolerance: float, deadline: Deadline) -> IntArray | None:
    """Return rows whose mutual distances equal those of the people, by backtracking.

    Parameters
    ----------
    people : array of shape (m, d)
        Known records, all different.
    rows : array of shape (n, e)
        Released rows.
    tolerance : float
        Distances that differ by less are equal.
    deadline : Deadline
        Told of every block of rows and every branch.

    Returns
    -------
    array of shape (m,) or None
        One row per person, or None when no rows fit.

    Examples
    --------
    >>> from sfumato.attack.engine.interface import Deadline
    >>> corners = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 1.0]])
    >>> recognise(corners, np.array([[9.0, 9.0], [5.0, 5.0], [5.0, 8.0], [4.0, 5.0]]), 1e-9, Deadline()).tolist()
    [1, 2, 3]
    """
    between = np.linalg.norm(people[:, None] - people[None], axis=2)
    # begin with the farthest two: large distances are rare among the rows
    first, second = (int(index) for index in np.unravel_index(between.argmax(), between.shape))
    rest = [k for k in np.argsort(-between[first]).tolist() if k not in {first, second}]
    order = [first, second, *rest]
    for i, j in _pairs_at(rows, float(between[first, second]), tolerance, deadline):
        found = _extend(rows, between, order, [i, j], tolerance, deadline)
        if found is not None:
            placed = np.empty(len(people), dtype=np.int64)
            placed[order] = found
            return placed
    return None


def _pairs_at(rows: FloatArray, distance: float, tolerance: float, deadline: Deadline) -> Iterator[tuple[int, int]]:
    """Yield ordered pairs of rows at a distance."""
    lengths = (rows**2).sum(axis=1)
    # squared distances by a product lose digits: a wide net first, then the exact distance
    net = 2 * distance * tolerance + 1e-12 * float(lengths.max()) * 64
    size = max(1, CELLS // len(rows))
    for begin in range(0, len(rows), size):
        deadline.check(size * (len(rows) - begin))
        block = rows[begin : begin + size]
        later = rows[begin:]  # the other half of the pairs is the same
        squares = block @ (-2 * later.T)
        squares += lengths[begin:]
        squares += lengths[begin : begin + size, None] - distance**2
        np.abs(squares, out=squares)
        near = np.argwhere(squares <= net)
        exact = np.linalg.norm(block[near[:, 0]] - later[near[:, 1]], axis=1)
        for i, j in near[np.abs(exact - distance) <= tolerance].tolist():
            yield begin + i, begin + j
            yield begin + j, begin + i


def _extend(
    rows: FloatArray, between: FloatArray, order: list[int], placed: list[int], tolerance: float, deadline: Deadline
) -> list[int] | None:
    """Place the next person where all distances to those already placed fit; go back when there is no place."""
    if len(placed) == len(order):
        return placed
    deadline.check(rows.size)
    person = order[len(placed)]
    fits = np.ones(len(rows), dtype=np.bool_)
    for other, row in zip(order, placed, strict=False):
        open_rows = np.flatnonzero(fits)
        distances = np.linalg.norm(rows[open_rows] - rows[row], axis=1)
        fits[open_rows] = np.abs(distances - between[other, person]) <= tolerance
        if not fits.any():
            return None
    for row in np.flatnonzero(fits).tolist():
        if row not in placed:
            found = _extend(rows, between, order, [*placed, row], tolerance, deadline)
            if found is not None:
                return found
    return None


class DistanceSignature(Attack):
    """Find known people by their mutual distances, then solve the map from the rows that were found.

    Examples
    --------
    >>> from sfumato.attack import run_attack
    >>> table = np.random.default_rng(0).normal(size=(80, 3))
    >>> turn = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
    >>> run_attack(DistanceSignature(), table, table @ turn + 4).rate
    1.0
    """

    entry = entry("distances")

    def objection(self, knowledge: Knowledge) -> str | None:
        """Return a reason when there are too few people or too many rows."""
        assert knowledge.records is not None
        different = len(np.unique(knowledge.records, axis=0))
        if different < knowledge.n_columns + 1:
            return f"needs {knowledge.n_columns + 1} different known people, {different} are known"
        if knowledge.n_rows > MOST_ROWS:
            return f"all pairs of rows are compared: at most {MOST_ROWS} rows"
        return needs_same_columns(knowledge)

    def run(self, knowledge: Knowledge, deadline: Deadline) -> Guess:
        """Return the target rows mapped back."""
        assert knowledge.records is not None
        people = np.unique(knowledge.records, axis=0)
        released = knowledge.released
        # the error of a distance is at most that of all columns together, at both ends
        rounding = np.array([rounding_error(column) for column in released.T])
        tolerance = 2 * float(np.linalg.norm(rounding)) + 1e-9 * float(np.linalg.norm(np.ptp(people, axis=0)))
        if tolerance > 0.02 * float(np.linalg.norm(people.std(axis=0))):
            raise NothingFoundError("the release is rounded too coarsely to recognise distances")
        found = recognise(people, released, tolerance, deadline)
        if found is None:
            raise NothingFoundError("no rows have the mutual distances of the known people")
        matrix = fit_affine(released[found], people)
        note = f"{len(people)} people were recognised"
        return guess_values(apply_affine(matrix, released[knowledge.targets]), note=note)
