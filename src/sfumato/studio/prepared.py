"""The sampled rows made ready for previews: scaled, projected and clustered once, then used for every setting."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato._arrays import Floats, Integers
from sfumato.attack.engine.decimals import infer_decimals
from sfumato.auditing.utility.clusterings import Effort, Found, free_kmeans, named_kmeans
from sfumato.auditing.utility.rescaling import Rescaling, rescaling_by
from sfumato.core.secret import Hidden
from sfumato.exceptions import DataError
from sfumato.metrics import adjusted_rand, misclassification_rate
from sfumato.policy.overview import complete_columns
from sfumato.studio.session import FEWEST_ROWS
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
    """

    k: int
    misclassified: float
    floor: float
    adjusted_rand: float


class Prepared(Hidden):
    """The confidential columns of the sample, its rows in random order: the first few are a sample themselves.

    Parameters
    ----------
    table : polars.DataFrame
        Complete columns.
    """

    def __init__(self, table: Any) -> None:
        self.table = table[np.random.default_rng(0).permutation(len(table))]
        self.names: tuple[str, ...] = tuple(table.columns)
        self.points: Floats = np.ascontiguousarray(self.table.to_numpy().astype(np.float64))
        self._decimals = [infer_decimals(column) for column in self.points.T]
        self._owner = rescaling_by(self.points, "std")
        self._components = main_directions(self._owner.apply(self.points))
        self._named: dict[tuple[int, str], tuple[Found, float]] = {}
        self._locks = {(k, scaling): threading.Lock() for k in CLUSTERS for scaling in ("owner", "none")}

    def rounded(self, released: Floats) -> Floats:
        """Return released columns with the decimals of the original, as a released file has them."""
        out = np.array(released)
        for column, decimals in zip(out.T, self._decimals, strict=True):
            if decimals is not None:
                np.round(column, decimals, out=column)
        return out

    def directions(self, released: Floats) -> Floats:
        """Return released rows along the two main directions of the original, shape (n, 2)."""
        return self._owner.apply(released) @ self._components

    def labels(self, k: int) -> Integers:
        """Return the original's clusters."""
        return self._clustering(k, "owner")[0].labels

    def centres(self, k: int) -> Floats:
        """Return the centres of the original's clusters, columns in standard deviations."""
        return self._clustering(k, "owner")[0].centres

    def agreement(self, released: Floats, k: int, *, same_columns: bool) -> ClusterAgreement:
        """Cluster a release the way a miner does, and compare with the original's clusters.

        Parameters
        ----------
        released : array of shape (m, e)
            The first m rows, released.
        same_columns : bool
            Whether released columns mean the same as the original ones; else both tables stay unscaled.
        """
        scaling = "owner" if same_columns else "none"
        named, floor = self._clustering(k, scaling)
        rescaling = self._owner if same_columns else rescaling_by(released, "none")
        found = free_kmeans(rescaling.apply(released), k, _EFFORT, 1)
        labels = named.labels[: len(released)]
        return ClusterAgreement(
            k, misclassification_rate(labels, found.labels), floor, adjusted_rand(labels, found.labels)
        )

    def _clustering(self, k: int, scaling: str) -> tuple[Found, float]:
        with self._locks[k, scaling]:
            if (k, scaling) not in self._named:
                if k >= len(np.unique(self.points[:1000], axis=0)):
                    raise DataError(f"the sample has too few different rows for {k} clusters")
                rescaling: Rescaling = self._owner if scaling == "owner" else rescaling_by(self.points, "none")
                points = rescaling.apply(self.points)
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


def prepare(sample: Any, names: Sequence[str]) -> Prepared:
    """Return the confidential columns of a sample, ready for previews."""
    if not names:
        raise DataError("no column is confidential: there is nothing to protect", hint="choose at least one column")
    if len(sample) < FEWEST_ROWS:
        raise DataError(
            f"{len(sample)} rows are too few to protect anyone", hint="a table needs more people to hide in"
        )
    prepared = Prepared(complete_columns(sample, names))
    if not np.isfinite(prepared.points).all():
        raise DataError("a column holds infinite values", hint="remove them, or drop the column")
    return prepared
