"""Metrics of utility and privacy: plain functions, and a catalogue of them.

Nothing heavy is imported before a function is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sfumato._lazy import lazy_names
from sfumato.metrics._catalogue import catalogue
from sfumato.metrics._metric import Metric

if TYPE_CHECKING:
    from sfumato.metrics.agreement import (
        adjusted_mutual_information,
        adjusted_rand,
        misclassification_rate,
        variation_of_information,
    )
    from sfumato.metrics.anonymity import equivalence_class_sizes, t_closeness
    from sfumato.metrics.displacement import (
        hiding_failure,
        interval_disclosure,
        interval_disclosure_by_column,
        mean_squared_error,
        privacy_protection,
    )
    from sfumato.metrics.distortion import comprehensive_index, information_loss
    from sfumato.metrics.drift import ColumnDrift, column_drift, mean_shift
    from sfumato.metrics.nearest import nearest_rows
    from sfumato.metrics.security import anonymization_degree, min_variance_security, variance_security
    from sfumato.metrics.validity import coincident_centroids, davies_bouldin_index, dunn_index

__all__ = [
    "ColumnDrift",
    "Metric",
    "adjusted_mutual_information",
    "adjusted_rand",
    "anonymization_degree",
    "catalogue",
    "coincident_centroids",
    "column_drift",
    "comprehensive_index",
    "davies_bouldin_index",
    "dunn_index",
    "equivalence_class_sizes",
    "hiding_failure",
    "information_loss",
    "interval_disclosure",
    "interval_disclosure_by_column",
    "mean_shift",
    "mean_squared_error",
    "min_variance_security",
    "misclassification_rate",
    "nearest_rows",
    "privacy_protection",
    "t_closeness",
    "variance_security",
    "variation_of_information",
]

_HOMES = {
    "agreement": ("adjusted_mutual_information", "adjusted_rand", "misclassification_rate", "variation_of_information"),
    "anonymity": ("equivalence_class_sizes", "t_closeness"),
    "displacement": (
        "hiding_failure",
        "interval_disclosure",
        "interval_disclosure_by_column",
        "mean_squared_error",
        "privacy_protection",
    ),
    "distortion": ("comprehensive_index", "information_loss"),
    "drift": ("ColumnDrift", "column_drift", "mean_shift"),
    "nearest": ("nearest_rows",),
    "security": ("anonymization_degree", "min_variance_security", "variance_security"),
    "validity": ("coincident_centroids", "davies_bouldin_index", "dunn_index"),
}
_MODULE_OF = {name: module for module, names in _HOMES.items() for name in names}

__getattr__, __dir__ = lazy_names(__name__, _MODULE_OF)
