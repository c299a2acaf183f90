"""Data stand on a decimal grid: the step of the released grid tells factors, whole squared lengths tell angles."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from sfumato.attack.catalogue import entry
from sfumato.attack.engine.interface import Attack, Deadline, NothingFoundError, needs_same_columns
from sfumato.attack.engine.knowledge import FloatArray, Guess, Knowledge, guess_values

MOST_ROWS, MOST_VALUES = 50_000, 3000
_EPS = float(np.finfo(np.float64).eps)


def find_step(values: FloatArray) -> float | None:
    """Return the step s such that all values are whole multiples of s, or None.

    Parameters
    ----------
    values : array of shape (n,)
        A released column.

    Returns
    -------
    float or None
        The largest such step; None when the values stand on no grid through 0.

    Examples
    --------
    >>> round(find_step(np.array([3.0, 4.0, 9.0]) * 0.94), 6)
    0.94
    >>> find_step(np.array([1.0, np.sqrt(2.0), np.pi])) is None
    True
    """
    largest = float(np.abs(values).max(initial=0.0))
    sizes = np.unique(np.abs(values[:MOST_ROWS]))[:MOST_VALUES]
    noise = 1e5 * _EPS * largest
    sizes = sizes[sizes > noise]
    if sizes.size == 0:
        return None
    step = 0.0
    # differences of neighbours are small multiples of the step: Euclid ends early and errors stay small
    for gap in np.sort(np.append(np.diff(sizes), sizes[0])):
        if gap <= noise:
            continue
        a, b = max(step, float(gap)), min(step, float(gap))
        while b > noise:
            a, b = b, abs(a - b * round(a / b))
        step = a
    if step <= 100 * noise:
        return None
    product = square = 0.0
    for value in sizes.tolist():  # from small to large multiples: each sharpens the step for the next
        multiple = round(value / step)
        product, square = product + value * multiple, square + multiple * multiple
        step = product / square
    off = np.abs(values - np.round(values / step) * step)
    return step if float(off.max()) < 1e-6 * step + 64 * _EPS * largest else None


def find_rotation(points: FloatArray) -> FloatArray | None:
    """Return the rotation that brings planar points back to whole numbers, or None.

    Parameters
    ----------
    points : array of shape (n, 2)
        Whole-numbered points after a rotation about the origin.

    Returns
    -------
    array of shape (2, 2) or None
        ``points @ matrix`` is whole; known up to quarter turns.

    Examples
    --------
    >>> turn = np.array([[0.8, -0.6], [0.6, 0.8]])
    >>> back = find_rotation(np.array([[3.0, 1.0], [2.0, 7.0], [5.0, 4.0]]) @ turn)
    >>> (np.array([[3.0, 1.0], [2.0, 7.0], [5.0, 4.0]]) @ turn @ back).round(6) % 1
    array([[0., 0.], [0., 0.], [0., 0.]])
    """
    squares = (points**2).sum(axis=1)
    tolerance = 1e-7 + 64 * _EPS * float(squares.max())
    if tolerance > 0.01 or float(np.abs(squares - np.round(squares)).max()) > tolerance:
        return None
    off_origin = np.flatnonzero(squares > 0.5)
    if off_origin.size == 0:
        return None
    first = off_origin[squares[off_origin].argmin()]
    total = round(float(squares[first]))
    across = np.arange(0, int(np.sqrt(total)) + 1, dtype=np.int64)
    up = np.sqrt((total - across**2).astype(np.float64))
    whole = np.abs(up - np.round(up)) < 1e-9 * max(1.0, float(up.max()))
    for a, b in zip(across[whole].astype(float), np.round(up[whole]), strict=True):
        # the rotation that takes the shortest point to (a, b), written for complex numbers
        turn = complex(a, b) / complex(points[first, 0], points[first, 1])
        back = np.array([[turn.real, turn.imag], [-turn.imag, turn.real]])
        turned = points @ back
        if float(np.abs(turned - np.round(turned)).max()) < 1e-6 + 256 * _EPS * float(np.abs(turned).max()):
            return back
    return None


class Lattice(Attack):
    """Undo scalings, and rotations of two whole-numbered columns, without knowing anybody.

    Examples
    --------
    >>> from sfumato.attack import run_attack
    >>> table = np.random.default_rng(0).integers(1, 90, size=(80, 2)).astype(float)
    >>> run_attack(Lattice(), table, table * [0.937, 1.21]).rate
    1.0
    """

    entry = entry("lattice")

    def objection(self, knowledge: Knowledge) -> str | None:
        """Return a reason when cells do not correspond or no column has decimals."""
        if knowledge.decimals is None or all(places is None for places in knowledge.decimals):
            return "no original column is known to stand on a decimal grid"
        return needs_same_columns(knowledge)

    def run(self, knowledge: Knowledge, deadline: Deadline) -> Guess:
        """Return the grid values of the target rows, NaN in columns without a grid."""
        assert knowledge.decimals is not None
        targets = knowledge.targets
        values = np.full((4, targets.size, knowledge.n_columns), np.nan)
        scaled: list[int] = []
        for column, places in enumerate(knowledge.decimals):
            deadline.check()
            found = None if places is None else _unscale(knowledge.released[:, column], places)
            if found is not None:
                values[:, :, column] = found[targets]
                scaled.append(column)
        turned, ties = self._turn_back(knowledge, scaled, values, deadline)
        if not scaled and not turned:
            raise NothingFoundError("no released column stands on a grid that tells its factor")
        note = f"{len(scaled)} columns by their step, {turned} pairs of columns by their lengths"
        return guess_values(values if ties else values[0], note=note)

    @staticmethod
    def _turn_back(knowledge: Knowledge, scaled: list[int], values: FloatArray, deadline: Deadline) -> tuple[int, bool]:
        """Fill in pairs of rotated columns; return how many, and whether a quarter turn stays open."""
        assert knowledge.decimals is not None
        free = [j for j, places in enumerate(knowledge.decimals) if places is not None and j not in scaled]
        done: set[int] = set()
        ties = False
        for i, j in combinations(free, 2):
            deadline.check()
            places = knowledge.decimals[i]
            if places is None or places != knowledge.decimals[j] or {i, j} & done:
                continue
            back = find_rotation(knowledge.released[:, [i, j]] * 10.0**places)
            if back is None:
                continue
            whole = np.round(knowledge.released[:, [i, j]] * 10.0**places @ back)
            quarter = np.array([[0.0, 1.0], [-1.0, 0.0]])
            turns = [whole @ np.linalg.matrix_power(quarter, k) for k in range(4)]
            # most data are not negative: then one quarter turn is left
            positive = [turn for turn in turns if (turn >= 0).all()]
            choices = positive if len(positive) == 1 else turns
            ties = ties or len(choices) > 1
            for k in range(4):
                values[k][:, [i, j]] = choices[k % len(choices)][knowledge.targets] / 10.0**places
            done |= {i, j}
        return len(done) // 2, ties


def _unscale(column: FloatArray, places: int) -> FloatArray | None:
    step = find_step(column)
    if step is None:
        return None
    power = np.log10(step)
    if abs(power - round(power)) < 1e-9:
        # a power of ten is the rounding of the release, not a factor
        return np.array(column) if round(power) >= -places else None
    return np.asarray(np.round(column / step) / 10.0**places, dtype=np.float64)
