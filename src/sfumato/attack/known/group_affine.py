"""A linear map of its own in each group of rows: known rows that stand together agree on one map after the other.

They may stand together in the table or in the file, every so many rows, or with one released value (`group_keys`).
"""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from sfumato.attack.catalogue import entry
from sfumato.attack.engine.decimals import snap
from sfumato.attack.engine.interface import Attack, Deadline, NothingFoundError, needs_known_rows
from sfumato.attack.engine.knowledge import FloatArray, Guess, IntArray, Knowledge, guess_values
from sfumato.attack.engine.transforms import own_scale
from sfumato.attack.known.group_keys import spread_groups, windows

MOST_ROWS = 1_000
_CLOSE = (0.02, 0.05, 0.1)  # standard deviations within which known rows agree with a map, as little noise as possible
_ENOUGH = 0.8  # share of the known rows that agree with some map, without which more noise is tried
_FAR_MORE = 1.2
_MOST_TURNED = 40  # columns of which rotations are tried
_SPARE = 3  # rows that must agree with a map beyond those that determine it


def _design(table: FloatArray) -> FloatArray:
    return np.column_stack([table, np.ones(len(table))])


def rigid_maps(released: FloatArray, original: FloatArray) -> FloatArray:
    """Return for several groups of rows the rotation, shift and scaling that turn released rows into originals best.

    Parameters
    ----------
    released, original : arrays of shape (groups, m, d)
        Rows of each group.

    Returns
    -------
    array of shape (groups, d + 1, d)
        Linear maps of rows with a 1 behind each.

    Examples
    --------
    >>> rows = np.random.default_rng(0).normal(size=(1, 4, 2))
    >>> rigid_maps(rows * 2 + 5, rows).round(6)[0, 0, 0]
    np.float64(0.5)
    """
    centres = released.mean(axis=1, keepdims=True), original.mean(axis=1, keepdims=True)
    a, b = released - centres[0], original - centres[1]
    left, stretch, right = np.linalg.svd(a.transpose(0, 2, 1) @ b)
    scale = stretch.sum(axis=1) / np.maximum((a**2).sum(axis=(1, 2)), 1e-300)
    turn = left @ right * scale[:, None, None]
    return np.concatenate([turn, centres[1] - centres[0] @ turn], axis=1)


def solved_map(released: FloatArray, original: FloatArray) -> FloatArray:
    """Return the linear map that a group of rows tells, a rotation where they are too few for any other.

    Parameters
    ----------
    released : array of shape (m, e)
        Rows of the group.
    original : array of shape (m, d)
        Their originals.

    Returns
    -------
    array of shape (e + 1, d)
        The map of rows with a 1 behind each.

    Examples
    --------
    >>> rows = np.arange(5.0)[:, None]
    >>> solved_map(rows, 2 * rows + 1).round(6)
    array([[2.],
           [1.]])
    """
    if len(released) < min(released.shape[1], original.shape[1]) + 1 + _SPARE and released.shape == original.shape:
        return np.asarray(rigid_maps(released[None], original[None])[0])
    return np.asarray(np.linalg.lstsq(_design(released), original, rcond=None)[0])


def rows_of_a_map(released: FloatArray, original: FloatArray) -> int:
    """Return how many rows determine a linear map, and one more.

    Examples
    --------
    >>> rows_of_a_map(np.ones((9, 2)), np.ones((9, 3)))
    4
    """
    return int(min(released.shape[1], original.shape[1])) + 2


def group_maps(
    released: FloatArray, original: FloatArray, close: tuple[float, ...] = _CLOSE, more: IntArray | None = None
) -> IntArray:
    """Return which known rows share a linear map: the number of the map, -1 for none.

    Parameters
    ----------
    released : array of shape (m, e)
        Known rows, scaled.
    original : array of shape (m, d)
        Their originals, scaled.
    close : tuple of float
        How far, in the mean of squares over the columns, a row may be from what the map makes of it: the first that
        most rows hold, else the one that more rows hold by far. Default: 0.02, 0.05, 0.1.
    more : array of shape (sets, size), optional
        Further sets of known rows that may share a map; None: only those that are near one another.

    Returns
    -------
    array of shape (m,)
        The largest group is number 0.

    Examples
    --------
    >>> draw = np.random.default_rng(0)
    >>> rows = np.vstack([draw.normal(size=(20, 2)), draw.normal(size=(15, 2)) + 9])
    >>> turned = np.vstack([rows[:20] * -2, rows[20:] + 5])
    >>> np.bincount(group_maps(turned, rows)).tolist()
    [20, 15]
    """
    (m, e), d = released.shape, original.shape[1]
    needed, size = min(e, d) + 1, rows_of_a_map(released, original)
    found = np.full(m, -1, dtype=np.int64)
    if m < size + _SPARE:
        return found
    # whoever is near in the original or in the release belongs to the same group more often than not
    seeds = np.vstack([cKDTree(table).query(table, k=size)[1] for table in (released, original)])
    seeds = seeds if more is None else np.concatenate([seeds, more])
    design = _design(released)
    maps, fewest = [np.linalg.pinv(design[seeds], rcond=1e-9) @ original[seeds]], needed + _SPARE
    if e == d <= _MOST_TURNED:  # a rotation is known from fewer rows, and noise does it less harm
        half = max(3, needed // 2)
        maps += [rigid_maps(released[some], original[some]) for some in (seeds, seeds[:, :half])]
        fewest = min(fewest, half + _SPARE)

    def errors(one: FloatArray) -> FloatArray:
        return np.asarray(((design @ one - original) ** 2).mean(axis=1))

    apart = np.stack([errors(one) for several in maps for one in several])
    for limit in close:
        tried, free = np.full(m, -1, dtype=np.int64), np.ones(m, dtype=np.bool_)
        agree = apart <= limit**2
        for number in range(m):
            inside = agree[int((agree & free).sum(axis=1).argmax())] & free
            for _ in range(3):  # what agrees with the map of those who agree
                if inside.sum() >= fewest:
                    inside = (errors(solved_map(released[inside], original[inside])) <= limit**2) & free
            if inside.sum() < fewest:
                break
            tried[inside] = number
            free &= ~inside
        if (tried >= 0).sum() > _FAR_MORE * (found >= 0).sum():
            found = tried
        if (found >= 0).mean() >= _ENOUGH:
            break
    return found


class GroupAffine(Attack):
    """Solve one linear map after the other from known rows that stand together, and use that of whoever is most alike.

    Examples
    --------
    >>> from sfumato.attack import run_attack
    >>> draw = np.random.default_rng(0)
    >>> table = np.vstack([draw.normal(size=(200, 2)), draw.normal(size=(200, 2)) + 9])
    >>> released = np.vstack([table[:200] @ [[0, 1], [-1, 0]], table[200:] * [-1, 3] + 60])
    >>> run_attack(GroupAffine(), table, released).rate > 0.95
    True
    """

    entry = entry("group-affine")

    def objection(self, knowledge: Knowledge) -> str | None:
        """Return a reason when there are too few known rows for a single map."""
        needed = min(knowledge.released.shape[1], knowledge.n_columns) + 2 + _SPARE
        return needs_known_rows(knowledge, needed)

    def run(self, knowledge: Knowledge, deadline: Deadline) -> Guess:
        """Return target rows, each mapped back by the map of the nearest known row that has one."""
        assert knowledge.pairs is not None
        deadline.check()
        rows, values = knowledge.pairs.rows[:MOST_ROWS], knowledge.pairs.values[:MOST_ROWS]
        scaled = knowledge.released - knowledge.released.mean(axis=0)
        scaled = scaled / max(float(scaled.std()), 1e-300)  # columns keep their proportions, and rotations their angles
        own, spread = own_scale(values), np.where(values.std(axis=0) > 0, values.std(axis=0), 1.0)
        size = rows_of_a_map(scaled, own)
        groups = group_maps(scaled[rows], own, more=windows(rows, scaled, size) if len(rows) >= size else None)
        if groups.max() < 0:
            raise NothingFoundError("no group of known rows agrees on a linear map")
        has = groups >= 0
        targets = scaled[knowledge.targets]
        whose = spread_groups(groups[has], rows[has], knowledge.targets, scaled)
        guess = np.empty((len(targets), knowledge.n_columns))
        for number in range(groups.max() + 1):
            inside, asked = groups == number, whose == number
            guess[asked] = _design(targets[asked]) @ solved_map(scaled[rows][inside], own[inside])
        guess = guess * spread + values.mean(axis=0)
        note = f"{int(groups.max()) + 1} maps, {int(has.sum())} of {has.size} known rows agree with one"
        return guess_values(snap(guess, knowledge.decimals), note=note)
