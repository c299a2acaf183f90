"""Cutting graphs with METIS, the partitioner of Chameleon's own authors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sfumato.exceptions import MissingComponentError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sfumato.cluster.chameleon.graph import Graph

# METIS adds weights up in integers of 32 bits in some builds.
_LARGEST_TOTAL = 2**30
_TYPICAL_WEIGHT = 1000
_LARGEST_WEIGHT = 1_000_000
_UNITS = 1_000_000


def load_metis() -> Any:
    """Return the METIS bindings, or say how to get them.

    Examples
    --------
    >>> load_metis().__name__
    'pymetis'
    """
    try:
        import pymetis
    except ImportError as error:
        raise MissingComponentError(
            "Chameleon cuts graphs with METIS, and the package pymetis is not installed",
            hint="pip install sfumato[chameleon]",
        ) from error
    return pymetis


def _metis_weights(weights: NDArray[np.int64]) -> NDArray[np.int64]:
    scaled = np.clip(weights * (_TYPICAL_WEIGHT / _UNITS), 1.0, _LARGEST_WEIGHT)
    total = float(scaled.sum())
    if total > _LARGEST_TOTAL:
        scaled = np.maximum(scaled * (_LARGEST_TOTAL / total), 1.0)
    return np.asarray(np.rint(scaled), dtype=np.int64)


def cut_graph(graph: Graph, parts: int, *, imbalance: float, tries: int, seed: int) -> NDArray[np.int64]:
    """Cut a graph into parts of about equal weight so that the edges cut weigh little.

    Parameters
    ----------
    graph : Graph
        At least two vertices.
    parts : int
        How many parts; some may come out empty on small graphs.
    imbalance : float
        How much heavier than the average a part may be, 0.25 for a quarter.
    tries : int
        Cuts that METIS compares.
    seed : int
        Seed, 0 to 2**31 - 3.

    Returns
    -------
    ndarray of shape (v,)
        The part of every vertex.

    Examples
    --------
    >>> from sfumato.cluster.chameleon.graph import Graph
    >>> path = Graph(np.array([0, 1, 3, 5, 6]), np.array([1, 0, 2, 1, 3, 2]),
    ...              np.array([9, 9, 1, 1, 9, 9]) * 1_000_000, np.ones(4, dtype=int))
    >>> part = cut_graph(path, 2, imbalance=0.1, tries=1, seed=0)
    >>> bool(part[0] == part[1] != part[2] == part[3])
    True
    """
    if parts <= 1:
        return np.zeros(len(graph.masses), dtype=np.int64)
    pymetis = load_metis()
    # C's random numbers may be the same for the seeds 0 and 1.
    options = pymetis.Options(ufactor=max(1, round(1000 * imbalance)), ncuts=tries, seed=seed + 1)
    arrays: dict[str, Any] = {"vweights": graph.masses, "eweights": _metis_weights(graph.weights)}
    if hasattr(pymetis, "CSRAdjacency"):
        arrays["adjacency"] = pymetis.CSRAdjacency(graph.starts, graph.neighbours)
    else:  # older bindings take lists
        arrays = {name: values.tolist() for name, values in arrays.items()}
        arrays |= {"xadj": graph.starts.tolist(), "adjncy": graph.neighbours.tolist()}
    found = pymetis.part_graph(parts, **arrays, recursive=parts == 2, options=options)
    return np.asarray(found[1], dtype=np.int64)
