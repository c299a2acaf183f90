"""Chameleon (Karypis, Han and Kumar): clusters of any shape, found on a graph of nearest neighbours.

One idea in each file, in the order in which they run: `points` joins equal rows, `graph` links neighbours,
`metis` cuts graphs, `pieces` makes many small clusters, `agglomerate` merges them by relative interconnectivity
and relative closeness, `levels` chooses where to stop, `consensus` lets
several runs vote, `estimator` puts scikit-learn's face on it.
"""

from __future__ import annotations

from sfumato.cluster.chameleon.estimator import Chameleon

__all__ = ["Chameleon"]
