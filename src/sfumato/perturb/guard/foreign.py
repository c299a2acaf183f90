"""Clusterings that are not k-means: clusterers by name, and the miner's own pipelines.

Their libraries do not give the same bits on every machine, so their labels are made once, on a bounded sample of the
rows, where all rows have been merged. What is kept of them, and travels, are centres on the lattice where a pipeline
scales, encodes or turns the columns and ends in k-means. Otherwise it is a tree that gives the labels: whoever runs the
clusterer on the release finds the clusters again if their rows were not mixed with those of others, for means, scatter
and density inside of them stay then. Methods that move rows one by one keep a few prototypes of each cluster.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from sfumato._arrays import Floats, Integers
from sfumato.cluster.by_name import OTHERS, find_labels, read_clusterer, split_name
from sfumato.cluster.label_tree import grow_tree
from sfumato.cluster.labelled import label_prototypes
from sfumato.cluster.lattice_kmeans import other_labels
from sfumato.core.linear import LARGEST_STEPS
from sfumato.core.stream import Streams
from sfumato.exceptions import ParameterError
from sfumato.perturb.guard.exposed import COMPANY
from sfumato.perturb.guard.named import Given
from sfumato.perturb.guard.space import Space

_ROWS_OF_A_PART = 25  # at least, on average, where clusters are kept by their parts
_MOST_ROWS = 20_000  # that a pipeline is fitted on
_EXACT = 1e-6  # of a column's size, up to which a pipeline's columns are linear in ours


@dataclass(frozen=True)
class Rows:
    """Rows of a table that foreign clusterings are made of.

    Attributes
    ----------
    space : Space
    values : array of shape (n, d)
        In the units of the table, in random order.
    numbers : array of shape (n,)
        Their row numbers.
    n_rows : int
        Rows of the table.
    coded : bool
        Whether the values are codes of texts: then a pipeline cannot be asked about them.
    marked : bool
        Whether it is enough that rows of different clusters are not mixed; otherwise walls hold them apart.
    """

    space: Space
    values: Floats
    numbers: NDArray[np.uint64]
    n_rows: int
    coded: bool
    marked: bool

    def first(self, most: int) -> tuple[Floats, Floats]:
        """Return some rows in the space, as numbers of shape (n, dimensions), and as steps the other way round."""
        inside = self.space.enter(np.ascontiguousarray(self.values[:most].T))
        return np.ascontiguousarray(inside.T), np.ascontiguousarray(self.space.steps(inside))


def is_foreign(wanted: Any) -> bool:
    """Tell whether a clustering is made by something else than k-means and k-prototypes.

    Examples
    --------
    >>> is_foreign("ward 5"), is_foreign("k-prototypes 3"), is_foreign(4)
    (True, False, False)
    """
    return split_name(wanted)[0] not in OTHERS if isinstance(wanted, str) else is_pipeline(wanted)


def is_pipeline(wanted: Any) -> bool:
    """Tell whether a clustering is given as a scikit-learn pipeline."""
    return hasattr(wanted, "named_steps") and hasattr(wanted, "steps")


def check_foreign(wanted: Any) -> None:
    """Raise for a clusterer that does not exist, or a pipeline that does not end in one."""
    if isinstance(wanted, str):
        read_clusterer(wanted)
    elif not hasattr(wanted.steps[-1][1], "fit_predict"):
        raise ParameterError("a pipeline must end in a clusterer", hint="make_pipeline(StandardScaler(), KMeans(5))")


def described(wanted: Any) -> Any:
    """Return a foreign clustering as plain values, by which streams differ."""
    if isinstance(wanted, str):
        return " ".join(wanted.lower().split())
    last = wanted.steps[-1][1]
    for name in ("cluster_centers_", "labels_"):
        if hasattr(last, name):
            return np.asarray(getattr(last, name))
    return [[type(step).__name__, sorted(map(repr, step.get_params(deep=False).items()))] for _, step in wanted.steps]


def make_foreign(clusterings: Sequence[Any], rows: Rows, streams: Streams) -> list[dict[str, Any]]:
    """Return what is kept of foreign clusterings, as plain values that can travel.

    Parameters
    ----------
    clusterings : sequence of str or pipelines
    streams : Streams
        Where seeds come from.
    """
    out = []
    for wanted in clusterings:
        name = described(wanted) if isinstance(wanted, str) else "pipeline"
        own = streams.child(f"foreign {name}")
        seed = int(own.scalars("seed", "", 1)[0] >> np.uint64(33))
        made = _by_name(wanted, rows, own, seed) if isinstance(wanted, str) else _pipeline(wanted, rows, own, seed)
        out.append(made._asdict() | {"tree": None if made.tree is None else made.tree.plain()})
    return out


def _by_name(text: str, rows: Rows, streams: Streams, seed: int) -> Given:
    clusterer, number = read_clusterer(text)
    inside, steps = rows.first(clusterer.most_rows)
    labels = finer = None
    try:
        labels = _usual([find_labels(text, inside, seed + run, rows.n_rows) for run in range(clusterer.runs)])
        if rows.marked and clusterer.parts > 1 and number is not None:
            most = max(int(number), len(inside) // _ROWS_OF_A_PART)  # small tables have no room for finer cuts
            finer = find_labels(
                f"{clusterer.name} {min(clusterer.parts * int(number), most)}", inside, seed, rows.n_rows
            )
    except (ValueError, ArithmeticError, np.linalg.LinAlgError):
        labels = None
    if labels is None:  # outside of the handler: the library's own words may quote values
        raise ParameterError(
            f"{text!r} cannot cluster this table", hint="it may have too few rows, or columns that depend on each other"
        )
    made = _kept(text, rows, steps, labels, streams, seed, finer)
    return made if made.tree is None else made._replace(tree=replace(made.tree, name=text))


def _usual(runs: list[Integers]) -> Integers:
    """Return the labels that disagree least with the others."""
    wrong = [sum(other_labels(one - one.min(), other - other.min()) for other in runs) for one in runs]
    return runs[int(np.argmin(wrong))]


def _kept(
    name: str,
    rows: Rows,
    steps: Floats,
    labels: Integers,
    streams: Streams,
    seed: int,
    finer: Integers | None = None,
) -> Given:
    """Return what is kept of labels: a tree that gives them, or prototypes where walls must hold them."""
    count = len(np.unique(labels[labels >= 0]))
    if len(np.unique(labels)) < 2:
        return Given(np.zeros((1, len(steps))), None, None, f"{name} finds one cluster only: there is nothing to keep")
    noise = f" and {100 * float(np.mean(labels < 0)):.0f} % noise" if (labels < 0).any() else ""
    if rows.marked:
        own, of = _with_company(steps, labels if finer is None else finer, labels, rows.n_rows)
        told = f"{name} finds {count} clusters{noise}: rows of different clusters are not mixed"
        return Given(None, None, None, told, grow_tree(steps, own, of, seed))
    centres, clusters, right = label_prototypes(steps, labels, lambda text, n: streams.scalars("k-means", text, n))
    told = f"{name} finds {count} clusters{noise}: {len(centres)} prototypes give {100 * right:.0f} % of its labels"
    return Given(centres, clusters, None, told)


def _with_company(steps: Floats, labels: Integers, clusters: Integers, n_rows: int) -> tuple[Integers, Integers]:
    """Return labels without those of fewer than ten people, from 0 on, and the cluster that each is a part of.

    These people get the nearest other label then, of their own cluster if there is one.

    Parameters
    ----------
    steps : array of shape (d, n)
    labels, clusters : arrays of shape (n,)
        Labels are parts of clusters.
    n_rows : int
        Rows of the table.
    """
    fewest = max(3, -(-COMPANY * len(labels) // max(n_rows, 1)))
    labels, clusters = (np.unique(one, return_inverse=True)[1].ravel() for one in (labels, clusters))
    of = np.zeros(int(labels.max()) + 1, dtype=np.int64)
    of[labels] = clusters
    while True:
        present, counts = np.unique(labels, return_counts=True)
        if len(present) == 1 or counts.min() >= fewest:
            break
        lost = present[counts.argmin()]
        others = present[present != lost]
        others = others[of[others] == of[lost]] if (of[others] == of[lost]).any() else others
        middles = np.stack([steps[:, labels == one].mean(axis=1) for one in (lost, *others)])
        labels[labels == lost] = others[((middles[1:] - middles[0]) ** 2).sum(axis=1).argmin()]
    left, own = np.unique(labels, return_inverse=True)
    return own.ravel(), of[left]


def _pipeline(pipeline: Any, rows: Rows, streams: Streams, seed: int) -> Given:
    from sklearn.base import clone

    inside, steps = rows.first(_MOST_ROWS)
    values = rows.values[:_MOST_ROWS]
    last = pipeline.steps[-1][1]
    fitted = hasattr(last, "labels_") or hasattr(last, "cluster_centers_") or hasattr(last, "means_")
    name = f"the pipeline of {type(last).__name__}"
    if rows.coded or (fitted and not hasattr(last, "predict")):
        return _kept(name, rows, steps, _labels_of_rows(last, rows, len(values)), streams, seed)
    labels = encoded = None
    with warnings.catch_warnings(), threadpool_limits(limits=1):
        warnings.simplefilter("ignore")
        try:
            if not fitted:
                pipeline = clone(pipeline)
                _seed(pipeline, seed)
                labels = np.asarray(pipeline.fit_predict(values))
                last = pipeline.steps[-1][1]
            else:
                labels = np.asarray(pipeline.predict(values))
            before = values if len(pipeline.steps) == 1 else pipeline[:-1].transform(values)
            encoded = np.asarray(before.toarray() if hasattr(before, "toarray") else before, dtype=np.float64)
        except (ValueError, TypeError, AttributeError, KeyError, IndexError, ArithmeticError):
            labels = labels if fitted else None
    if labels is None:
        raise ParameterError(
            f"{name} cannot cluster this table", hint="it is given the columns that are released, as plain numbers"
        )
    weights = None if encoded is None or not hasattr(last, "cluster_centers_") else _linear(inside, encoded)
    if weights is None:
        return _kept(name, rows, steps, labels.astype(np.int64), streams, seed)
    present = np.unique(labels)
    centres = np.stack([np.rint(steps[:, labels == one].mean(axis=1)) for one in present])
    told = f"{name} is kept as it is: its columns are sums of those of the table"
    return Given(np.clip(centres, -LARGEST_STEPS, LARGEST_STEPS), np.arange(len(present)), weights, told)


def _labels_of_rows(last: Any, rows: Rows, count: int) -> Integers:
    """Return the labels that a fitted pipeline has given to the first of some rows."""
    labels = np.asarray(getattr(last, "labels_", np.empty(0)))
    if labels.ndim != 1 or len(labels) != rows.n_rows:
        raise ParameterError(
            f"a pipeline has {labels.size} label(s), and the table {rows.n_rows} rows", hint="fit it on this table"
        )
    found: Integers = labels[rows.numbers[:count].astype(np.int64)].astype(np.int64)
    return found


def _seed(pipeline: Any, seed: int) -> None:
    """Give every step that draws numbers the same seed, unless it has one."""
    drawn = {
        name: seed for name, value in pipeline.get_params().items() if name.endswith("random_state") and value is None
    }
    pipeline.set_params(**drawn)


def _linear(inside: Floats, encoded: Floats) -> Floats | None:
    """Return what products of differences count if a pipeline's columns are linear in ours: M of |A x|^2 = x' M x.

    None: they are not.

    Parameters
    ----------
    inside, encoded : arrays of shape (n, dimensions) and (n, m)
    """
    design = np.column_stack([inside, np.ones(len(inside))])
    half = len(design) // 2  # what holds for half of the rows must hold for the others
    if half <= design.shape[1]:
        return None
    found, *_ = np.linalg.lstsq(design[:half], encoded[:half], rcond=None)
    size = np.maximum(np.abs(encoded).max(axis=0), 1e-300)
    if (np.abs(design[half:] @ found - encoded[half:]) > _EXACT * size).any():
        return None
    squares = found[:-1] @ found[:-1].T
    most = float(np.abs(squares).sum(axis=1).max())
    return np.asarray(squares / most) if most > 0 else None
