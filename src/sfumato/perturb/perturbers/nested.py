"""Nested clustering (ANC of Rajalakshmi and Anandha Mala): small groups inside fuzzy clusters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato._arrays import Floats, Integers
from sfumato.cluster.fuzzy_iteration import fuzzy_centres
from sfumato.cluster.nearest import nearest_centre
from sfumato.core.keys import Key
from sfumato.core.passes import Facts, Rounds, ask
from sfumato.core.rows import Rows
from sfumato.core.secret import Hidden
from sfumato.core.stream import Streams
from sfumato.core.summaries import Moments, Sample
from sfumato.perturb.groups.group_means import group_means, spread_to_rows
from sfumato.perturb.groups.hilbert import curve_groups
from sfumato.perturb.groups.nested_rules import Grouping, group_rule, paper_rule, restore_moments
from sfumato.perturb.groups.refine import refine_groups
from sfumato.perturb.mechanism.base import Perturber
from sfumato.perturb.perturbers.microaggregation import block_groups, require_rows

_CURVE_COLUMNS = 3  # above this, neighbours in space are too often apart on a curve
_PARENT_ROWS = 50_000  # larger tables take their parents from a keyed sample
_FLOAT_STEP = 0.05  # a "unit" of a float column, in its standard deviations


@dataclass(frozen=True, repr=False)
class _Fitted(Hidden):
    deviations: Floats
    kinds: tuple[str, ...]
    parents: Floats


class NestedClustering(Perturber):
    """Give groups of three to five neighbouring rows, inside fuzzy clusters, one value each.

    Fuzzy c-means makes the parents; inside each, rows are grouped along a Hilbert curve (up to three columns) or by
    MDAV in blocks, k to 2k - 1 rows a group, instead of the paper's n/3 k-means clusters, which degenerate on ties.
    "Towards the centroid" is read as full replacement: a partial move is undone exactly once its share is known.

    `rule="group"` (default) gives each group one value, and shifts it by unit steps towards the parent when it
    equals a member: no row stays as it is, and every released combination occurs at least `group_size` times.
    `rule="paper"` moves groups of equal rows, and rows that equal their centroid, by one unit towards the parent, and
    all others to the centroid. (The paper sends the second kind "towards the midpoint" of group and parent. One unit
    that way gives its printed degree of anonymization within 7 %; the midpoint itself is 5 to 19 % above it.) That
    leaves single rows standing out. Neither rule is k-anonymity over all quasi-identifiers: columns that are not
    perturbed can still single people out.

    A unit is 1 in columns of whole numbers and a twentieth of a standard deviation in others.

    Parameters
    ----------
    group_size : int
        Smallest group; the largest has twice that less one. Default: 3.
    n_parents : int
        Fuzzy clusters that groups do not cross. Default: 2.
    rule : "group" or "paper"
        "group" releases one value for a group; in "paper" rows equal to the centroid move elsewhere. Default: "group".
    preserve_moments : bool
        Restore mean and variance of each parent and column (before rounding of integer columns). Default: False.
    key, release, insecure_seed, columns
        See `Perturber`.

    Examples
    --------
    >>> import numpy as np
    >>> table = np.array([[1], [2], [3], [11], [12], [13]])
    >>> NestedClustering().fit_transform(table).ravel().tolist()
    [4, 4, 4, 14, 14, 14]
    """

    method_id: ClassVar[str] = "anc"

    def __init__(
        self,
        group_size: int = 3,
        n_parents: int = 2,
        rule: str = "group",
        preserve_moments: bool = False,
        *,
        key: Key | None = None,
        release: str = "r0",
        insecure_seed: int | None = None,
        columns: Sequence[str | int] | None = None,
    ) -> None:
        self.group_size = group_size
        self.n_parents = n_parents
        self.rule = rule
        self.preserve_moments = preserve_moments
        self.key = key
        self.release = release
        self.insecure_seed = insecure_seed
        self.columns = columns

    def _rounds(self, facts: Facts, streams: Streams) -> Rounds:
        require_rows(facts.n_rows, int(self.group_size) * int(self.n_parents), "NestedClustering")
        moments = yield from ask(Moments(facts.low, facts.high, cross=False))
        deviation = moments.deviation()
        sample = yield from ask(Sample(_PARENT_ROWS, streams.subkey("parents"), facts.n_rows))
        units = np.where(deviation > 0, deviation, 1.0)
        parents = fuzzy_centres(sample.values() / units, int(self.n_parents)).centres
        return _Fitted(deviation, facts.kinds, parents)

    def _kernel(self, fitted: _Fitted, tile: Floats, rows: Rows, streams: Streams) -> Floats:
        size = int(self.group_size)
        require_rows(tile.shape[1], size, "NestedClustering")
        units = np.where(fitted.deviations > 0, fitted.deviations, 1.0)
        scaled = tile / units[:, None]
        parent_of = usable_parents(scaled, fitted.parents, size)
        groups = nested_groups(scaled, parent_of, size)
        grouping = Grouping(
            tile=tile,
            groups=groups,
            centroids=group_means(tile, groups),
            parent_of=parent_of,
            parents=group_means(tile, parent_of),
            kinds=fitted.kinds,
            steps=unit_steps(tile, fitted.kinds, units),
        )
        if self.rule == "paper":
            return paper_rule(grouping, preserve_moments=bool(self.preserve_moments))
        if self.preserve_moments:
            means = restore_moments(spread_to_rows(grouping.centroids, groups), grouping)
            grouping = grouping.with_centroids(group_means(means, groups))
        return group_rule(grouping)


def unit_steps(tile: Floats, kinds: tuple[str, ...], units: Floats) -> Floats:
    """Return one unit of each column: 1 for whole numbers, otherwise a share of the deviation that can be seen."""
    steps = np.where((np.rint(tile) == tile).all(axis=1), 1.0, _FLOAT_STEP * units)
    largest = np.abs(tile).max(axis=1)
    spacing = [
        float(np.spacing(np.float32(x) if kind == "float32" else x)) for kind, x in zip(kinds, largest, strict=True)
    ]
    return np.maximum(steps, 4.0 * np.array(spacing))


def usable_parents(scaled: Floats, parents: Floats, group_size: int) -> Integers:
    """Return each row's parent, numbered without gaps; parents too small for a group give their rows away."""
    centres = parents
    while True:
        rows = np.ascontiguousarray(scaled.T)
        parent_of = nearest_centre(rows, centres)
        counts = np.bincount(parent_of, minlength=len(centres))
        small = np.flatnonzero(counts < group_size)
        if len(small) == 0 or len(centres) == 1:
            return parent_of
        centres = np.delete(centres, small[np.argmin(counts[small])], axis=0)


def nested_groups(scaled: Floats, parent_of: Integers, group_size: int) -> Integers:
    """Return a group number for each row; groups do not cross parents."""
    groups = np.empty(scaled.shape[1], dtype=np.int64)
    used = 0
    for parent in range(int(parent_of.max()) + 1):
        members = np.flatnonzero(parent_of == parent)
        part = np.ascontiguousarray(scaled[:, members])
        if len(part) <= _CURVE_COLUMNS:
            inside = refine_groups(part, curve_groups(part, group_size))
        else:
            inside = block_groups(part, group_size)
        groups[members] = inside + used
        used += int(inside.max()) + 1
    return groups
