"""The comparisons of a utility audit: k-means for each number of clusters, Ward and Chameleon, side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sfumato._arrays import Flags, Floats
from sfumato.auditing.utility.by_centres import DRAWN_ROWS, carried, cost_by_centres, on_original
from sfumato.auditing.utility.clusterings import Found, chameleon_labels, kmeans_from, ward_labels
from sfumato.auditing.utility.known import original_optima
from sfumato.auditing.utility.luck import Expected, chances_of, expect
from sfumato.auditing.utility.optima import Optima, Table, optima_plan
from sfumato.auditing.utility.rescaling import Rescaling, release_rescaling
from sfumato.auditing.utility.result import ClusteringAgreement, Excess, agreement, excess, found_agreement
from sfumato.core.plans import Plan, Task, share_plans, together
from sfumato.exceptions import MissingComponentError, ParameterError

Progress = Callable[[str, float], None]
Rows = tuple[list[ClusteringAgreement], list[Excess]]

MOST_CHAMELEON_ROWS = 2_000
SHARED_ROUNDS = 300
LARGE = 3_000  # rows of which a headline must not hang on the seed
MORE_STARTS = 3  # times as many where the first ones leave it open what is found
_UNSURE = 0.02  # half of the interval of what is lost, beyond which they do
_NOISE = 0.01  # of a standard deviation: what it changes is the floor of clusterers that repeat themselves
OTHER_COLUMNS = "the released columns are not those of the original"


@dataclass(frozen=True)
class Study:
    """The measured rows in every scaling, and how they are clustered.

    Attributes
    ----------
    original, released : dict
        Scaling -> array of shape (rows, columns), rows in an order drawn at random.
    same_columns : bool
        Whether released columns mean the same as the original ones.
    tries : int
        Starts of a miner.
    starts : int
        Starts of each of two pools, from which what a miner finds is reckoned.
    seed : int
    scaled : dict, optional
        Scaling -> how the original and the release were rescaled, where released rows belong to nobody.
    """

    original: dict[str, Floats]
    released: dict[str, Floats]
    same_columns: bool
    tries: int
    starts: int
    seed: int
    scaled: dict[str, tuple[Rescaling, Rescaling]] | None = None
    _tables: dict[int, Table] = field(default_factory=dict)

    def table(self, points: Floats) -> Table:
        """Return one of the tables for all its clusterings."""
        return self._tables.setdefault(id(points), Table(points))

    def starts_of(self, scaling: str) -> int:
        """Return the starts of a pool; fewer for tables that are in the headline in no way."""
        headline = next(iter(self.original.values()))
        return self.starts if self.original[scaling] is headline else max(1, self.starts // 2)

    def seeds_of(self, k: int) -> tuple[int, int]:
        """Return the seeds of the two pools of starts."""
        first, second = np.random.SeedSequence([self.seed, k]).generate_state(2).tolist()
        return first, second


def prepare_study(
    before: Floats,
    after: Floats,
    chosen: NDArray[np.int64],
    scalings: Sequence[str],
    same_columns: bool,
    tries: int,
    starts: int,
    seed: int,
    raw: Flags | None = None,
    *,
    drawn: bool = False,
) -> Study:
    """Rescale the chosen rows, by the statistics of whole tables.

    Parameters
    ----------
    before : array of shape (n, d)
        The original.
    after : array of shape (n, e)
        The release; of another number of rows where they are drawn.
    chosen : array of shape (rows,)
        Positions of the rows to measure, in an order drawn at random.
    same_columns, tries, starts, seed
        See `Study`.
    raw : array of shape (d,), optional
        See `release_rescaling`.
    drawn : bool
        Whether released rows belong to nobody. Default: False.
    """
    originals: dict[str, Floats] = {}
    releases: dict[str, Floats] = {}
    scaled: dict[str, tuple[Rescaling, Rescaling]] = {}
    seen = np.random.default_rng([seed, 4]).permutation(len(after))[: len(chosen)] if drawn else chosen
    for name in scalings:
        of_original, of_release = scaled[name] = release_rescaling(before, after, name, raw)
        originals[name] = of_original.apply(before[chosen])
        releases[name] = of_release.apply(after[seen])
    if {"owner", "std"} <= set(originals):
        # the same table: its optima are found once, see original_optima
        originals["std"] = originals["owner"]
    return Study(originals, releases, same_columns, tries, starts, seed, scaled if drawn else None)


def compare_all(
    study: Study,
    headline: str,
    clusters: Sequence[int],
    beyond: Sequence[int],
    ward_rows: int,
    chameleon: bool,
    progress: Progress | None,
) -> Rows:
    """Run all comparisons, as many at a time as there are cores, each on one thread: results do not depend on it.

    Parameters
    ----------
    headline : str
        The scaling in which Ward and Chameleon are compared.
    beyond : sequence of int
        Further numbers of clusters, for k-means in the headline's scaling only.
    ward_rows : int
        Most rows for Ward's tree.
    chameleon : bool
        Whether to run Chameleon.
    progress : function of (text, share done), optional

    Returns
    -------
    tuple
        Agreements and excesses, in no order.
    """
    rows: list[ClusteringAgreement] = []
    excesses: list[Excess] = []
    if not clusters:
        return rows, excesses
    ks = sorted({*clusters, *beyond}, reverse=True)
    plans = {"Ward": _alone(partial(_ward_rows, study, headline, clusters, ward_rows), ward_rows * ward_rows)}
    for k in ks:
        plans[f"k-means, {k} clusters"] = _kmeans_plan(study, k, list(study.original) if k in clusters else [headline])
        if chameleon and k in clusters:
            work = partial(_chameleon_rows, study, headline, k)
            plans[f"Chameleon, {k} clusters"] = _alone(work, MOST_CHAMELEON_ROWS**2)
    names = list(plans)
    told = None if progress is None else lambda at, done: progress(names[at], done / len(names))
    for more_rows, more_excesses in share_plans(list(plans.values()), told):
        rows += more_rows
        excesses += more_excesses
    return rows, excesses


def _alone(work: Callable[[], Rows], size: float) -> Plan[Rows]:
    found: list[Rows] = yield [Task(size, work)]
    return found[0]


def _before(study: Study, scaling: str, k: int, starts: int, begun: Luck | None = None) -> Plan[tuple[Optima, Found]]:
    table, first = study.table(study.original[scaling]), None if begun is None else begun.before
    return original_optima(table, k, starts, study.seeds_of(k), study.tries, first)


def originals_plan(study: Study, k: int) -> Plan[list[tuple[Optima, Found]]]:
    """Return the plan of the optima of the original in every scaling, which are kept; see `original_optima`.

    Parameters
    ----------
    study : Study
    k : int
    """
    tables = {(id(points), study.starts_of(name)): name for name, points in study.original.items()}
    return together([_before(study, name, k, starts) for (_, starts), name in tables.items()])


def _after(study: Study, scaling: str, k: int, starts: int, begun: Luck | None = None) -> Plan[Optima]:
    table, first = study.table(study.released[scaling]), None if begun is None else begun.after
    return optima_plan(table, k, starts, study.seeds_of(k), begun=first)


class Luck(NamedTuple):
    """What a miner may expect.

    Attributes
    ----------
    expected : Expected
    before : Optima
        Of the original.
    named : Found
        The one that is found most often, carried to a fixed point.
    cost : float or None
        What the miner's centres cost on the original, over the best that is known; None where rows correspond.
    after : Optima
        Of the release.
    """

    expected: Expected
    before: Optima
    named: Found
    cost: float | None
    after: Optima


def luck_of(study: Study, scaling: str, k: int) -> Luck:
    """Return what a miner may expect of a release.

    Parameters
    ----------
    study : Study
    scaling : str
    k : int
    """
    return share_plans([lucks_plan(study, k, [scaling])])[0][scaling]


def lucks_plan(study: Study, k: int, scalings: Sequence[str]) -> Plan[dict[str, Luck]]:
    """Return the plan of what a miner may expect in each scaling: the optima of all tables are found side by side.

    Parameters
    ----------
    study : Study
    k : int
    scalings : sequence of str
    """
    starts = {name: study.starts_of(name) for name in scalings}
    lucks: dict[str, Luck] = {}
    asked = list(scalings)
    while asked:  # once more with more starts where it hangs on them; scalings of one table have its optima in common
        tables = {(id(study.original[name]), starts[name]): name for name in asked}
        originals = [_before(study, name, k, starts[name], lucks.get(name)) for name in tables.values()]
        releases = [_after(study, name, k, starts[name], lucks.get(name)) for name in asked]
        found: list[Any] = yield from together([*originals, *releases])
        before = dict(zip(tables, found, strict=False))
        works = [
            partial(_luck, study, name, before[id(study.original[name]), starts[name]], after)
            for name, after in zip(asked, found[len(tables) :], strict=True)
        ]
        size = float(study.original[asked[0]].size)
        lucks |= zip(asked, (yield [Task(size, work) for work in works]), strict=True)
        asked = [n for n in asked if starts[n] == study.starts_of(n) and _is_unsure(study, n, lucks[n])]
        starts |= {name: MORE_STARTS * starts[name] for name in asked}
    return lucks


def _is_unsure(study: Study, scaling: str, luck: Luck) -> bool:
    """Tell whether a headline hangs on the starts; then more are taken, so that another seed says the same."""
    difference = luck.expected.difference
    wide = difference.high is not None and difference.high - difference.mean > _UNSURE
    return wide and scaling == next(iter(study.original)) and len(study.original[scaling]) > LARGE


def _luck(study: Study, scaling: str, original: tuple[Optima, Found], found: Optima) -> Luck:
    before, named = original
    if study.scaled is None:
        return Luck(expect(before, found, study.tries), before, named, None, found)
    after, costs = on_original(found, study.original[scaling], *study.scaled[scaling])
    ratio = float(chances_of(found, study.tries) @ costs) / max(float(before.costs.min()), 1e-300)
    return Luck(expect(before, after, study.tries), before, named, ratio, found)


def shared_labels(study: Study, scaling: str, centres: Floats) -> NDArray[np.int64]:
    """Return the labels of people when k-means on the release starts from given centres of the original.

    Parameters
    ----------
    study : Study
    scaling : str
    centres : array of shape (k, d)
    """
    if study.scaled is None:
        return kmeans_from(study.released[scaling], centres, rounds=SHARED_ROUNDS).labels
    of_original, of_release = study.scaled[scaling]
    began = carried(centres, of_original, of_release)
    ended = kmeans_from(study.released[scaling], began, rounds=SHARED_ROUNDS).centres
    return cost_by_centres(study.original[scaling], carried(ended, of_release, of_original))[1]


def _kmeans_plan(study: Study, k: int, scalings: Sequence[str]) -> Plan[Rows]:
    """Find the optima of all tables with k clusters side by side, then hold releases against originals."""
    lucks = yield from lucks_plan(study, k, scalings)
    parts: list[Rows] = yield [Task(0.0, partial(_kmeans_rows, study, k, name, lucks[name])) for name in scalings]
    return [row for rows, _ in parts for row in rows], [one for _, excesses in parts for one in excesses]


def _kmeans_rows(study: Study, k: int, scaling: str, luck: Luck) -> Rows:
    measured = len(study.original[scaling])
    rows = [
        found_agreement(k, scaling, "rerun", measured, 2 * luck.before.starts, luck.expected.floor),
        found_agreement(k, scaling, "free", measured, 2 * luck.before.starts, luck.expected.release),
    ]
    if study.same_columns:
        shared = shared_labels(study, scaling, luck.named.centres)
        rows.append(agreement("k-means", k, scaling, "shared", luck.named.labels, [shared])[0])
    else:
        rows.append(does_not_apply(k, scaling, "shared", OTHER_COLUMNS))
    return rows, [excess(k, scaling, luck.expected, luck.cost)]


def _ward_rows(study: Study, scaling: str, clusters: Sequence[int], most_rows: int) -> Rows:
    if study.scaled is not None:
        return [does_not_apply(k, scaling, None, DRAWN_ROWS, "ward") for k in clusters], []
    usable = [k for k in clusters if k < min(most_rows, len(study.original[scaling]))]
    rows = [
        does_not_apply(k, scaling, None, f"ward_rows={most_rows} rows make no {k} clusters", "ward")
        for k in clusters
        if k not in usable
    ]
    if usable:
        points = study.original[scaling][:most_rows]
        before = ward_labels(points, usable)
        tables = {None: study.released[scaling][:most_rows], "rerun": _touched(points, study.seed)}
        for start, table in tables.items():
            after = ward_labels(table, usable)
            rows += [agreement("ward", k, scaling, start, before[k], [after[k]])[0] for k in usable]
    return rows, []


def _chameleon_rows(study: Study, scaling: str, k: int) -> Rows:
    if study.scaled is not None:
        return [does_not_apply(k, scaling, None, DRAWN_ROWS, "chameleon")], []
    seed = study.seeds_of(k)[0] % 2**31
    points = study.original[scaling][:MOST_CHAMELEON_ROWS]
    tables = {None: study.released[scaling][:MOST_CHAMELEON_ROWS], "rerun": _touched(points, study.seed)}
    try:
        before = chameleon_labels(points, k, seed)
        found = {start: chameleon_labels(table, k, seed) for start, table in tables.items()}
    except (MissingComponentError, ParameterError) as error:
        return [does_not_apply(k, scaling, None, error.message, "chameleon")], []
    return [agreement("chameleon", k, scaling, start, before, [labels])[0] for start, labels in found.items()], []


def _touched(points: Floats, seed: int) -> Floats:
    """Return the original with a little noise."""
    noise = np.random.default_rng([seed, 3]).normal(size=points.shape)
    return np.asarray(points + _NOISE * points.std(axis=0) * noise)


def does_not_apply(
    k: int, scaling: str, start: str | None, reason: str, clusterer: str = "k-means"
) -> ClusteringAgreement:
    """Return the row of a comparison that cannot be made, with the reason.

    Parameters
    ----------
    k, scaling, start, reason, clusterer
        See `ClusteringAgreement`.
    """
    return ClusteringAgreement(clusterer, k, scaling, start, 0, 0, None, None, None, reason)
