"""All columns that two tables share, of whatever kind, as numbers side by side: what a joining attacker sees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from sfumato._arrays import Floats, Integers
from sfumato.core.secret import Hidden
from sfumato.frames.columns import as_array
from sfumato.frames.frame import as_polars, is_dataframe
from sfumato.frames.kinds import guess_number

_LOOK = 2_000  # rows


@dataclass(frozen=True, repr=False)
class WholeRows(Hidden):
    """Whole rows of an original and its release.

    Attributes
    ----------
    names : tuple of str
        Every column that stands in both tables.
    kinds : tuple of {"number", "count", "category"}
        Counts are whole numbers of few different values.
    kept : tuple of bool
        Which columns stand in the release as they were.
    original, released : arrays of shape (n, d)
        Row by row the same people; categories have a number for every different value.
    """

    names: tuple[str, ...]
    kinds: tuple[str, ...]
    kept: tuple[bool, ...]
    original: Floats
    released: Floats

    @property
    def categories(self) -> tuple[bool, ...]:
        """Which columns hold values that are equal or not, and nothing between."""
        return tuple(kind == "category" for kind in self.kinds)

    @property
    def telling(self) -> bool:
        """Whether there is anything here that a table of perturbed numbers has not."""
        return any(self.kept) or any(self.categories)

    def take(self, rows: Integers) -> WholeRows:
        """Return some rows of both tables."""
        return WholeRows(self.names, self.kinds, self.kept, self.original[rows], self.released[rows])

    def without_names(self, most: int) -> WholeRows:
        """Return the columns without categories of more different values than that: names of people say little."""
        stay = [
            j for j, kind in enumerate(self.kinds) if kind != "category" or len(np.unique(self.original[:, j])) <= most
        ]
        names, kinds, kept = (tuple(one[j] for j in stay) for one in (self.names, self.kinds, self.kept))
        return WholeRows(names, kinds, kept, self.original[:, stay], self.released[:, stay])  # type: ignore[arg-type]


def read_whole(
    original: Any,
    released: Any,
    *,
    order: Any = None,
    categories: Sequence[str] = (),
    kept: Sequence[str] = (),
    columns: Sequence[str] | None = None,
    leave_out: Sequence[str] = (),
) -> WholeRows | None:
    """Return the columns that two tables share as numbers; None for tables whose rows cannot correspond.

    Parameters
    ----------
    original, released : dataframes or arrays
        Columns of arrays correspond if there are equally many.
    order : sequence of int, optional
        `order[i]` is the original row that stands in row i of the release; None means the same order.
    categories : sequence of str
        Columns of numbers that stand for categories. Default: none.
    kept : sequence of str
        Columns that are known to stay as they are. Columns that are equal in every row count as kept, too, unless all
        are. Default: none.
    columns, leave_out : sequence of str, optional
        The columns that are looked at.

    Examples
    --------
    >>> before = pl.DataFrame({"town": ["A", "B", "A"], "income": [30.5, 40.2, 50.1]})
    >>> after = pl.DataFrame({"town": ["A", "B", "A"], "income": [31.4, 43.0, 48.7]})
    >>> whole = read_whole(before, after)
    >>> whole.kinds, whole.kept
    (('category', 'number'), (True, False))
    """
    frames = _named(original, released)
    if frames is None or not frames[0].height == frames[1].height > 0:
        return None
    before, after = frames
    place = np.arange(before.height) if order is None else np.asarray(order, dtype=np.int64)
    if place.shape != (before.height,) or not np.array_equal(np.sort(place), np.arange(before.height)):
        return None
    back = np.argsort(place)
    shared = set(after.columns) - set(leave_out)
    shared = shared if columns is None else shared & set(columns)
    names = [name for name in before.columns if name in shared]
    names = [name for name in names if not any(_nested(frame[name]) for frame in frames)]
    if not names:
        return None
    both = [_numbers(before[name], after[name], name in categories) for name in names]
    left = np.column_stack([one[1] for one in both])
    right = np.column_stack([one[2] for one in both])[back]
    varies = left.max(axis=0) > left.min(axis=0)
    same = (left == right).all(axis=0) & varies
    if same[varies].all():  # a copy: there is nothing to join the kept columns with
        same[:] = False
    stays = tuple(bool(equal or (name in kept and some)) for name, equal, some in zip(names, same, varies, strict=True))
    return WholeRows(tuple(names), tuple(one[0] for one in both), stays, left, right)


def _named(original: Any, released: Any) -> tuple[pl.DataFrame, pl.DataFrame] | None:
    if is_dataframe(original) and is_dataframe(released):
        return as_polars(original), as_polars(released)
    if is_dataframe(original) or is_dataframe(released):
        return None
    arrays = [as_array(one, "the table") for one in (original, released)]
    if (
        arrays[0].ndim != 2
        or arrays[0].shape[1:] != arrays[1].shape[1:]
        or any(one.dtype.kind == "O" for one in arrays)
    ):
        return None
    first, second = (pl.DataFrame({f"x{i}": np.array(c) for i, c in enumerate(one.T)}) for one in arrays)
    return first, second


def _numbers(before: pl.Series, after: pl.Series, category: bool) -> tuple[str, Floats, Floats]:
    """Return what a column holds, and its cells as numbers in both tables."""
    plain = [one.dtype.is_numeric() or one.dtype == pl.Boolean for one in (before, after)]
    if all(plain):
        left, right = (one.cast(pl.Float64).fill_null(np.nan).to_numpy() for one in (before, after))
        if not (np.isfinite(left).all() and np.isfinite(right).all()):
            _, codes = np.unique(np.concatenate([left, right]), return_inverse=True)
            both = codes.reshape(-1).astype(np.float64)
            return "category", both[: len(left)], both[len(left) :]
        if category or before.dtype == pl.Boolean:
            return "category", left, right
        return ("count" if _counts(left) else "number"), left, right
    texts = [_texts(one) for one in (before, after)]
    levels = texts[0].unique()
    bare = texts[1].str.strip_prefix("'")  # a release writes texts that look like formulas behind a quote
    texts[1] = pl.select(
        pl.when(~texts[1].is_in(levels.implode()) & bare.is_in(levels.implode())).then(bare).otherwise(texts[1])
    ).to_series()
    ranks = pl.concat([texts[0].alias("x"), texts[1].alias("x")]).rank("dense").cast(pl.Float64).to_numpy()
    return "category", ranks[: len(before)], ranks[len(before) :]


def _counts(values: Floats) -> bool:
    """Tell whether numbers are counts or codes; most columns show at their first values that they are not."""
    if len(np.unique(values[:_LOOK])) > _LOOK // 10:
        return False
    return guess_number(values, integer=bool((values == np.rint(values)).all())).kind == "count"


def _nested(cells: pl.Series) -> bool:
    return cells.dtype.is_nested() or cells.dtype == pl.Binary


def _texts(cells: pl.Series) -> pl.Series:
    """Return cells as text, without the missing ones; dates and times as the numbers behind them."""
    plain = cells.to_physical() if cells.dtype.is_temporal() else cells
    return plain.cast(pl.String).fill_null("\0")
