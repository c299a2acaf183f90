"""The papers' privacy figures, the one that counts (residual security after the best attack), and verbatim records.

An audit compares row by row. A release whose rows are in another order than the audit believes, or that publishes
some records untouched, must not pass because of that: records that stand as they are are found wherever they stand.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import binom

from sfumato._arrays import Flags, Floats, Integers
from sfumato.attack.engine.judge import READ
from sfumato.attack.engine.result import Result, lift, wilson_interval
from sfumato.attack.linkage.kept_columns import number_rows
from sfumato.auditing.aligned import AlignedTables
from sfumato.auditing.equality import most_guess
from sfumato.metrics import (
    equivalence_class_sizes,
    hiding_failure,
    interval_disclosure,
    mean_shift,
    variance_security,
)

_WORST = 20
_BY_CHANCE = 2e-3  # how unlikely records on their own row must be

_FEW = 20  # values of a column that groups of people may have in common
_OPEN = 0.05  # share of a column's variance that is left when it is laid open


@dataclass(frozen=True)
class ColumnPrivacy:
    """One column.

    Attributes
    ----------
    name : str
    security : float or None
        Var(x - y)/Var(x), the papers' figure; more looks more private. None for a constant column.
    residual : float or None
        Var(x - guess)/Var(x) for the best attack on this column; more is more private. 0 means laid open.
    residual_attack : str or None
        Which attack that is.
    mean_shift : float or None
        |mean(y) - mean(x)| in standard deviations.
    """

    name: str
    security: float | None
    residual: float | None
    residual_attack: str | None
    mean_shift: float | None


@dataclass(frozen=True)
class Privacy:
    """Privacy figures of a release.

    Attributes
    ----------
    columns : tuple of ColumnPrivacy
    min_security : float or None
        The papers' mSec.
    median_residual, min_residual : float or None
        Residual security over the columns.
    unchanged_rows : float or None
        Share of rows released as they are (hiding failure).
    interval_disclosure : float or None
        Share of cells within 5 % of a standard deviation of the original.
    smallest_class : int
        Fewest released rows that look alike.
    """

    columns: tuple[ColumnPrivacy, ...]
    min_security: float | None
    median_residual: float | None
    min_residual: float | None
    unchanged_rows: float | None
    interval_disclosure: float | None
    smallest_class: int

    def laid_open(self, grade: str, read: Sequence[str] = (), inside: Sequence[float] | None = None) -> str:
        """Return a warning about columns that an attack gives away although few whole records are recovered.

        Parameters
        ----------
        grade : str
            Nothing is added to a grade that warns already.
        read : sequence of str
            Columns that are read in nearly every row, though a few values are far off. Default: none.
        inside : sequence of float, optional
            What is left of each column inside the clusters that the release is meant to tell; see `open_columns`.
        """
        floors = [1.0] * len(self.columns) if inside is None else inside
        names = [
            column.name
            for column, floor in zip(self.columns, floors, strict=True)
            if (column.residual is not None and column.residual < min(_OPEN, floor / 2)) or column.name in read
        ]
        if grade not in {"A", "B", "C"} or not names:
            return ""
        listed = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
        return f" But {len(names)} of {len(self.columns)} columns are laid open almost exactly: {listed}."


def residual_security(results: Sequence[Result], n_columns: int) -> list[tuple[float | None, str | None]]:
    """Return for each column the smallest Var(x - guess)/Var(x) over all attacks on values, and the attack."""
    out: list[tuple[float | None, str | None]] = [(None, None)] * n_columns
    for result in results:
        if result.residual is None or len(result.residual) != n_columns:
            continue
        for column, value in enumerate(result.residual):
            best = out[column][0]
            if np.isfinite(value) and (best is None or value < best):
                out[column] = (float(value), result.attack)
    return out


def any_open(results: Sequence[Result], inside: Floats) -> bool:
    """Tell whether an attack leaves almost nothing hidden of some column: such a release gets no A.

    Parameters
    ----------
    results : sequence of Result
        All attacks.
    inside : array of shape (d,)
        See `open_columns`.
    """
    left = zip(residual_security(results, len(inside)), inside, strict=True)
    return any(one is not None and one < min(_OPEN, floor / 2) for (one, _), floor in left)


def open_columns(names: Sequence[str], results: Sequence[Result], inside: Floats) -> tuple[tuple[str, str], ...]:
    """Return the columns that attacks on values lay open, with the attack that takes least to know.

    Parameters
    ----------
    names : sequence of str
        All columns.
    results : sequence of Result
        All attacks.
    inside : array of shape (d,)
        What is left of each column inside the clusters that the release is meant to tell: an attack must leave less
        than half of it.
    """
    found: dict[str, tuple[int, str]] = {}
    costs = ("nothing", "sample", "few records", "many records")
    for result in results:
        if result.residual is None or len(result.residual) != len(names) or result.cost not in costs:
            continue
        lifts = result.column_lifts or (0.0,) * len(names)
        for name, left, floor, read in zip(names, result.residual, inside, lifts, strict=True):
            if left < min(_OPEN, floor / 2) or (read > READ and floor >= _OPEN):
                found[name] = min(found.get(name, (9, "")), (costs.index(result.cost), result.cost))
    return tuple((name, found[name][1]) for name in names if name in found)


def left_inside(table: Floats, groups: Integers | None) -> Floats:
    """Return the share of each column's variance that is left when everybody is guessed by the others of their group.

    Parameters
    ----------
    table : array of shape (n, d)
    groups : array of shape (n,) or (n, groupings), or None
        Of several groupings the one counts that leaves least of a column.

    Examples
    --------
    >>> left_inside(np.array([[0.0], [0.0], [9.0], [9.0]]), np.array([0, 0, 1, 1]))
    array([0.])
    """
    left = np.ones(table.shape[1])
    for one in [] if groups is None else groups.reshape(len(table), -1).T:
        size = np.bincount(one)[one]
        for j, column in enumerate(table.T):
            others = np.bincount(one, column)[one] - column
            guess = np.where(size > 1, others / np.maximum(size - 1, 1), column.mean())
            if column.var() > 0:
                left[j] = min(left[j], float(((column - guess) ** 2).mean() / column.var()))
    if groups is not None:
        left[told_by_groups(table, groups)] = 0.0
    return left


def told_by_groups(table: Floats, groups: Integers) -> Flags:
    """Return the columns of few values whose value most others of a group have, for nearly everybody.

    Where clusters are kept, that is what they tell on purpose; an attack can lay nothing more of such a column open.

    Parameters
    ----------
    table : array of shape (n, d)
    groups : array of shape (n,) or (n, groupings)

    Examples
    --------
    >>> told_by_groups(np.array([[0.0], [0.0], [9.0], [9.0]]), np.array([0, 0, 1, 1]))
    array([ True])
    """
    told = np.zeros(table.shape[1], dtype=np.bool_)
    for j, column in enumerate(table.T):
        mode = most_guess(column)
        if len(np.unique(column)) <= _FEW and mode < 1.0:
            told[j] = most_guess(column, groups) - mode > READ * (1.0 - mode)
    return told


def about_told(names: Sequence[str], inside: Floats) -> tuple[str, ...]:
    """Return a note on columns that the kept clusters tell by themselves; nothing if there are none.

    Parameters
    ----------
    names : sequence of str
        All columns.
    inside : array of shape (d,)
        See `open_columns`.
    """
    told = [name for name, left in zip(names, inside, strict=True) if left == 0.0]
    return (f"clusters that the release keeps tell {', '.join(told)}, whatever else it holds",) if told else ()


def measure_privacy(
    names: Sequence[str], original: Floats, released: Floats, results: Sequence[Result], *, same_columns: bool
) -> Privacy:
    """Return the privacy figures of a release.

    Parameters
    ----------
    original : array of shape (n, d)
    released : array of shape (n, e)
    results : sequence of Result
        All attacks, for residual security.
    same_columns : bool
        Whether columns can be compared.
    """
    residual = residual_security(results, len(names))
    varies = original.std(axis=0) > 0
    security: list[float | None] = [None] * len(names)
    shift: list[float | None] = [None] * len(names)
    if same_columns and varies.any():
        for column, value in zip(
            np.flatnonzero(varies), variance_security(original[:, varies], released[:, varies]), strict=True
        ):
            security[int(column)] = float(value)
        for column, value in zip(
            np.flatnonzero(varies), mean_shift(original[:, varies], released[:, varies]), strict=True
        ):
            shift[int(column)] = float(value)
    columns = tuple(
        ColumnPrivacy(name, security[i], residual[i][0], residual[i][1], shift[i]) for i, name in enumerate(names)
    )
    known = [value for value, _ in residual if value is not None]
    secure = [value for value in security if value is not None]
    return Privacy(
        columns=columns,
        min_security=min(secure) if secure else None,
        median_residual=float(np.median(known)) if known else None,
        min_residual=min(known) if known else None,
        unchanged_rows=float(hiding_failure(original, released)) if same_columns else None,
        interval_disclosure=float(interval_disclosure(original, released)) if same_columns else None,
        smallest_class=int(equivalence_class_sizes(released).min()),
    )


def worst_records(tables: AlignedTables, results: Sequence[Result]) -> tuple[int, ...]:
    """Return the positions of records released as they are, and of those that most attacks recovered or linked."""
    count: Counter[int] = Counter()
    if tables.same_columns:
        untouched = np.flatnonzero((tables.original == tables.released).all(axis=1))
        count.update({int(row): len(results) for row in untouched})
    for result in results:
        if result.scores is not None and (result.lift_low or 0.0) > 0.0:
            won = result.scores.attack > result.scores.baseline
            count.update(int(row) for row in result.scores.rows[won])
    twice = [item for item in count.items() if item[1] > 1]  # one attack alone hits someone by luck
    worst = sorted(twice, key=lambda item: (-item[1], item[0]))[:_WORST]
    return tuple(int(row) for row, _ in worst)


@dataclass(frozen=True)
class Verbatim:
    """How many original records occur in the release.

    Attributes
    ----------
    in_place : float
        Share of rows released as they are.
    anywhere : float
        Share of the original records that occur somewhere in the release.
    by_chance : float
        The most that strangers' records may be expected to give: how often those of one half of the original stand in
        the other half, twice.
    n_rows : int
    singles : bool
        Whether only records that nobody else has are counted, as for whole rows. Default: False.
    pair_chance : float
        Probability at most that the records of two strangers are equal. Default: 1.0.
    """

    in_place: float
    anywhere: float
    by_chance: float
    n_rows: int
    singles: bool = False
    pair_chance: float = 1.0

    @property
    def lift(self) -> float:
        """Lower bound of (anywhere - by chance) / (1 - by chance), or of records on their own row."""
        count = round(self.in_place * self.n_rows)
        sure = float(binom.sf(count - 1, self.n_rows, self.pair_chance)) < _BY_CHANCE
        own = wilson_interval(count, self.n_rows)[0] if sure and count else 0.0
        if self.by_chance >= 1.0:
            return own
        found = lift(self.anywhere * self.n_rows, self.n_rows, baseline=0.0, control=self.by_chance)
        return max(own, found.lower, 0.0)

    @property
    def looks_shuffled(self) -> bool:
        """Whether most verbatim records stand at other rows than their own."""
        return self.lift > 0.2 and self.in_place < 0.5 * self.anywhere


def find_verbatim(original: Floats, released: Floats, *, seed: int = 0) -> Verbatim:
    """Look for original records in a release with the same columns.

    Parameters
    ----------
    original, released : arrays of shape (n, d)
    """
    n = len(original)
    first, second = np.array_split(np.random.default_rng([seed, 9]).permutation(n), 2)
    strangers = _share_found(original[first], original[second]) if len(second) else 0.0
    most = wilson_interval(strangers * len(first), len(first))[1]
    return Verbatim(
        in_place=float((original == released).all(axis=1).mean()),
        anywhere=_share_found(original, released),
        by_chance=min(1.0, 2 * most),  # a half meets only half of the others
        n_rows=n,
        pair_chance=2 * _pair_chance(number_rows(original)[0]),
    )


def _pair_chance(records: Integers) -> float:
    """Return how often the records of two strangers are equal, one pair more than there is lest it be never."""
    counts, n = np.unique(records, return_counts=True)[1], len(records)
    return min(0.5, (int((counts * (counts - 1)).sum()) + 1) / (n * max(1, n - 1)))


def find_whole_verbatim(original: Floats, released: Floats, *, seed: int = 0) -> Verbatim:
    """Look for original records of categories and numbers, of those that only one person has.

    Shuffled columns are no control here: categories hang together, and records of strangers coincide more often than
    shuffled ones. Two halves of the original tell how often they do.

    Parameters
    ----------
    original, released : arrays of shape (n, d)
    """
    n = len(original)
    before, after = number_rows(original, released)
    single = np.bincount(before, minlength=int(max(before.max(), after.max())) + 1)[before] == 1
    first, second = np.array_split(np.random.default_rng([seed, 9]).permutation(n), 2)
    strangers = int(np.isin(before[first], before[second]).sum())
    alone = int((np.unique(before[first], return_counts=True)[1] == 1).sum())
    most = wilson_interval(min(strangers, alone), max(alone, 1))[1]
    return Verbatim(
        in_place=float((single & (before == after)).mean()),
        anywhere=float((single & np.isin(before, after)).mean()),
        by_chance=min(1.0, 2 * most),  # a half meets only half of the others
        n_rows=n,
        singles=True,
        # those seen twice tell how often strangers hold records seen once (Good and Turing); one more, lest it be never
        pair_chance=min(0.5, (2 * int((np.bincount(before) == 2).sum()) + 1) / n**2),
    )


def _share_found(original: Floats, released: Floats) -> float:
    held = set(map(bytes, np.ascontiguousarray(released + 0.0).view(np.uint8).reshape(len(released), -1)))
    asked = np.ascontiguousarray(original + 0.0).view(np.uint8).reshape(len(original), -1)
    return sum(bytes(row) in held for row in asked) / len(asked)
