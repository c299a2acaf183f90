"""Traces: small digits, signs and gaps of a release that go with parts of what people have.

Noise that hides values may leave something small alone: whether a number is even, its last digit, in which cells it is
missing. Each trace says little of anybody; all of them together find a row. What goes with what, known rows show, by
counting: a trace that has nothing to do with a part of the records hangs together with it as much as chance makes it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import gammaincc

from sfumato.attack.catalogue import entry
from sfumato.attack.engine.bits import whole_units
from sfumato.attack.engine.interface import Attack, Deadline, NothingFoundError, needs_known_rows
from sfumato.attack.linkage.linking import link_best

if TYPE_CHECKING:
    from sfumato.attack.engine.knowledge import BoolArray, FloatArray, Guess, IntArray, Knowledge, Marginals

_FEWEST = 24
_WRAPS = 4.0
SIZES = (2, 3, 4, 5, 7)  # by which remainders are looked at
_WIDE = 24  # columns beyond which each trace is held against its own column only
_PARTS = 8  # of a column of numbers, equally many people in each
_LEVELS = 16  # of anything that is counted
_DOUBT = 1e-6  # of all pairs together, that one hangs together by chance


@dataclass(frozen=True, eq=False)
class Trace:
    """Something small that a release says of every row.

    Attributes
    ----------
    column : int
        Of the release.
    what : str
        In words.
    codes : array of shape (n,)
        0, 1, ...
    """

    column: int
    what: str
    codes: IntArray


def traces_of(released: FloatArray, gaps: BoolArray | None, wraps: float = _WRAPS) -> Iterator[Trace]:
    """Yield what is small in each column of a release.

    Parameters
    ----------
    released : array of shape (n, e)
    gaps : array of shape (n, e), or None
        Cells that are missing.
    wraps : float
        How often digits must go round over the middle half of a column, lest they be the column itself. Default: 4.

    Examples
    --------
    >>> column = np.arange(300.0)[:, None] / 10
    >>> [one.what for one in traces_of(column, None)][:3]
    ['the last digits', 'the remainder by 2', 'the remainder by 3']
    """
    for k, column in enumerate(released.T):
        if gaps is not None and gaps[:, k].any():
            yield Trace(k, "the gaps", gaps[:, k].astype(np.int64))
        units = whole_units(column)
        low, high = np.quantile(column, [0.25, 0.75])
        if units is None or high <= low:
            continue
        whole, base, digits = units
        steps = (high - low) * float(base) ** digits
        if base == 10:
            place = 1
            while steps / (10 * place) >= wraps and place < 10**12:
                yield Trace(k, "the last digits", whole // place % 10)
                place *= 10
        for size in SIZES if base == 10 else (2, 4, 8, 16):
            if steps / size >= wraps:
                yield Trace(k, f"the remainder by {size}", whole % size)


def parts_of(records: FloatArray, known: FloatArray, public: Marginals) -> Iterator[tuple[int, IntArray, IntArray]]:
    """Yield columns and parts of them, as codes, of people who are looked for and of known ones: eighths, last digits.

    Parameters
    ----------
    records, known : arrays of shapes (p, d) and (m, d)
    public : Marginals
        Quantiles of the original.
    """
    for j, (column, told) in enumerate(zip(records.T, known.T, strict=True)):
        both = np.concatenate([column, told])
        values = np.unique(both)
        if len(values) < 2:
            continue
        if len(values) <= _LEVELS:
            cuts = (values[1:] + values[:-1]) / 2
        else:
            cuts = np.unique(np.interp(np.arange(1, _PARTS) / _PARTS, public.levels, public.quantiles[:, j]))
        yield j, np.searchsorted(cuts, column, side="right"), np.searchsorted(cuts, told, side="right")
        units = whole_units(both)
        if units is None or len(values) <= _LEVELS:
            continue
        for size in (*SIZES, 10):
            yield j, units[0][: len(column)] % size, units[0][len(column) :] % size


def hang_together(one: IntArray, other: IntArray) -> tuple[float, FloatArray]:
    """Return how likely chance makes two codes hang together as they do, and the table of their counts.

    Parameters
    ----------
    one, other : arrays of shape (m,)
        Codes 0, 1, ...

    Examples
    --------
    >>> chance, _ = hang_together(np.arange(60) % 3, np.arange(60) % 3)
    >>> chance < 1e-12
    True
    """
    height, width = int(one.max()) + 1, int(other.max()) + 1
    table = np.bincount(one * width + other, minlength=height * width).reshape(height, width).astype(np.float64)
    usual = table.sum(axis=1)[:, None] * table.sum(axis=0) / len(one)
    seen = usual > 0
    freedom = (int(seen.any(axis=1).sum()) - 1) * (int(seen.any(axis=0).sum()) - 1)
    if freedom < 1:
        return 1.0, table
    # where few are expected a cell counts as if one more were, so that a rare pair alone is no proof
    squared = float(((table - usual)[seen] ** 2 / np.maximum(usual[seen], 1.0)).sum())
    return float(gammaincc(freedom / 2, squared / 2)), table


class Traces(Attack):
    """Learn from known rows what small digits and gaps go with, and link a person to the row that fits in all of them.

    Examples
    --------
    >>> from sfumato.attack import run_attack
    >>> draw = np.random.default_rng(0)
    >>> table, noise = draw.integers(0, 1000, size=(600, 12)), draw.integers(0, 400, size=(600, 12))
    >>> run_attack(Traces(), table, 2 * noise + table % 2).rate > 0.5
    True
    """

    entry = entry("traces")

    def objection(self, knowledge: Knowledge) -> str | None:
        """Return a reason when too few people are known to learn from."""
        return needs_known_rows(knowledge, _FEWEST)

    def run(self, knowledge: Knowledge, deadline: Deadline) -> Guess:
        """Return the rows whose traces fit each person best."""
        assert knowledge.pairs is not None
        assert knowledge.records is not None
        assert knowledge.marginals is not None
        at, n = knowledge.pairs.rows, knowledge.n_rows
        of_release = list(traces_of(knowledge.released, knowledge.gaps))
        traces, wide = [one.codes for one in of_release], knowledge.released.shape[1] > _WIDE
        parts = list(parts_of(knowledge.records, knowledge.pairs.values, knowledge.marginals))
        told: list[tuple[float, int, int, FloatArray]] = []
        for i, trace in enumerate(traces):
            for j, (column, _, known) in enumerate(parts):
                if wide and column != of_release[i].column:
                    continue
                deadline.check(len(at))
                chance, counts = hang_together(known, trace[at])
                if chance * len(traces) * len(parts) < _DOUBT:
                    told.append((chance, i, j, counts))
        if not told:
            raise NothingFoundError("small digits and gaps go with nothing that known people have")
        told.sort(key=lambda one: one[0])
        used: set[int] = set()
        chosen = []
        for _, i, j, counts in told:  # each trace is counted once, for the part that it goes with best
            if i not in used:
                used.add(i)
                usual = np.bincount(traces[i], minlength=counts.shape[1]) / n
                usual = usual[: counts.shape[1]] if len(usual) <= counts.shape[1] else usual
                every = np.zeros((int(max(parts[j][1].max(), counts.shape[0] - 1)) + 1, len(usual)))
                every[: counts.shape[0], : counts.shape[1]] = counts
                share = (every + usual) / (every.sum(axis=1, keepdims=True) + 1)
                chosen.append((i, j, -np.log(np.maximum(share, 1e-9) / np.maximum(usual, 1e-9))))

        def cost(part: slice) -> FloatArray:
            total = np.zeros((len(parts[0][1][part]), n))
            for i, j, table in chosen:
                total += table[parts[j][1][part]][:, traces[i]]
            return total

        return link_best(len(knowledge.records), n, cost, deadline)
