"""The release of 1-d clustering: a value's interval, its cluster, and a draw around the cluster's mean."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.core.fast.compile import compiled

_12 = np.uint64(12)


@compiled
def draw_in_clusters(values: Any, words: Any, low: float, high: float, cluster_of: Any, means: Any, radii: Any) -> None:
    """Do values = symmetric_uniform(words) * radius + mean, of the cluster in which each value lies."""
    n_intervals = len(cluster_of)
    for i in range(len(values)):
        interval = np.int64(0)
        if high > low:
            place = (values[i] - low) / (high - low) * np.float64(n_intervals)
            place = min(max(place, 0.0), np.float64(n_intervals))
            interval = min(np.int64(place), np.int64(n_intervals - 1))
        cluster = cluster_of[interval]
        k = np.float64(np.int64(words[i] >> _12))
        values[i] = (k * 2.0**-51 + (2.0**-52 - 1.0)) * radii[cluster] + means[cluster]
