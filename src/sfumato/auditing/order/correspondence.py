"""Find out who is who: the rows of a release are never trusted to stand in the order of the original.

Copies are found wherever they stand, as rows that are each other's nearest in some view (scale, ranks, direction,
sorted cells). Where most of them stand at other rows than their own, the release was shuffled, and its rows are put
back. Where both tables name people, names are believed if the other columns agree.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from sfumato._arrays import Floats, Integers
from sfumato.attack.engine.registration import laid_upon, projected_upon
from sfumato.attack.engine.transforms import ROW_VIEWS, own_scale
from sfumato.attack.known.low_digits import digits_after, digits_at
from sfumato.attack.linkage.twins import Twins, count_twins, nearest_pairs
from sfumato.auditing.aligned import align_tables, visibly_moved
from sfumato.auditing.copies import DOUBT, MOST_ROWS, TwinFinder
from sfumato.auditing.order.seen import exchanged, seen_tables
from sfumato.auditing.order.shared_cells import order_by_cells
from sfumato.auditing.whole.looked_up import categories_in_order
from sfumato.exceptions import SfumatoError
from sfumato.frames.frame import as_polars, is_dataframe
from sfumato.frames.whole import read_whole

_MATCHED = 0.1  # share of the rows that must have a twin before their order is believed
_LEFT = 2_500  # rows without a twin that are still put where they fit best
_FEW = 20  # fewer numbers may well be evenly spread
_PLACES = (*(10.0**k for k in range(9)), *(2.0**k for k in range(2, 17, 2)))  # behind which a table may stand
_TOGETHER = 3.0  # how much more digits must hang together than evenly spread ones
_GLANCE = 1_000  # values at which is looked first
_SHORT, _UNSURE = 10, 0.02  # steps of which whole ones are told from others, and how much of a step is not known


@dataclass(frozen=True, eq=False)
class Matched:
    """The order that twins tell.

    Attributes
    ----------
    order : array of shape (n,)
        `order[i]` is the original row that stands in row i of the release.
    share : float
        Share of the rows that have a twin; the others stand where they fit best.
    view : str
        How they were seen.
    """

    order: Integers
    share: float
    view: str

    @property
    def note(self) -> str:
        """One sentence."""
        return f"the rows stand in another order; {self.share:.0%} of them were matched by {self.view}"


def find_order(
    original: Floats, released: Floats, *, seed: int = 0, finder: TwinFinder | None = None
) -> Matched | None:
    """Return the order of a shuffled release whose rows can be told; None if it is in order, or cannot be known.

    Parameters
    ----------
    original, released : arrays of shape (n, d)
    finder : TwinFinder, optional
        Of the same seed; it is left knowing the twins. Default: a new one.
    """
    n = len(original)
    if n > MOST_ROWS:
        return None
    best: tuple[str, Twins] | None = None
    for name, twins in (finder or TwinFinder(seed)).twins(original, released).items():
        if best is None or twins.at_least(DOUBT) > best[1].at_least(DOUBT):
            best = (name, twins)
    if best is None:
        return None
    name = best[0]

    def places() -> tuple[Floats, Floats]:
        seen = seen_tables(original, released, seed=seed)
        return seen.get(name, seen["values"])  # rows that share cells have no place by these

    return _matched(*best, n, places)


def _matched(name: str, twins: Twins, n: int, places: Callable[[], tuple[Floats, Floats]]) -> Matched | None:
    """Return the order that twins tell; None if they are few, or stand at their own rows."""
    if twins.at_least(DOUBT) < _MATCHED * n or (twins.first != twins.second).mean() < 0.5:
        return None
    order = np.full(n, -1, dtype=np.int64)
    order[twins.second] = twins.first
    rows, people = np.flatnonzero(order < 0), np.setdiff1d(np.arange(n), twins.first)
    if len(rows):
        left, right = places()
        order[rows] = people[_fit(right[rows], left[people])]
    return Matched(order, len(twins.first) / n, name)


def find_order_of_sums(original: Floats, released: Floats, *, seed: int = 0) -> Matched | None:
    """Return the order of a shuffled release of fewer columns, sums of the original's; None if it cannot be known.

    Parameters
    ----------
    original, released : arrays of shapes (n, d) and (n, e)
    """
    if len(original) != len(released) or len(original) > MOST_ROWS:
        return None
    for lay in (laid_upon, partial(projected_upon, seed=seed)):
        pair = lay(original, released)
        twins = None if pair is None else count_twins(nearest_pairs(*pair))
        if pair is not None and twins is not None and twins.likely < DOUBT:
            found = _matched("how they lie", twins, len(original), lambda pair=pair: pair)  # type: ignore[misc]
            if found is not None:
                return found
    return None


def _fit(rows: Floats, people: Floats) -> Integers:
    """Return the person for each row: those that fit best together, or by their first coordinate if they are many."""
    if len(rows) <= _LEFT:
        return np.asarray(linear_sum_assignment(cdist(rows, people))[1], dtype=np.int64)
    fitted = np.empty(len(rows), dtype=np.int64)
    fitted[np.argsort(rows[:, 0], kind="stable")] = np.argsort(people[:, 0], kind="stable")
    return fitted


def stands_in_order(original: Floats, released: Floats, *, seed: int = 0, rounds: int = 199) -> bool:
    """Tell whether the rows of a release have anything to do with the originals at their places.

    A regression of the originals' ranks on the release, learnt on one half of a sample and tried on the other, must be
    better than with the rows of the release in any of so many random orders.

    Parameters
    ----------
    original : array of shape (n, d)
    released : array of shape (n, e)

    Examples
    --------
    >>> draw = np.random.default_rng(0)
    >>> table = draw.normal(size=(200, 3))
    >>> stands_in_order(table, table @ draw.normal(size=(3, 3))), stands_in_order(table, draw.permutation(table))
    (True, False)
    """
    generator = np.random.default_rng([seed, 53])
    chosen = generator.permutation(len(original))[:1_000]
    x, y = (own_scale(ROW_VIEWS["ranks"](table[chosen])) for table in (original, released))
    y = y[:, : max(1, len(chosen) // 8)]
    half = np.arange(len(chosen)) % 2 == 0

    def told(order: Integers) -> float:
        rows = np.column_stack([y[order], np.ones(len(order))])
        total = 0.0
        for side in (half, ~half):
            learnt = rows[side]
            weights = np.linalg.solve(learnt.T @ learnt + np.eye(rows.shape[1]), learnt.T @ x[side])
            total += float(((x[~side] - rows[~side] @ weights) ** 2).sum())
        return -total

    own = told(np.arange(len(chosen)))
    return all(own > told(generator.permutation(len(chosen))) for _ in range(rounds))


def order_by_digits(released: Floats) -> Integers | None:
    """Return the order that evenly spread digits of a column tell, as row numbers are; None if none are.

    Parameters
    ----------
    released : array of shape (n, e)

    Examples
    --------
    >>> draw = np.random.default_rng(0)
    >>> column = np.round(draw.normal(size=40), 2) + np.array([*range(20, 40), *range(20)]) * 1e-5
    >>> order_by_digits(column[:, None])[:3]
    array([20, 21, 22])
    """
    if len(released) < _FEW:
        return None
    chosen = np.random.default_rng(0).permutation(len(released))[:_GLANCE]
    for column in released.T:
        if not any(_may_be_even(rest, len(released)) for _, rest in digits_after(column[chosen])):
            continue
        ranks = np.argsort(np.argsort(column, kind="stable"))
        for _, rest in digits_after(column):
            if not _may_be_even(rest[chosen], len(released)):
                continue
            order = np.argsort(rest, kind="stable")
            steps = np.diff(rest[order])
            even = steps.mean() > 0 and np.ptp(steps) < 1e-3 * steps.mean()
            place = np.argsort(order)
            if even and abs(np.corrcoef(place, ranks)[0, 1]) < 0.9:  # a column of ranks is no row number
                return np.asarray(place, dtype=np.int64)
    return None


def _may_be_even(some: Floats, n_rows: int) -> bool:
    """Tell whether values chosen among n evenly spread ones could be these: all steps between them are whole.

    Chosen ones nearly reach from end to end, so the step is known to a few hundredths; short ways are whole steps then.
    """
    some = np.sort(some)
    steps = np.diff(some) * ((n_rows - 1) / max(some[-1] - some[0], 1e-300))
    short = steps[steps < _SHORT]
    return bool((np.abs(short - np.rint(short)) <= _UNSURE * short).all()) and bool((short > 0.5).all())


def table_in_digits(released: Floats) -> Floats | None:
    """Return the digits behind the place at which those of the columns hang together most; None if they do not.

    Digits of noise are evenly spread and hang on nothing; a table that was written into them brings its correlations.

    Parameters
    ----------
    released : array of shape (n, e)
        The release.

    Examples
    --------
    >>> draw = np.random.default_rng(0)
    >>> table = draw.uniform(size=(300, 1)) + 0.1 * draw.uniform(size=(300, 3))
    >>> released = np.round(draw.normal(size=(300, 3)), 2)
    >>> table_in_digits(released) is None
    True
    >>> np.allclose(table_in_digits(released + 1e-3 * table), table / 10)
    True
    """
    n, e = released.shape
    if n < _FEW or e < 2:
        return None
    some = released[np.random.default_rng(0).permutation(n)[:_GLANCE]]
    apart, usual = np.triu_indices(e, 1), np.sqrt(2 / (np.pi * len(some)))
    found = (_TOGETHER * usual, 0.0)
    for unit in _PLACES:
        digits = digits_at(some, unit)
        if (digits.std(axis=0) <= 0).any() or (np.abs(digits - some * unit) < 1).all():
            continue  # nothing is left of a column, or all of it
        scaled = own_scale(digits)
        together = float(np.abs((scaled.T @ scaled)[apart]).mean()) / len(some)
        found = max(found, (together, unit))
    return digits_at(released, found[1]) if found[1] else None


def order_by_names(original: Any, released: Any) -> Integers | None:
    """Return the order that a column tells which names everybody in both tables; None if there is none.

    Parameters
    ----------
    original, released : dataframes or arrays
    """
    if not (is_dataframe(original) and is_dataframe(released)):
        return None
    before, after = as_polars(original), as_polars(released)
    for name in before.columns:
        if name not in after.columns or before[name].dtype != after[name].dtype or before[name].dtype.is_float():
            continue
        left, right = before[name], after[name]
        if left.null_count() or left.n_unique() != len(left) or not left.sort().equals(right.sort()):
            continue
        if left.equals(right):
            return None
        places = {value: row for row, value in enumerate(left.to_list())}
        return np.array([places[value] for value in right.to_list()], dtype=np.int64)
    return None


def find_out_order(
    original: Any,
    released: Any,
    order: Any,
    *,
    seed: int,
    columns: Sequence[str] | None,
    leave_out: Sequence[str],
    finder: TwinFinder | None = None,
) -> tuple[str, Any, str]:
    """Return how the order is known, the order, and a note.

    Parameters
    ----------
    original, released : dataframes or arrays
    order : sequence of int, "not known" or None
        What the caller says.
    seed, columns, leave_out
        As of the audit.
    finder : TwinFinder, optional
        See `find_order`.
    """
    if isinstance(order, str):
        return "not known", None, ""
    if order is not None:
        return "given", order, ""
    try:
        tables = align_tables(original, released, columns=columns, leave_out=leave_out)
    except SfumatoError:  # whoever reads the tables next says what is wrong with them
        return "assumed", None, ""
    x, y = tables.original, tables.released
    if not tables.same_columns:
        summed = find_order_of_sums(x, y, seed=seed) if y.shape[1] <= x.shape[1] else None
        return ("assumed", None, "") if summed is None else ("found", summed.order, summed.note)
    named = order_by_names(original, released)
    if named is not None and not stands_in_order(x, y, seed=seed):
        back = np.argsort(named)
        if stands_in_order(x, y[back], seed=seed):
            return "found", named, "the rows stand in another order, which a column that names everybody tells"
    found = find_order(x, y, seed=seed, finder=finder)
    if found is not None:
        return "found", found.order, found.note
    numbered = order_by_digits(y)
    if numbered is not None and not np.array_equal(numbered, np.arange(len(numbered))):
        return "found", numbered, "the rows stand in another order, which digits of a column tell"
    stands = stands_in_order(x, y, seed=seed)
    whole = None if stands else read_whole(original, released, columns=columns, leave_out=leave_out)
    if not stands:
        placed = order_by_cells(x, y, *exchanged(y, seed), seed=seed)
        if placed is None and whole is not None and any(whole.categories):
            placed = order_by_cells(whole.original, whole.released, *exchanged(whole.released, seed), seed=seed)
        if placed is not None and not np.array_equal(placed, np.arange(len(placed))):
            return "found", placed, "the rows stand in another order, which cells that were left as they are tell"
        hidden = table_in_digits(y) if placed is None else None
        found = None if hidden is None else find_order(x, own_scale(hidden) * x.std(axis=0) + x.mean(axis=0), seed=seed)
        if found is not None:
            return (
                "found",
                found.order,
                f"the rows stand in another order; {found.share:.0%} were matched by low digits",
            )
    if visibly_moved(original, released) and not stands:
        if whole is not None and categories_in_order(whole, seed=seed):
            return "assumed", None, ""
        return "not known", None, "texts or gaps of the original stand at other rows of the release"
    return "assumed", None, ""
