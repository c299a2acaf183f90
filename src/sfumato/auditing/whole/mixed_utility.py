"""What a release of a mixed table is still good for: clusters, distributions, models."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato.auditing.whole.column_distances import Distances, measure_distances
from sfumato.auditing.whole.mixed_clusters import MixedClusters, measure_clusters
from sfumato.auditing.whole.trained_models import TrainedModel, measure_models
from sfumato.frames.whole import WholeRows

_MOST_LEVELS = 500


@dataclass(frozen=True)
class MixedUtility:
    """Figures of a table with categories.

    Attributes
    ----------
    clusters : tuple of MixedClusters
        k-prototypes and average linkage over Gower's distance, before and after.
    distances : Distances
        Columns and pairs of columns before and after.
    models : tuple of TrainedModel
        Forests that tell a category, trained on the original and on the release.
    """

    clusters: tuple[MixedClusters, ...]
    distances: Distances
    models: tuple[TrainedModel, ...]

    @property
    def excess(self) -> float | None:
        """People in another cluster of k-prototypes beyond a second run, mean over k; None if it was not run."""
        beyond = [one.release - one.floor for one in self.clusters if one.floor is not None]
        return float(np.mean(beyond)) if beyond else None

    @property
    def accuracy_lost(self) -> float | None:
        """Accuracy that a model loses when it is trained on the release, mean over columns; None without models."""
        lost = [one.original - one.release for one in self.models]
        return float(np.mean(lost)) if lost else None


def measure_mixed_utility(rows: WholeRows, *, seed: int = 0) -> MixedUtility | None:
    """Return what a mixed table is still good for; None for tables without categories.

    Parameters
    ----------
    rows : WholeRows
    seed : int
        Draws people and starts. Default: 0.
    """
    rows = rows.without_names(_MOST_LEVELS)
    if not any(rows.categories):
        return None
    return MixedUtility(
        clusters=measure_clusters(rows, seed=seed),
        distances=measure_distances(rows),
        models=measure_models(rows, seed=seed),
    )
