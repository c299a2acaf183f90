"""Two tables in every view in which rows of one may be recognised in the other, and what no copies look like."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from sfumato._arrays import Floats, Integers
from sfumato.attack.engine.registration import laid_upon_best
from sfumato.attack.engine.shapes import how_often, near_distances, words_for_shapes
from sfumato.attack.engine.transforms import ROW_VIEWS, from_row_means, own_scale
from sfumato.attack.linkage.twins import count_twins, nearest_pairs
from sfumato.cluster.weighted_kmeans import weighted_kmeans, weighted_starts
from sfumato.core.sharing import share

_ROUNDS, _FEWEST = 100, 8  # of k-means; rows of a group, of which smaller ones are put together
_PARTS = 3  # views of some columns only: whoever was copied but for a few cells
_TURNED = ("as it is", "normal scores")  # words after which groups of rows may have been turned
_MOST_NEAR, _FEW_NEAR = 4_000, 2_000  # rows beyond which some are looked at first, and how many
_SUSPECT = 0.05  # how likely as many twins must be by chance, lest all rows be looked at


def seen_tables(original: Floats, released: Floats, *, seed: int) -> dict[str, tuple[Floats, Floats]]:
    """Return both tables in every view, those that keep values first."""
    spread = original.std(axis=0)
    unit = np.where(spread > 0, spread, 1.0)
    left, right = original / unit, released / unit
    seen: dict[str, Callable[[], tuple[Floats, Floats] | None]] = {"values": lambda: (left, right)}
    d = original.shape[1]
    if d >= 3:
        generator = np.random.default_rng([seed, 51])
        for part in range(_PARTS):
            chosen = np.sort(generator.permutation(d)[: max(2, (d + 1) // 2)])
            seen[f"values of some columns ({part + 1})"] = partial(_columns, left, right, chosen)
    for name, view in ROW_VIEWS.items():
        seen[name] = partial(_both, view, original, released)
    scaled = ROW_VIEWS["sorted scaled cells"]
    seen["sorted scaled cells"] = lambda: (scaled(original), np.sort(released, axis=1))
    if d >= 3:
        seen["scaled cells from the row's mean"] = lambda: (
            from_row_means(own_scale(original)),
            from_row_means(released),
        )
    seen["how often cells come"] = partial(_often, original, released)
    words = words_for_shapes(original)
    seen["laid upon one another"] = partial(_laid, words, released)
    for name in _TURNED:
        seen[f"how far the next rows are ({name})"] = partial(_near_in, words[name], released)
    made = share(lambda make: make(), list(seen.values()))
    return {name: pair for name, pair in zip(seen, made, strict=True) if pair is not None}


def _columns(left: Floats, right: Floats, chosen: Integers) -> tuple[Floats, Floats]:
    return left[:, chosen], right[:, chosen]


def _both(view: Callable[[Floats], Floats], left: Floats, right: Floats) -> tuple[Floats, Floats]:
    return view(left), view(right)


def _often(original: Floats, released: Floats) -> tuple[Floats, Floats] | None:
    own, other = how_often(original), how_often(released)
    return None if own is None or other is None else (own, other)


def _laid(words: dict[str, Floats], released: Floats) -> tuple[Floats, Floats] | None:
    laid = laid_upon_best(words, released)
    return None if laid is None else (laid[1], laid[2])


def _near_in(original: Floats, released: Floats) -> tuple[Floats, Floats] | None:
    """Return how far the next rows are in both tables; None for large ones of which some rows show nothing."""
    tables = own_scale(original), released
    if max(map(len, tables)) > _MOST_NEAR:
        some = [np.random.default_rng([len(one), 58]).permutation(len(one))[:_FEW_NEAR] for one in tables]
        few = [near_distances(one, rows) for one, rows in zip(tables, some, strict=True)]
        if few[0] is None or few[1] is None or count_twins(nearest_pairs(few[0], few[1])).likely > _SUSPECT:
            return None
    own, other = map(near_distances, tables)
    return None if own is None or other is None else (own, other)


def exchanged(released: Floats, seed: int) -> tuple[Floats, Floats]:
    """Return two releases in which rows have exchanged their values, each column by itself: all, and those alike."""
    columns, weights = np.ascontiguousarray(own_scale(released).T), np.ones(len(released))
    generator = np.random.default_rng([seed, 54])
    starts = weighted_starts(columns, weights, min(50, max(1, len(released) // 30)), generator)
    groups = weighted_kmeans(columns, weights, starts, rounds=_ROUNDS).labels
    alone = np.bincount(groups)[groups] < _FEWEST
    groups = np.where(alone, -1, groups)  # whoever is alone would stay as they are, and be no control
    mixed = released.copy()
    for group in np.unique(groups):
        inside = np.flatnonzero(groups == group)
        mixed[inside] = generator.permuted(released[inside], axis=0)
    return mixed, generator.permuted(released, axis=0)
