"""What k-means finds on an original: kept for a while, because several scalings and releases are held against it."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import partial
from typing import Any

from sfumato.auditing.utility.clusterings import Found, kmeans_from
from sfumato.auditing.utility.luck import likeliest
from sfumato.auditing.utility.optima import Optima, Table, optima_plan
from sfumato.core.plans import Plan, Task

_MOST_KNOWN, _MOST_CELLS = 128, 20_000_000
_known: dict[tuple[Any, ...], tuple[Optima, Found]] = {}
_keeping = threading.Lock()


def original_optima(
    table: Table, k: int, starts: int, seeds: tuple[int, int], tries: int, begun: Optima | None = None
) -> Plan[tuple[Optima, Found]]:
    """Return the plan of the optima of an original, and the one that is found most often, at its fixed point.

    They are kept in the process for a while: several scalings and several releases are held against them.

    Parameters
    ----------
    table, k, starts, seeds, begun
        See `optima_plan`.
    tries : int
        Starts of a miner.
    """
    asked = (table.digest, k, starts, seeds, tries)
    found = _known.get(asked)
    if found is None:
        optima = yield from optima_plan(table, k, starts, seeds, begun=begun)
        often = partial(kmeans_from, table.points, optima.centres[likeliest(optima, tries)])
        found = optima, (yield [Task(10.0 * table.points.size * k, often)])[0]
        learn_optima([(asked, found)])
    return found


def known_optima() -> list[tuple[Any, ...]]:
    """Return what is known of originals, to be learnt by another process."""
    with _keeping:
        return list(_known.items())


def learn_optima(known: Sequence[tuple[Any, ...]]) -> None:
    """Keep what has been found of originals, for a while.

    Parameters
    ----------
    known : sequence
        Of `known_optima`.
    """
    with _keeping:
        for asked, found in known:
            while _known and (len(_known) >= _MOST_KNOWN or sum(map(_cells, _known.values())) > _MOST_CELLS):
                _known.pop(next(iter(_known)))
            _known[asked] = found


def _cells(kept: tuple[Optima, Found]) -> int:
    return sum(labels.size for labels in kept[0].labels)
