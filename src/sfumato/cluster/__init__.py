"""Clusterers whose results are the same bits on every machine, and Chameleon.

`FuzzyCMeans` and `lloyd_kmeans` feed releases, so they use additions, multiplications, divisions and
comparisons in a fixed order only. `Chameleon` finds clusters of any shape and serves the audits and the
papers' experiments.

Names are imported on first use, so that importing this package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

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
    "Chameleon": "sfumato.cluster.chameleon",
    "FuzzyCMeans": "sfumato.cluster.fuzzy",
    "FuzzyCentres": "sfumato.cluster.fuzzy_iteration",
    "fuzzy_centres": "sfumato.cluster.fuzzy_iteration",
    "fuzzy_memberships": "sfumato.cluster.fuzzy_iteration",
    "LloydResult": "sfumato.cluster.lloyd",
    "lloyd_kmeans": "sfumato.cluster.lloyd",
    "nearest_centre": "sfumato.cluster.nearest",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
