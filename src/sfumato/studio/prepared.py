"""The sampled rows made ready for previews: scaled, projected and clustered once, then used for every setting."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato._arrays import Floats, Integers
from sfumato.attack.engine.decimals import infer_decimals
from sfumato.auditing.utility.by_centres import cost_by_centres
from sfumato.auditing.utility.clusterings import Effort, Found, free_kmeans, named_kmeans
from sfumato.auditing.utility.rescaling import one_hot, release_rescaling, rescaling_by
from sfumato.core.secret import Hidden
from sfumato.exceptions import DataError
from sfumato.frames.coded import Coding
from sfumato.frames.counted import Counted, count_table, require_no_free_text
from sfumato.metrics import adjusted_rand, misclassification_rate
from sfumato.policy.overview import complete_columns
from sfumato.studio.session import FEWEST_ROWS, MIXED_ROWS
from sfumato.studio.settings import CLUSTERS

# A preview answers within a second: fewer starts and rounds than an audit, and the page says so.
_EFFORT = Effort(
    named_starts=10,
    free_starts=10,
    start_rounds=10,
    start_rows=5_000,
    named_rounds=60,
    shared_rounds=60,
    free_rounds=60,
    repetitions=1,
)


@dataclass(frozen=True)
class ClusterAgreement:
    """How well one number of clusters survives.

    Attributes
    ----------
    k : int
    misclassified : float
        Share of rows that a miner's k-means puts into another cluster; less is better.
    floor : float
        The same when k-means is run again on the original.
    adjusted_rand : float
        1 is the same clusters; more is better.
    cost : float or None
        Where released rows belong to nobody: what the release's centres cost on the original, over the best.
    """

    k: int
    misclassified: float
    floor: float
    adjusted_rand: float
    cost: float | None = None


class Prepared(Hidden):
    """The confidential columns of the sample, its rows in random order: the first few are a sample themselves.

    Parameters
    ----------
    counted : Counted
        Complete columns of numbers; texts, flags, dates and gaps as the numbers that stand for them.
    mixed : bool
        Whether there are such columns, so that only a method that exchanges values takes the table.
    kept : dataframe, optional
        The columns of the same rows that are released as they are: attackers join on them.
    """

    def __init__(self, counted: Counted, *, mixed: bool = False, kept: Any = None) -> None:
        self.counted, self.mixed = counted, mixed
        order = np.random.default_rng(0).permutation(len(counted.numbers))
        order = order[:MIXED_ROWS] if mixed else order
        self.table = counted.numbers[order]
        self.kept = None if kept is None or not kept.width else kept[order]
        self.names: tuple[str, ...] = counted.names
        self.points: Floats = np.ascontiguousarray(self.table.to_numpy().astype(np.float64))
        self.decimals = [
            infer_decimals(column if gap is None else column[column != gap])
            for column, gap in zip(self.points.T, counted.gaps, strict=True)
        ]
        inside, raw = one_hot([self.points], counted.categories)
        self._levels = [int(self.points[:, column].max()) + 1 for column in counted.categories]
        self._owner, _ = release_rescaling(inside[0], inside[0], "owner", raw)
        self._components = main_directions(self._owner.apply(inside[0]))
        self._named: dict[tuple[int, str], tuple[Found, float]] = {}
        self._locks = {(k, scaling): threading.Lock() for k in CLUSTERS for scaling in ("owner", "none")}

    def rounded(self, released: Floats) -> Floats:
        """Return released columns with the decimals of the original, as a released file has them."""
        out = np.array(released)
        for column, decimals, gap in zip(out.T, self.decimals, self.counted.gaps, strict=True):
            if decimals is not None:
                present = slice(None) if gap is None else column != gap
                column[present] = np.round(column[present], decimals)
        return out

    def directions(self, released: Floats) -> Floats:
        """Return released rows along the two main directions of the original, shape (n, 2)."""
        return self.scaled(released) @ self._components

    def scaled(self, rows: Floats) -> Floats:
        """Return rows in the space of the owner's clusters: numbers in standard deviations, categories one-hot."""
        if not self.counted.categories:
            return self._owner.apply(rows)
        # a row that is not there has the highest categories, so that some rows have as many columns as all
        last = np.zeros((1, rows.shape[1]))
        last[0, list(self.counted.categories)] = np.array(self._levels) - 1
        (inside,), _ = one_hot([np.concatenate([rows, last])], self.counted.categories)
        return self._owner.apply(inside[:-1])

    def labels(self, k: int) -> Integers:
        """Return the original's clusters."""
        return self._clustering(k, "owner")[0].labels

    def centres(self, k: int) -> Floats:
        """Return the centres of the original's clusters, columns in standard deviations."""
        return self._clustering(k, "owner")[0].centres

    def nearest(self, released: Floats, k: int) -> Integers:
        """Return which cluster of the original each released row is nearest to."""
        return cost_by_centres(self.scaled(released), self.centres(k))[1]

    def agreement(self, released: Floats, k: int, *, same_columns: bool, drawn: bool = False) -> ClusterAgreement:
        """Cluster a release the way a miner does, and compare with the original's clusters.

        Parameters
        ----------
        released : array of shape (m, e)
            The first m rows, released.
        same_columns : bool
            Whether released columns mean the same as the original ones; else both tables stay unscaled.
        drawn : bool
            Whether released rows belong to nobody: then people go to the nearest of the release's centres.
        """
        scaling = "owner" if same_columns else "none"
        named, floor = self._clustering(k, scaling)
        points = self.scaled(released) if same_columns else rescaling_by(released, "none").apply(released)
        found = free_kmeans(points, k, _EFFORT, 1)
        labels, theirs, ratio = named.labels[: len(released)], found.labels, None
        if drawn:
            people = self.scaled(self.points)
            labels = named.labels
            cost, theirs = cost_by_centres(people, found.centres)
            ratio = cost / max(cost_by_centres(people, named.centres)[0], 1e-300)
        return ClusterAgreement(k, misclassification_rate(labels, theirs), floor, adjusted_rand(labels, theirs), ratio)

    def _clustering(self, k: int, scaling: str) -> tuple[Found, float]:
        with self._locks[k, scaling]:
            if (k, scaling) not in self._named:
                if k >= len(np.unique(self.points[:1000], axis=0)):
                    raise DataError(f"the sample has too few different rows for {k} clusters")
                points = self.scaled(self.points) if scaling == "owner" else np.ascontiguousarray(self.points)
                named = named_kmeans(points, k, _EFFORT, 0)
                again = free_kmeans(points, k, _EFFORT, 1)
                self._named[k, scaling] = named, misclassification_rate(named.labels, again.labels)
            return self._named[k, scaling]


def main_directions(scaled: Floats) -> Floats:
    """Return the two directions of largest variance, shape (d, 2); with one column the second is empty.

    Parameters
    ----------
    scaled : array of shape (n, d)
    """
    _, vectors = np.linalg.eigh(np.cov(scaled, rowvar=False).reshape(scaled.shape[1], -1))
    chosen = vectors[:, ::-1][:, :2]
    chosen = chosen * np.where(chosen[np.abs(chosen).argmax(axis=0), range(chosen.shape[1])] < 0, -1.0, 1.0)
    if chosen.shape[1] == 1:
        chosen = np.column_stack([chosen, np.zeros(len(chosen))])
    directions: Floats = chosen
    return directions


def prepare(
    sample: Any,
    names: Sequence[str],
    *,
    mixed: bool = False,
    kinds: Mapping[str, str] | None = None,
    orders: Mapping[str, Sequence[str]] | None = None,
    kept: Sequence[str] = (),
) -> Prepared:
    """Return the confidential columns of a sample, ready for previews.

    Parameters
    ----------
    mixed : bool
        Whether some of them hold anything but numbers, or are said to; otherwise gaps are filled as a release does.
    kinds, orders : mappings, optional
        What the owner says they hold, and the order of ordered categories.
    kept : sequence of str
        Columns that are released as they are. Default: none.
    """
    if not names:
        raise DataError("no column is confidential: there is nothing to protect", hint="choose at least one column")
    if len(sample) < FEWEST_ROWS:
        raise DataError(
            f"{len(sample)} rows are too few to protect anyone", hint="a table needs more people to hide in"
        )
    if mixed:
        counted = count_table(sample, names, kinds, orders)
        require_no_free_text(counted)
        prepared = Prepared(counted, mixed=True, kept=sample.select(list(kept)))
    else:
        counted = Counted(complete_columns(sample, names), Coding(), dict(kinds or {}))
        prepared = Prepared(counted, kept=sample.select(list(kept)))
    if not np.isfinite(prepared.points).all():
        raise DataError("a column holds infinite values", hint="remove them, or drop the column")
    return prepared
