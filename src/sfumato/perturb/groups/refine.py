"""Better groups by exchange: two neighbouring groups share out their rows anew.

For two small groups every way to share their rows can be tried, so the scatter within groups can only fall.
Groups are paired inside blocks of near groups, and the blocks are cut at other places in each round, so that
no border stays.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from sfumato._arrays import Flags, Floats, Integers
from sfumato.perturb.groups.group_means import group_means
from sfumato.perturb.groups.kd_blocks import kd_stacks

_BLOCK_GROUPS = 64
_ROUNDS = 4  # in each of them a group meets one neighbour
_MOST_SHARED = 10  # rows of two groups: ten have 252 ways to be shared, twelve already 924


def refine_groups(tile: Floats, groups: Integers) -> Integers:
    """Return groups of the same sizes with a scatter that is smaller or the same.

    Parameters
    ----------
    tile : array of shape (d, n)
        Rows in units of the columns.
    groups : array of shape (n,)
        Group numbers 0, 1, ..., none of them empty.

    Examples
    --------
    >>> line = np.array([[0.0, 1.0, 9.0, 10.0]])
    >>> refine_groups(line, np.array([0, 1, 0, 1])).tolist()
    [0, 0, 1, 1]
    """
    groups = groups.copy()
    n_groups = int(groups.max()) + 1
    if n_groups < 2:
        return groups
    sizes = np.bincount(groups)
    for turn in range(_ROUNDS):
        centres = group_means(tile, groups)
        partner = np.full(n_groups, -1)
        share = (0.5, 0.35, 0.65, 0.42)[turn % 4]
        for _, members, points in kd_stacks(centres, _BLOCK_GROUPS, 1, share=share, width=_BLOCK_GROUPS):
            _pair_up(members, points, turn // 2, partner)
        _share_out(tile, groups, sizes, partner)
    return groups


def _pair_up(members: Integers, points: Floats, rank: int, partner: Integers) -> None:
    """Pair each group with a near one that also wants it; `rank` skips the nearest ones, which were tried.

    Groups and points of a stack of blocks, shapes (blocks, m) and (d, blocks, m).
    """
    blocks, m = members.shape
    gaps, apart = np.zeros((blocks, m, m)), np.empty((blocks, m, m))
    for column in points:
        np.subtract(column[:, :, None], column[:, None, :], out=apart)
        apart *= apart
        gaps += apart
    block, one = np.arange(blocks)[:, None], np.arange(m)
    gaps[:, one, one] = np.inf
    for _ in range(rank):
        nearest = gaps.argmin(axis=2)
        gaps[block, one, nearest] = np.inf
        gaps[block, nearest, one] = np.inf
    for _ in range(4):
        nearest = gaps.argmin(axis=2)
        mutual = (nearest[block, nearest] == one) & np.isfinite(gaps[block, one, nearest]) & (one < nearest)
        where, first = np.nonzero(mutual)
        if len(first) == 0:
            break
        second = nearest[where, first]
        partner[members[where, first]] = members[where, second]
        gaps[where, first], gaps[where, second] = np.inf, np.inf
        gaps[where, :, first], gaps[where, :, second] = np.inf, np.inf


def _share_out(tile: Floats, groups: Integers, sizes: Integers, partner: Integers) -> None:
    """Replace the groups of each pair by the best two groups of their rows, keeping the sizes."""
    by_group = np.argsort(groups, kind="stable")
    starts = np.concatenate([[0], np.cumsum(sizes)])
    firsts = np.flatnonzero(partner >= 0)
    for left, right in _size_pairs(sizes[firsts], sizes[partner[firsts]]):
        first = firsts[(sizes[firsts] == left) & (sizes[partner[firsts]] == right)]
        second = partner[first]
        places = [starts[first] + i for i in range(left)] + [starts[second] + i for i in range(right)]
        rows = by_group[np.array(places)]
        in_first = _best_share(tile, rows, left)
        groups[rows] = np.where(in_first, first, second)


def _size_pairs(left: Integers, right: Integers) -> Iterator[tuple[int, int]]:
    left, right = left[left + right <= _MOST_SHARED], right[left + right <= _MOST_SHARED]
    for code in np.flatnonzero(np.bincount(left * _MOST_SHARED + right)).tolist():
        yield divmod(code, _MOST_SHARED)


def _best_share(tile: Floats, rows: Integers, left: int) -> Flags:
    """Mark the rows of the first group in the best of all shares: shape (rows of a pair, pairs)."""
    together = len(rows)
    gaps: dict[tuple[int, int], Floats] = {}
    for i, j in combinations(range(together), 2):
        apart = tile[:, rows[i]] - tile[:, rows[j]]
        gaps[i, j] = np.add.reduce(apart * apart, axis=0)

    def scatter(members: tuple[int, ...]) -> Floats:
        total = np.zeros(rows.shape[1])
        for pair in combinations(members, 2):
            total += gaps[pair]
        return total / len(members)

    # the present share comes first, so that a tie changes nothing
    shares = [share for share in combinations(range(together), left) if 2 * left != together or share[0] == 0]
    best = np.full(rows.shape[1], np.inf)
    chosen = np.zeros(rows.shape[1], dtype=np.int64)
    for number, share in enumerate(shares):
        rest = tuple(i for i in range(together) if i not in share)
        cost = scatter(share) + scatter(rest)
        better = cost < best
        best = np.where(better, cost, best)
        chosen[better] = number
    marks = np.zeros((len(shares), together), dtype=np.bool_)
    for number, share in enumerate(shares):
        marks[number, list(share)] = True
    return marks[chosen].T
