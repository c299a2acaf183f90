"""The clusterings that a release must keep, in the space in which they are named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sfumato._arrays import Floats, Integers
from sfumato.cluster.label_tree import LabelTree
from sfumato.cluster.lattice_kmeans import FEW_ROUNDS, Asked, likely_centres, likely_centres_of
from sfumato.cluster.prototypes import likely_prototypes
from sfumato.core.fast import compiled_kernels
from sfumato.core.linear import LARGEST_STEPS, exact_product, lattice_bits, sum_in_order, to_steps
from sfumato.core.secret import Hidden
from sfumato.core.sharing import share, sharing_here
from sfumato.core.stream import Streams
from sfumato.core.tiles import spans, tile_rows
from sfumato.exceptions import ParameterError
from sfumato.perturb.guard.space import Space
from sfumato.perturb.guard.wanted import MANY_ROWS, count_of_prototypes, is_count

USUAL_CARE = 6
_STARTS = 20  # of k-means, times the care
_SMALL = 1 << 16  # cells of a table that is so small that all starts may end
_LARGE, _MOST_STARTS = 1 << 18, 60  # regions of a table that is too large for more starts than that
_GAMMA = 0.5  # what a differing category weighs in k-prototypes: half of a standard deviation, squared, as is usual
_RUNG_STARTS, _FEW_RUNG_STARTS = 60, 24
_ENDLESS = 300  # rounds, after which hardly anything changes
_ALL_ROUNDS = 1 << 14  # rows up to which the better starts go on to their ends
_PROTOTYPES, _FEW_STARTS = 4, 5  # centres for each cluster of a clusterer without centres


def best_row(scores: Floats) -> Integers:
    """Return the row of the largest number in each column, the first of several; faster than numpy's own.

    Examples
    --------
    >>> best_row(np.array([[1.0, 5.0, 2.0], [3.0, 5.0, 1.0]])).tolist()
    [1, 0, 0]
    """
    small = np.min_scalar_type(len(scores))  # numbers of one byte: masks and maxima run in vector registers
    best, most = np.zeros(scores.shape[1], dtype=small), scores[0].copy()
    for index in range(1, len(scores)):
        better = np.multiply(scores[index] > most, small.type(index), dtype=small)
        np.maximum(best, better, out=best)
        np.maximum(most, scores[index], out=most)
    return best.astype(np.int64)


@dataclass(frozen=True, repr=False)
class Named(Hidden):
    """Centres of the named clusterings, on the lattice of their space.

    Attributes
    ----------
    space : Space
    centres : tuple of arrays of shape (k, d)
        In whole steps.
    counted : tuple of bool
        Which of them were asked for as a number of k-means clusters.
    modes : tuple of bool
        Which of them have the modes of categories in their centres, as k-prototypes has; empty for none.
    weights : tuple of arrays of shape (d,) or None
        What a squared difference in each dimension counts, where a clustering was named in another scaling than that of
        the space; None or nothing at all: the same everywhere.
    doubts : tuple of float
        Share of the labels that a miner with starts of their own gives otherwise, on average; 0 where it is not known.
    clusters : tuple of arrays of shape (k,) or None
        The cluster that each centre stands for, where several are prototypes of one; None or nothing at all: its own.
    told : tuple of str
        What the owner should know of clusterings that are not k-means.
    marks : tuple of LabelTree
        Clusterings whose labels are given by trees: rows of different labels are not mixed, but no wall holds them.
    """

    space: Space
    centres: tuple[Floats, ...]
    counted: tuple[bool, ...]
    modes: tuple[bool, ...] = ()
    doubts: tuple[float, ...] = ()
    weights: tuple[Floats | None, ...] = ()
    clusters: tuple[Integers | None, ...] = ()
    told: tuple[str, ...] = ()
    marks: tuple[LabelTree, ...] = ()

    @cached_property
    def stacked(self) -> Floats:
        """All centres below one another."""
        return np.concatenate(self.centres)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Number of clusters of each clustering."""
        return tuple(len(centres) for centres in self.centres)

    @property
    def all_sizes(self) -> tuple[int, ...]:
        """Number of labels of each clustering, those that trees give behind the others."""
        return (*self.sizes, *(tree.size for tree in self.marks))

    @cached_property
    def _pulls(self) -> tuple[Floats, Floats]:
        return self.pulls(self.stacked)

    def pulls(self, centres: Floats) -> tuple[Floats, Floats]:
        """Return what draws rows towards centres, p of shape (c, d) and h of shape (c,): the nearest has most p.x - h.

        In the scaling of the space p is the centre and h half of its square. In another scaling both are weighted: the
        walls between centres are half-spaces in any of them.

        Parameters
        ----------
        centres : array of shape (c, d)
            Those of all clusterings below one another, once or several times, in whole steps.
        """
        if not any(one is not None for one in self.weights):
            return centres, (centres * centres).sum(axis=1) / 2
        weighted, ends = np.empty_like(centres), np.cumsum(self.sizes * (len(centres) // len(self.stacked)))
        for index, end in enumerate(ends):
            one, size = self.weights[index % len(self.weights)], self.sizes[index % len(self.sizes)]
            weighted[end - size : end] = _weighted(centres[end - size : end], one)
        return np.rint(weighted), np.rint(sum_in_order(weighted * centres)) / 2

    def merged(self, labels: Integers) -> Integers:
        """Return labels with one number for all prototypes of a cluster, shape (a, clusterings) as they were."""
        if not any(one is not None for one in self.clusters):
            return labels
        columns = [own if of is None else of[own] for own, of in zip(labels.T, self.clusters, strict=True)]
        return np.stack(columns, axis=1)

    def without(self, lost: Sequence[int | None]) -> Named:
        """Return the clusterings without some centres: one of each, or None."""
        pairs = list(zip(self.centres, lost, strict=True))
        of = zip(self.clusters, lost, strict=False)
        return replace(
            self,
            centres=tuple(centres if at is None else np.delete(centres, at, axis=0) for centres, at in pairs),
            clusters=tuple(one if at is None or one is None else np.delete(one, at) for one, at in of),
        )

    def labels(self, inside: Floats) -> Integers:
        """Return the label of every row in every clustering, shape (clusterings, rows); those of trees come last."""
        if sharing_here() == 1:
            return self._labels(inside)
        parts = list(spans(inside.shape[1], tile_rows(len(inside)))) or [(0, 0)]
        return np.concatenate(share(lambda part: self._labels(inside[:, slice(*part)]), parts), axis=1)

    def _labels(self, inside: Floats) -> Integers:
        pulls, halves = self._pulls
        steps = self.space.steps(inside)
        trees = [tree.labels(steps) for tree in self.marks]
        fast = compiled_kernels(inside.size * len(pulls))
        if fast is not None:
            labels = np.empty((len(self.sizes) + len(trees), inside.shape[1]), dtype=np.int64)
            for place, tree_labels in enumerate(trees, start=len(self.sizes)):
                labels[place] = tree_labels
            sizes = np.array(self.sizes, dtype=np.int64)
            fast.label_rows(steps, pulls, halves, sizes, labels)
            return labels
        scores = exact_product(pulls, steps)
        scores -= halves[:, None]
        ends = np.cumsum(self.sizes)
        own = [best_row(scores[end - size : end]) for end, size in zip(ends, self.sizes, strict=True)]
        return np.stack([*own, *trees])


def _weighted(centres: Floats, weights: Floats | None) -> Floats:
    """Return centres times what differences count: one number for each dimension, or a matrix of their products."""
    if weights is None:
        return centres
    if weights.ndim == 1:
        return weights * centres
    return np.stack([sum_in_order(centres * row) for row in weights], axis=1)


def name_clusterings(
    space: Space,
    clusterings: Sequence[Any],
    sample: Floats,
    numbers: NDArray[np.uint64],
    streams: Streams,
    care: int = USUAL_CARE,
    *,
    ladder: bool = False,
    weights: Sequence[Floats] = (),
    foreign: Sequence[Mapping[str, Any]] = (),
) -> Named:
    """Return the centres of the clusterings to keep.

    Parameters
    ----------
    clusterings : sequence of int, str or fitted clusterers
        Numbers of k-means clusters, "k-prototypes 3", models with `cluster_centers_` in this space, or clusterers with
        `labels_` of the rows of the table; the latter are kept through prototypes, a few for each cluster.
    sample : array of shape (n, d)
        Rows of the table, in random order.
    numbers : array of shape (n,)
        Their row numbers.
    streams : Streams
        Where the starts of k-means come from.
    care : int
        More means more starts.
    ladder : bool
        Whether the clusterings are rungs of the ladder, which are many.
    weights : sequence of arrays of shape (d,)
        Other scalings in which k-means is named, too: what a squared difference in each dimension counts there.
    foreign : sequence of mappings
        What is kept of other clusterers, which stand behind these; see `make_foreign`.
    """
    steps = np.ascontiguousarray(space.steps(space.enter(np.ascontiguousarray(sample.T))))
    distinct = len(np.unique(steps, axis=1).T) if steps.shape[1] <= 256 else steps.shape[1]
    counts = [int(wanted) for wanted in clusterings if is_count(wanted) and int(wanted) <= distinct]
    named = iter(_rungs(steps, counts, streams, care, ladder=ladder, weights=weights))
    found: list[_One] = []
    for index, wanted in enumerate(clusterings):
        prototypes = count_of_prototypes(wanted)
        if prototypes is not None:
            if space.categories and prototypes <= distinct:  # without categories it is k-means
                found.append(_One(_k_prototypes(space, steps, prototypes, streams, care), modes=True))
        elif is_count(wanted):
            if int(wanted) <= distinct:  # otherwise there are fewer different rows than clusters: nothing to keep
                found += next(named)
        elif hasattr(wanted, "cluster_centers_"):
            found.append(_One(_given(space, wanted.cluster_centers_, len(steps))))
        else:
            found.append(_One(_prototypes(steps, wanted.labels_, numbers, streams, f"given {index}")))
    found += [
        _One(one["centres"], weights=one["weights"], clusters=one["clusters"])
        for one in foreign
        if one["centres"] is not None
    ]
    if not found:
        found.append(_One(np.zeros((1, len(steps)))))
    return Named(
        space,
        tuple(one.centres for one in found),
        tuple(one.counted for one in found),
        tuple(one.modes for one in found),
        tuple(one.doubt for one in found),
        tuple(one.weights for one in found),
        tuple(one.clusters for one in found),
        tuple(str(one["told"]) for one in foreign),
        tuple(LabelTree.of_plain(one["tree"]) for one in foreign if one["tree"] is not None),
    )


class _One(NamedTuple):
    """One clustering; see `Named`."""

    centres: Floats
    counted: bool = False
    modes: bool = False
    doubt: float = 0.0
    weights: Floats | None = None
    clusters: Integers | None = None


class Given(NamedTuple):
    """What is kept of a clustering that is not k-means: centres, and for `Named` their clusters, weights and a note.

    Or no centres, and a tree.
    """

    centres: Floats | None
    clusters: Integers | None
    weights: Floats | None
    told: str
    tree: LabelTree | None = None


def _rungs(
    steps: Floats, counts: Sequence[int], streams: Streams, care: int, *, ladder: bool, weights: Sequence[Floats]
) -> list[list[_One]]:
    """Return k-means with each number of clusters, in the scaling of the space and in the others."""
    elsewhere = [_Scaled.of(steps, one) for one in weights]
    asked = [
        _rung(rows, k, own, care, ladder=ladder)
        for k in counts
        for rows, own in (
            (steps, streams),
            *((one.steps, streams.child(f"scaling {number}")) for number, one in enumerate(elsewhere)),
        )
    ]
    likely = iter(likely_centres_of(asked))  # all numbers of clusters side by side
    found = []
    for _ in counts:
        centres, doubt = next(likely)
        others = [(one, *next(likely)) for one in elsewhere]
        found.append(
            [
                _One(centres, counted=True, doubt=doubt),
                *(_One(one.back(there), doubt=unsure, weights=one.weights) for one, there, unsure in others),
            ]
        )
    return found


class _Scaled(NamedTuple):
    """Rows in another scaling, on a lattice of their own."""

    steps: Floats
    weights: Floats
    factors: Floats
    bits: int

    @classmethod
    def of(cls, steps: Floats, weights: Floats) -> _Scaled:
        factors = np.sqrt(weights)
        bits = lattice_bits(float((np.abs(steps).max(axis=1, initial=0.0) * factors).max(initial=0.0)))
        return cls(np.ascontiguousarray(to_steps(steps * factors[:, None], bits)), weights, factors, bits)

    def back(self, centres: Floats) -> Floats:
        """Return centres as those of the space."""
        back = np.divide(2.0**-self.bits, self.factors, out=np.zeros_like(self.factors), where=self.factors > 0)
        return np.clip(np.rint(centres * back), -LARGEST_STEPS, LARGEST_STEPS)


def _rung(steps: Floats, k: int, streams: Streams, care: int, *, ladder: bool) -> Asked:
    """Return how k-means with a number of clusters is asked for."""
    starts = min(_STARTS * care, _MOST_STARTS) if steps.size > _LARGE else _STARTS * care
    if ladder:
        starts = min(starts, _RUNG_STARTS if steps.shape[1] <= MANY_ROWS else _FEW_RUNG_STARTS)
    # many clusters have many optima of nearly one cost: only runs that have ended can be compared
    rounds = _ENDLESS if ladder and steps.shape[1] <= _ALL_ROUNDS else FEW_ROUNDS
    # where the worse starts end is part of how often each optimum is found
    words = streams.scalars("k-means", f"{k}", 3 * k * starts)
    return Asked(steps, k, words, starts, rounds, all_end=ladder and steps.size <= _SMALL)


def _k_prototypes(space: Space, steps: Floats, k: int, streams: Streams, care: int) -> Floats:
    starts = min(_STARTS * care, _MOST_STARTS)
    words = streams.scalars("k-prototypes", f"{k}", 3 * k * starts)
    weight = float(np.rint(_GAMMA / 2 * 2.0**space.bits))
    return likely_prototypes(steps, space.categories, weight, k, words, starts=starts)


def _given(space: Space, centres: Any, n_columns: int) -> Floats:
    centres = np.asarray(centres, dtype=np.float64)
    if centres.ndim != 2 or centres.shape[1] != n_columns:
        raise ParameterError(
            f"a clustering has centres of {centres.shape[-1]} column(s), the table has {n_columns}",
            hint="fit it on the columns that are released, in the space that scaling names",
        )
    return space.steps(centres)


def _prototypes(steps: Floats, labels: Any, numbers: NDArray[np.uint64], streams: Streams, name: str) -> Floats:
    """Return a few centres for every cluster of a clusterer that has labels only."""
    labels = np.asarray(labels)
    if labels.ndim != 1 or (len(numbers) and int(numbers.max()) >= len(labels)):
        raise ParameterError(
            f"a clustering has {labels.size} label(s), fewer than the table has rows", hint="fit it on this table"
        )
    of = labels[numbers.astype(np.int64)]
    found = []
    for cluster in np.unique(of):
        rows = np.ascontiguousarray(steps[:, of == cluster])
        size = len(np.unique(rows, axis=1).T) if rows.shape[1] <= 256 else rows.shape[1]
        k = max(1, min(_PROTOTYPES, size, rows.shape[1] // 10))
        words = streams.scalars("k-means", f"{name} {cluster}", 3 * k * _FEW_STARTS)
        found.append(likely_centres(rows, k, words, starts=_FEW_STARTS)[0])
    return np.concatenate(found)
