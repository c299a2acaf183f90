"""Asks the named clusterers about a draw: whoever runs one of them on the release should find its clusters.

A tree of merges or a density turns on single rows, and of several draws some are found as they should and some are
not. The libraries do not compute the same bits on every machine, so the answer is found once, where the rows have been
merged, and travels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sfumato._arrays import Floats
from sfumato.cluster.by_name import find_labels, read_clusterer
from sfumato.cluster.lattice_kmeans import other_labels
from sfumato.core.passes import ask
from sfumato.core.summaries import Concluded, Summary
from sfumato.perturb.guard.named import Named
from sfumato.perturb.mechanism.collected import Collected

ASKED_ROWS = 6_000  # of larger tables one draw is taken as it comes
SOME_DRAWS = 4  # that are tried on tables for which k-means is not asked
_SEED = 1


class Refound:
    """Counts the labels that clusterers give otherwise on a release.

    Parameters
    ----------
    named : Named
        Its trees say which clusterers, and what they find in the original.
    n_rows : int
        Rows of the table.
    """

    def __init__(self, named: Named, n_rows: int) -> None:
        few = n_rows <= ASKED_ROWS
        self._named, self._n_rows = named, n_rows
        self._trees = tuple(tree for tree in named.marks if tree.name and few and _takes(tree.name, n_rows))

    def __bool__(self) -> bool:
        return bool(self._trees)

    def wrong(self, original: Floats, released: Floats) -> float:
        """Return the share of labels that are found otherwise, mean over the clusterers.

        Parameters
        ----------
        original, released : arrays of shape (d, n)
            All rows, in the space.
        """
        steps, rows = self._named.space.steps(original), np.ascontiguousarray(released.T)
        rates = []
        for tree in self._trees:
            try:
                found = find_labels(tree.name, rows, _SEED, self._n_rows)
                rates.append(other_labels(tree.whole(steps), found - min(0, int(found.min(initial=0)))))
            except (ValueError, ArithmeticError, np.linalg.LinAlgError):
                rates.append(1.0)
        return float(np.mean(rates)) if rates else 0.0


def collect_and_ask(collected: Collected, work: Callable[[Collected], list[float]] | None) -> Any:
    """Yield a pass that collects rows; return it filled, and what was made of it once.

    Parameters
    ----------
    collected : Collected
    work : callable, optional
        None makes nothing.
    """
    if work is None:
        return (yield from ask(collected)), []

    def made(parts: list[Summary]) -> list[float]:
        (filled,) = parts
        assert isinstance(filled, Collected)
        return work(filled)

    filled = yield from ask(Concluded([collected], made))
    return filled.parts[0], filled.found


def _takes(name: str, n_rows: int) -> bool:
    return read_clusterer(name)[0].most_rows >= n_rows
