"""What else a release says: new columns, numbers written as text, the spaces and capitals of texts.

Attacks hold the columns of both tables against one another. A release may say the same in other places: in a column
that the original does not have, in one that has become text, in how a text is written. Whoever knows some people's rows
sees what such a carrier tells of the original columns; it is tried on everybody else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from sfumato._arrays import Flags, Floats, Integers
from sfumato.attack.engine.result import lift
from sfumato.attack.known.curves import drawn_curve
from sfumato.auditing.equality import most_guess
from sfumato.frames.frame import as_polars, is_dataframe

_KNOWN = 1_000  # people at most whose rows are known: a tenth of the table
_FEWEST = 24
_FEW = 8  # people through whom a line is drawn
_LEVELS = 200  # different texts beyond which they are not looked up one by one
_MOST = 60  # carriers, and columns that they may tell
TOLD = 0.5  # lift above which a carrier tells a column
_MORE = 0.2  # lift that a category of the release must have more than the same one of the original
OPEN = 0.05  # share of a column's variance that is left when a few known people lay it open
_TEXTS = (pl.String, pl.Categorical, pl.Enum)


@dataclass(frozen=True)
class Carried:
    """One column of the original that a carrier tells.

    Attributes
    ----------
    column, carrier : str
        The column, and what tells it.
    rate, guess : float
        Share of the people of whom it is told right (their category, or in which half of the numbers they stand), and
        what guessing gets.
    lift_low : float
        Lower bound of (rate - guess) / (1 - guess).
    by_few : bool
        Whether a line through few known people tells the number itself.
    """

    column: str
    carrier: str
    rate: float
    guess: float
    lift_low: float
    by_few: bool

    @property
    def words(self) -> str:
        """One sentence."""
        if self.by_few:
            return f"Whoever knows {_FEW} people reads {self.column} from {self.carrier}."
        share = f"{self.rate:.0%} of the people (guessing: {self.guess:.0%})"
        return f"{self.column} is told, at least roughly, by {self.carrier}: right for {share}."


def find_carriers(original: pl.DataFrame, released: pl.DataFrame) -> Iterator[tuple[str, bool, Floats]]:
    """Yield what a release says beside its columns: in words, whether its values are names, and a number for each row.

    Parameters
    ----------
    original, released : polars.DataFrame
    """
    for name in released.columns:
        cells = released[name]
        if cells.dtype.is_nested() or cells.dtype == pl.Binary:
            continue
        before = original[name].dtype if name in original.columns else None
        as_text = cells.dtype in _TEXTS
        if before is not None and (before in _TEXTS) == as_text:
            if as_text and not _known_words(original[name], cells):
                yield from _as_written(f"how {name} is written", cells)
            if as_text:
                yield name, True, _codes(cells.cast(pl.String))
            continue
        what = f"{name} as text" if before is not None else f"{name}, which the original does not have"
        if not as_text:
            number = cells.to_physical().cast(pl.Float64, strict=False).fill_null(np.nan).fill_nan(None)
            yield what, False, number.fill_null(number.min() if number.count() else 0.0).to_numpy()
            yield what, True, _codes(cells.cast(pl.String))
            continue
        texts = cells.cast(pl.String)
        yield what, True, _codes(texts)
        read = texts.str.replace_all(",", "").str.extract(r"(-?\d+(?:\.\d+)?)").cast(pl.Float64, strict=False)
        if read.count() > len(read) // 2:
            yield f"the numbers in {what}", False, read.fill_null(read.median()).to_numpy()
        yield from _as_written(f"how {what} is written", texts)


def _known_words(before: pl.Series, after: pl.Series) -> bool:
    words = before.cast(pl.String).unique().implode()
    texts = after.cast(pl.String)
    return bool((texts.is_null() | texts.is_in(words) | texts.str.strip_prefix("'").is_in(words)).all())


def _as_written(what: str, cells: pl.Series) -> Iterator[tuple[str, bool, Floats]]:
    texts = cells.cast(pl.String).fill_null("")
    for number in (
        texts.str.len_chars(),
        texts.str.len_chars() - texts.str.strip_chars().str.len_chars(),
        texts.str.count_matches(r"\p{Lu}"),
        texts.str.count_matches(r"[^\p{L}\p{N}]"),
    ):
        yield what, False, number.cast(pl.Float64).to_numpy()


def _codes(texts: pl.Series) -> Floats:
    return texts.fill_null("").rank("dense").cast(pl.Float64).to_numpy()


def measure_carriers(
    original: Any,
    released: Any,
    *,
    order: Any = None,
    kept: Sequence[str] = (),
    company: Integers | None = None,
    seed: int = 0,
) -> tuple[Carried, ...]:
    """Return the original columns that carriers tell, each with what tells it best.

    Parameters
    ----------
    original, released : dataframes
        Nothing is carried by arrays, which have no names, or where rows cannot correspond.
    order : sequence of int, optional
        `order[i]` is the original row that stands in row i of the release.
    kept : sequence of str
        Columns that are released on purpose, or not looked at. Default: none.
    company : array of shape (n,), optional
        Rows with the same number share all clusters that the release keeps, and whatever these tell is no news.
    seed : int
        Draws the people who are known. Default: 0.
    """
    if not (is_dataframe(original) and is_dataframe(released)) or len(original) != len(released):
        return ()
    before, after = (table.drop(kept, strict=False) for table in (as_polars(original), as_polars(released)))
    carriers = [one for one in find_carriers(before, after) if np.ptp(one[2]) > 0][:_MOST]
    n = len(before)
    if not carriers or n < 2 * _FEWEST:
        return ()
    back = np.arange(n) if order is None else np.argsort(np.asarray(order, dtype=np.int64))
    mixed = np.random.default_rng([seed, 67]).permutation(n)
    known, others = np.split(mixed, [min(_KNOWN, max(_FEWEST, n // 10))])
    found = []
    for name in before.columns[:_MOST]:
        column = _target(before[name])
        if column is None:
            continue
        told = []
        for what, named, values in carriers:
            own = before[what] if what in before.columns else None  # a category of both tables: numbers are asked for
            one = (
                None
                if own is not None and column[1]
                else _told(name, what, named, values[back], *column, known, others, company)
            )
            if own is not None and one is not None:  # what it told before it was released is no news
                usual = _told(name, what, named, _codes(own.cast(pl.String)), *column, known, others, company)
                one = one if usual is not None and one.lift_low > usual.lift_low + _MORE else None
            told += [] if one is None else [one]
        best = max(told, key=lambda one: (one.by_few, one.lift_low), default=None)
        if best is not None and (best.by_few or best.lift_low > TOLD):
            found.append(best)
    return tuple(found)


def _target(cells: pl.Series) -> tuple[Floats, bool] | None:
    """Return a column as numbers, and whether they are names; None for what nobody can guess."""
    if cells.dtype.is_nested() or cells.dtype == pl.Binary:
        return None
    names = cells.dtype in _TEXTS or cells.dtype == pl.Boolean
    if names:
        values = _codes(cells.cast(pl.String))
    else:
        number = cells.to_physical().cast(pl.Float64, strict=False).fill_nan(None)
        values = number.fill_null(number.median() if number.count() else 0.0).to_numpy()
    few = len(np.unique(values)) if names else 2
    return None if np.ptp(values) == 0 or few > _LEVELS else (values, names)


def _told(
    column: str,
    what: str,
    named: bool,
    values: Floats,
    truth: Floats,
    names: bool,
    known: Integers,
    others: Integers,
    company: Integers | None,
) -> Carried | None:
    """Return how well known people's rows tell a column from a carrier; None for one that names nearly everybody."""
    if named and len(np.unique(values)) > _LEVELS:
        return None
    if names:
        levels = np.unique(truth)
        shares = np.stack([_says(named, values, truth == level, known, others) for level in levels])
        right: Flags = levels[shares.argmax(axis=0)] == truth[others]
        guess = most_guess(truth, company)
    else:
        middle = np.median(truth)
        right = (_says(named, values, truth > middle, known, others) > 0.5) == (truth[others] > middle)
        guess = most_guess((truth > middle).astype(np.float64), company)
    low = lift(float(right.sum()), len(right), baseline=guess).lower
    by_few = not (names or named) and low > 0 and _on_a_line(values, truth, known[:_FEW], others)
    return Carried(column, what, float(right.mean()), guess, low, by_few)


def _says(named: bool, values: Floats, truth: Flags, known: Integers, others: Integers) -> Floats:
    """Return how likely a statement is of others, as known people with the same carrier, or around it, have it."""
    held = truth[known].astype(np.float64)
    if not named:
        return drawn_curve(values[others], values[known], held)
    codes = np.unique(values, return_inverse=True)[1].reshape(-1)
    counts = np.bincount(codes[known], minlength=codes.max() + 1)
    sums = np.bincount(codes[known], held, minlength=codes.max() + 1)
    return np.asarray(((sums + held.mean()) / (counts + 1))[codes[others]])


def _on_a_line(values: Floats, truth: Floats, few: Integers, others: Integers) -> bool:
    if np.ptp(values[few]) == 0:
        return False
    slope, start = np.polyfit(values[few], truth[few], 1)
    left = truth[others] - slope * values[others] - start
    return bool((left**2).mean() < OPEN * truth.var())
