"""What small things of a release tell of single columns: last digits, remainders, gaps.

Noise that hides a value may leave its last digit alone, or a release may write something there. Known rows show what
each digit goes with; it is tried on everybody else, for the half in which a number stands, whether it is even, and for
categories. What digits and gaps of the original told as well is no news.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy.stats import binom

from sfumato._arrays import Flags, Floats, Integers
from sfumato.attack.engine.bits import whole_units
from sfumato.attack.engine.result import lift
from sfumato.attack.linkage.traces import Trace, traces_of
from sfumato.auditing.aligned import AlignedTables
from sfumato.auditing.carriers import TOLD, Carried, measure_carriers
from sfumato.auditing.equality import most_guess
from sfumato.frames.whole import WholeRows

_KNOWN, _FEWEST = 1_000, 24  # people whose rows are known: a tenth of the table
_ROWS = 20_000  # people who are looked at
_MORE = 0.2  # lift that a trace must have more than the same one of the original
_CHANCE = 1e-4  # how likely all of them together may tell something by chance
_WRAPS = 2.0  # how often digits must go round: whether a count is even may be written by somebody, too
_LEVELS = 50  # different categories beyond which a column names people
_REMAINDERS = (2, 3, 5)  # that are asked for
_LOOKS = 400_000  # times that a trace is held against a column: in wide tables those of the next columns are
_LEVELS_ASKED = (0.5, 0.1, 0.2, 0.8, 0.9)  # quantiles above which somebody may stand
_EVEN = 20  # different values of a column, without which whether one is even is its value


def measure_beside(
    as_read: tuple[Any, Any],
    tables: AlignedTables,
    whole: WholeRows | None,
    aside: Sequence[str],
    *,
    order: Any,
    company: Any,
    kept: Any,
    seed: Any,
) -> tuple[Carried, ...]:
    """Return what a release says of columns beside its values: in carriers, and in small traces.

    Parameters
    ----------
    as_read : tuple of two tables
        Before texts were counted.
    tables, whole, company, kept, seed
        See `measure_small_traces`.
    aside : sequence of str
        Columns that carriers are not looked for in.
    order : sequence of int, optional
        See `measure_carriers`.
    """
    if not tables.same_columns:
        return ()
    carried = measure_carriers(*as_read, order=order, kept=aside, company=company, seed=seed)
    return (*carried, *measure_small_traces(tables, whole=whole, company=company, kept=kept, seed=seed))


def measure_small_traces(
    tables: AlignedTables,
    *,
    whole: WholeRows | None = None,
    company: Integers | None = None,
    kept: Sequence[str] = (),
    seed: int = 0,
) -> tuple[Carried, ...]:
    """Return what traces of a release tell of the original's columns, each by the trace that tells it best.

    Parameters
    ----------
    tables : AlignedTables
        Of the same columns.
    whole : WholeRows, optional
        The same rows with their categories, for tables of every kind.
    company : array of shape (n,) or (n, groupings), optional
        Rows with the same number share all clusters that the release keeps, or some of them; what these tell is no
        news.
    kept : sequence of str
        Columns that are kept on purpose. Default: none.
    seed : int
        Draws the people who are known. Default: 0.
    """
    mixed = np.random.default_rng([seed, 77]).permutation(len(tables.original))[:_ROWS]
    known, others = np.split(np.arange(len(mixed)), [min(_KNOWN, max(_FEWEST, len(mixed) // 10))])
    if len(others) < _FEWEST:
        return ()
    before, gaps_before = tables.original[mixed], _taken(tables.gaps_before, mixed)
    traces = list(traces_of(tables.released[mixed], _taken(tables.gaps, mixed), _WRAPS))
    own = {(one.column, one.what): one.codes for one in traces_of(before, gaps_before, _WRAPS)} if traces else {}
    company = None if company is None else company[mixed]
    targets = list(_asked(before, tables.names)) if traces else []
    if whole is not None and traces:
        targets += [one for one in _categories(whole, mixed) if one[1] not in kept]
    found: dict[str, Carried] = {}
    near = _Near(traces, len(targets), tables.released.shape[1])
    for place, name, truth, news in targets:
        guess = most_guess(truth.astype(np.float64), company)
        for one in near.of(place):
            right = _says(one.codes, truth, known, others) == truth[others]
            low = lift(float(right.sum()), len(right), baseline=guess).lower
            if low <= max(TOLD, found[name].lift_low if name in found else 0.0):
                continue
            chance = float(binom.sf(int(right.sum()) - 1, len(right), guess))
            if chance * len(targets) * len(traces) > _CHANCE:
                continue
            usual = own.get((one.column, one.what))
            if usual is not None and news:
                as_before = _says(usual, truth, known, others) == truth[others]
                if low <= lift(float(as_before.sum()), len(right), baseline=guess).lower + _MORE:
                    continue
            words = _words(one, tables.names)
            found[name] = Carried(name, words, float(right.mean()), guess, low, by_few=False)
    return tuple(found.values())


def _taken(flags: Flags | None, rows: Integers) -> Flags | None:
    return None if flags is None else flags[rows]


class _Near:
    """The traces that a column is held against: all, or in a wide table its own and those of the next columns.

    Parameters
    ----------
    traces : sequence of Trace
    targets : int
        How many are held against them.
    columns : int
        Of the release.
    """

    def __init__(self, traces: Sequence[Trace], targets: int, columns: int) -> None:
        self._all, self._columns = traces, columns
        self._by_column: dict[int, list[Trace]] = {}
        for one in traces:
            self._by_column.setdefault(one.column, []).append(one)
        looks = targets * len(traces)
        self._reach = columns if looks <= _LOOKS else max(1, _LOOKS * columns // looks)

    def of(self, place: int) -> Sequence[Trace]:
        if self._reach >= self._columns:
            return self._all
        places = ((place + step) % self._columns for step in range(self._reach))
        return [one for column in places for one in self._by_column.get(column, ())]


def _asked(table: Floats, names: tuple[str, ...]) -> Iterator[tuple[int, str, Integers, bool]]:
    """Yield what is asked of each column: in which half a number stands, and whether it is even.

    Besides, whether it may be no news: that its last digit says whether a number is even always is.
    """
    for place, (name, column) in enumerate(zip(names, table.T, strict=True)):
        for level in _LEVELS_ASKED:
            above = column > np.quantile(column, level)
            if above.any() and (level == _LEVELS_ASKED[0] or not above.all()):
                yield place, name, above.astype(np.int64), True
        units = whole_units(column)
        if units is not None and len(np.unique(column)) >= _EVEN:
            for size in _REMAINDERS:
                rest = units[0] % size
                what = f"whether {name} is even" if size == 2 else f"the remainder of {name} by {size}"
                if np.ptp(rest) > 0:
                    yield place, what, rest, False


def _categories(whole: WholeRows, rows: Integers) -> Iterator[tuple[int, str, Integers, bool]]:
    for place, (name, kind, column) in enumerate(zip(whole.names, whole.kinds, whole.original[rows].T, strict=True)):
        values, codes = np.unique(column, return_inverse=True)
        if kind == "category" and 1 < len(values) <= _LEVELS:
            yield place, name, codes.reshape(-1), True


def _says(codes: Integers, truth: Integers, known: Integers, others: Integers) -> Integers:
    """Return what most known people with the same code have, or most of all where nobody known has it."""
    width = int(truth.max()) + 1
    pairs = np.bincount(codes[known] * width + truth[known], minlength=(int(codes.max()) + 1) * width)
    usual = np.bincount(truth[known], minlength=width) / len(known)
    return np.asarray((pairs.reshape(-1, width) + usual).argmax(axis=1)[codes[others]])


def _words(trace: Trace, names: tuple[str, ...]) -> str:
    column = names[trace.column] if trace.column < len(names) else f"column {trace.column + 1}"
    return f"{trace.what} of {column}"
