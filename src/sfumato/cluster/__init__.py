"""Clusterers whose results are the same bits on every machine, and Chameleon.

`FuzzyCMeans` and `lloyd_kmeans` feed releases, so they use additions, multiplications, divisions and
comparisons in a fixed order only. `Chameleon` finds clusters of any shape and serves the audits and the
papers' experiments.

Names are imported on first use, so that importing this package costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sfumato._lazy import lazy_names

if TYPE_CHECKING:
    from sfumato.cluster.chameleon import Chameleon
    from sfumato.cluster.fuzzy import FuzzyCMeans
    from sfumato.cluster.fuzzy_iteration import FuzzyCentres, fuzzy_centres, fuzzy_memberships
    from sfumato.cluster.lloyd import LloydResult, lloyd_kmeans
    from sfumato.cluster.nearest import nearest_centre

__all__ = [
    "Chameleon",
    "FuzzyCMeans",
    "FuzzyCentres",
    "LloydResult",
    "fuzzy_centres",
    "fuzzy_memberships",
    "lloyd_kmeans",
    "nearest_centre",
]

_HOMES = {
    "Chameleon": "chameleon",
    "FuzzyCMeans": "fuzzy",
    "FuzzyCentres": "fuzzy_iteration",
    "fuzzy_centres": "fuzzy_iteration",
    "fuzzy_memberships": "fuzzy_iteration",
    "LloydResult": "lloyd",
    "lloyd_kmeans": "lloyd",
    "nearest_centre": "nearest",
}

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
