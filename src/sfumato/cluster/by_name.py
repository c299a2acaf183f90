"""Clusterers by name, as a policy or a command line writes them: "ward 5", "gaussian mixture 4", "dbscan 0.5".

A new one is one function and one row. Most of them are scikit-learn's and do not give the same bits on every machine:
whoever needs the labels twice makes them once and keeps them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from sfumato._arrays import Floats, Integers
from sfumato.exceptions import ParameterError, nearest_name

_NEIGHBOURS = 5  # that make a row the core of a cluster for DBSCAN, as is usual
_FEWEST = 10  # rows of a cluster for HDBSCAN, where nobody says how many
_RIDGES = (1e-6, 1e-3)  # added to the variances of a mixture; the second where columns depend on one another


@dataclass(frozen=True)
class Task:
    """What a clusterer is asked to do.

    Attributes
    ----------
    rows : array of shape (n, d)
        In the space in which distances count.
    number : float or None
        The number behind the name.
    seed : int
    share : float
        Share of the table's rows that these are: densities are counted in proportion.
    """

    rows: Floats
    number: float | None
    seed: int
    share: float

    @property
    def clusters(self) -> int:
        """The number behind the name, of clusterers that take a number of clusters."""
        assert self.number is not None
        return int(self.number)


@dataclass(frozen=True)
class Clusterer:
    """A clusterer that has a name.

    Attributes
    ----------
    name : str
    number : str
        What the number behind the name is: "clusters", "distance" or "rows".
    most_rows : int
        Rows that it can take in reasonable time and memory; of larger tables it sees a sample.
    find : callable
        Task -> labels; -1 is noise.
    needs_number : bool
    dense : bool
        Whether scatter or distances inside of clusters decide what is found, and not only their means and sizes.
    parts : int
        Times as many clusters that decide about the number that is asked for: who cuts a tree of merges has made the
        finer cuts before.
    runs : int
        Runs with other starts, of which the one counts that agrees best with the others: what most people find.
    """

    name: str
    number: str
    most_rows: int
    find: Callable[[Task], NDArray[np.integer]]
    needs_number: bool = True
    dense: bool = True
    parts: int = 1
    runs: int = 1

    @property
    def example(self) -> str:
        """How it is written."""
        return f"{self.name} { ({'clusters': 5, 'distance': 0.5, 'rows': 50}[self.number]) }"


def _gaussian_mixture(task: Task) -> NDArray[np.integer]:
    from sklearn.mixture import GaussianMixture

    for ridge in _RIDGES:
        model = GaussianMixture(task.clusters, n_init=5, reg_covar=ridge, random_state=task.seed)
        try:
            return np.asarray(model.fit_predict(task.rows))
        except ValueError:
            if ridge == _RIDGES[-1]:
                raise
    raise AssertionError


def _tree(linkage: str) -> Callable[[Task], NDArray[np.integer]]:
    def find(task: Task) -> NDArray[np.integer]:
        from sklearn.cluster import AgglomerativeClustering

        return np.asarray(AgglomerativeClustering(task.clusters, linkage=linkage).fit_predict(task.rows))

    return find


def _hdbscan(task: Task) -> NDArray[np.integer]:
    from sklearn.cluster import HDBSCAN

    fewest = max(_FEWEST, 0.01 * len(task.rows)) if task.number is None else max(2.0, task.number * task.share)
    return np.asarray(HDBSCAN(min_cluster_size=round(fewest), copy=True).fit_predict(task.rows))


def _dbscan(task: Task) -> NDArray[np.integer]:
    from sklearn.cluster import DBSCAN

    assert task.number is not None
    least = max(2, round(_NEIGHBOURS * task.share))
    return np.asarray(DBSCAN(eps=task.number, min_samples=least).fit_predict(task.rows))


def _spectral(task: Task) -> NDArray[np.integer]:
    from sklearn.cluster import SpectralClustering

    model = SpectralClustering(
        task.clusters, affinity="nearest_neighbors", assign_labels="cluster_qr", random_state=task.seed
    )
    return np.asarray(model.fit_predict(task.rows))


def _fuzzy(task: Task) -> NDArray[np.integer]:
    from sfumato.cluster.fuzzy import FuzzyCMeans

    return np.asarray(FuzzyCMeans(task.clusters).fit(task.rows).labels_)


def _chameleon(task: Task) -> NDArray[np.integer]:
    from sfumato.cluster.chameleon import Chameleon

    return np.asarray(Chameleon(task.clusters).fit(task.rows).labels_)


CLUSTERERS: tuple[Clusterer, ...] = (
    Clusterer("gaussian mixture", "clusters", 20_000, _gaussian_mixture, runs=5),
    Clusterer("ward", "clusters", 6_000, _tree("ward"), dense=False, parts=4),
    Clusterer("average linkage", "clusters", 6_000, _tree("average"), dense=False, parts=4),
    Clusterer("hdbscan", "rows", 20_000, _hdbscan, needs_number=False),
    Clusterer("dbscan", "distance", 20_000, _dbscan),
    Clusterer("chameleon", "clusters", 6_000, _chameleon),
    Clusterer("fuzzy c-means", "clusters", 20_000, _fuzzy, dense=False),
    Clusterer("spectral", "clusters", 5_000, _spectral),
)
_BY_NAME = {one.name: one for one in CLUSTERERS}
OTHERS = ("ladder", "k-means", "k-prototypes")  # which have no function here


def split_name(text: str) -> tuple[str, str]:
    """Return the name of a clusterer and the number behind it, as they are written.

    Examples
    --------
    >>> split_name("gaussian mixture 4"), split_name("hdbscan")
    (('gaussian mixture', '4'), ('hdbscan', ''))
    """
    words = text.lower().split()
    if len(words) > 1 and words[-1][0].isdigit():
        return " ".join(words[:-1]), words[-1]
    return " ".join(words), ""


def is_dense(text: str) -> bool:
    """Tell whether a text names a clusterer that goes by the scatter or the density of the rows.

    Examples
    --------
    >>> is_dense("hdbscan"), is_dense("ward 5"), is_dense("ladder")
    (True, False, False)
    """
    found = _BY_NAME.get(split_name(text)[0])
    return found is not None and found.dense


def read_clusterer(text: str) -> tuple[Clusterer, float | None]:
    """Return the clusterer that a text names, with its number.

    Examples
    --------
    >>> clusterer, number = read_clusterer("ward 5")
    >>> clusterer.name, number
    ('ward', 5.0)
    """
    name, written = split_name(text)
    if name not in _BY_NAME:
        known = "; ".join(one.example for one in CLUSTERERS)
        near = nearest_name(name, [*_BY_NAME, *OTHERS])
        raise ParameterError(
            f"there is no clusterer {text!r}", hint=f"{near + ' ' if near else ''}known are ladder; k-means 5; {known}"
        )
    clusterer = _BY_NAME[name]
    number: float | None = None
    try:
        number = float(written) if written else None
    except ValueError:
        number = -1.0
    whole = clusterer.number != "distance"
    least = {"clusters": 2.0, "rows": 2.0, "distance": 0.0}[clusterer.number]
    wrong = number is not None and (not least <= number < np.inf or number == 0.0 or (whole and number % 1 != 0))
    if wrong or (number is None and clusterer.needs_number):
        what = {"clusters": "a number of clusters, 2 or more", "rows": "the fewest rows of a cluster, 2 or more"}
        takes = what.get(clusterer.number, "a distance above 0, in standard deviations")
        raise ParameterError(f"{text!r}: behind {name} stands {takes}", hint=f"for example {clusterer.example!r}")
    if name == "chameleon":
        from sfumato.cluster.chameleon.metis import load_metis

        load_metis()  # says what to install
    return clusterer, number


def check_name(wanted: object) -> None:
    """Raise for a text that names no clustering; anything else than a text is somebody else's business."""
    if isinstance(wanted, str) and split_name(wanted)[0] not in OTHERS:
        read_clusterer(wanted)


def find_labels(text: str, rows: Floats, seed: int, n_rows: int) -> Integers:
    """Return the labels that a clusterer gives to some rows, by one thread.

    Parameters
    ----------
    rows : array of shape (n, d)
        At most as many as it can take.
    n_rows : int
        Rows of the whole table.
    """
    clusterer, number = read_clusterer(text)
    share = min(1.0, len(rows) / max(n_rows, 1))
    with warnings.catch_warnings(), threadpool_limits(limits=1):
        warnings.simplefilter("ignore")  # about convergence and the graph of neighbours: what counts is measured
        labels = clusterer.find(Task(rows, number, seed, share))
    found: Integers = np.asarray(labels, dtype=np.int64)
    return found
