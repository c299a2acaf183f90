"""Which clusterings are asked for: numbers of clusters, names, and the rungs of the ladder."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

from sfumato.cluster.by_name import is_dense, split_name

LADDER = "ladder"
_TOP, _SMALL_TOP, _EXACT_TOP = 20, 12, 8  # of the ladder
_LARGE_TABLE, _ROWS_EACH = 2000, 25  # rows from which the ladder is whole, and that a cluster has on average at least
MANY_ROWS = 1 << 16  # from which rungs are fewer and named with less effort: there each of them takes long
_USUAL_SPREAD, _LADDER_SPREAD, _WHOLE = 0.6, 0.8, 1.0  # many walls hold clusters apart without much shrinking
_PROTOTYPE_RUNGS = ("k-prototypes 3", "k-prototypes 5")


def rungs(n_rows: int, *, categories: bool, exact: bool) -> tuple[Any, ...]:
    """Return the clusterings of the ladder: k-means with every number of clusters that a miner may ask for.

    Parameters
    ----------
    n_rows : int
        Small tables have fewer clusters than large ones; very large ones keep every second number above 12, between
        which the others are kept well enough.
    categories : bool
        Whether to keep k-prototypes, too.
    exact : bool
        Whether every centre must stay exactly: then atoms cannot join one another, and only a few clusterings are kept.

    Examples
    --------
    >>> rungs(500, categories=False, exact=False)[-1], rungs(10**6, categories=True, exact=False)[-4:]
    (12, (18, 20, 'k-prototypes 3', 'k-prototypes 5'))
    """
    top = _EXACT_TOP if exact else max(2, min(_TOP if n_rows >= _LARGE_TABLE else _SMALL_TOP, n_rows // _ROWS_EACH))
    every = [k for k in range(2, top + 1) if k <= _SMALL_TOP or n_rows <= MANY_ROWS or k % 2 == 0]
    return (*every, *(_PROTOTYPE_RUNGS if categories else ()))


def is_count(wanted: Any) -> bool:
    """Tell whether a clustering is given as a number of k-means clusters."""
    return isinstance(wanted, Integral) and not isinstance(wanted, bool)


def count_of_prototypes(wanted: Any) -> int | None:
    """Return the number of clusters of "k-prototypes 3"; None for anything else.

    Examples
    --------
    >>> count_of_prototypes("k-prototypes 3"), count_of_prototypes(3)
    (3, None)
    """
    if not isinstance(wanted, str):
        return None
    name, _, count = wanted.partition(" ")
    return int(count) if name == "k-prototypes" and count.isdecimal() and int(count) > 0 else None


def has_ladder(clusterings: Any) -> bool:
    """Tell whether the ladder is among the clusterings.

    Examples
    --------
    >>> has_ladder("ladder"), has_ladder(["ladder", "ward 5"]), has_ladder([2, 3])
    (True, True, False)
    """
    return isinstance(clusterings, str) or any(isinstance(one, str) and one == LADDER for one in clusterings)


def usual_spread(clusterings: Any) -> float:
    """Return the share of the deviation inside atoms that is kept where nobody says how much.

    Mixtures and densities are found anew in the release, by scatter and distances inside of the clusters: beside the
    ladder, which holds the clusters apart, nothing shrinks then.

    Examples
    --------
    >>> usual_spread([2, 3]), usual_spread("ladder"), usual_spread(["ladder", "hdbscan"])
    (0.6, 0.8, 1.0)
    """
    if not has_ladder(clusterings):
        return _USUAL_SPREAD
    dense = any(isinstance(one, str) and is_dense(one) for one in [clusterings, *clusterings])
    return _WHOLE if dense else _LADDER_SPREAD


def spelled_out(clusterings: Any, every: Sequence[Any]) -> tuple[Any, ...]:
    """Return the clusterings one by one: the rungs instead of the ladder, and "k-means 5" as its number.

    Parameters
    ----------
    every : sequence
        The rungs.
    """
    out: list[Any] = []
    for one in [clusterings] if isinstance(clusterings, str) else clusterings:
        name, number = split_name(one) if isinstance(one, str) else ("", "")
        if name == LADDER:
            out += every
        elif name == "k-means" and number.isdecimal():
            out.append(int(number))
        else:
            out.append(one)
    if not has_ladder(clusterings):
        return tuple(out)
    return tuple(one for at, one in enumerate(out) if not is_count(one) or one not in out[:at])
