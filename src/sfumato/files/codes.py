"""Columns that hold no numbers, counted: every different value has a number, and comes back from it as it was."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato._arrays import Floats
from sfumato.core.relations import MISSING
from sfumato.core.secret import Hidden
from sfumato.exceptions import DataError
from sfumato.files.spelled import can_be_counted

MOST_CATEGORIES = 500  # more different texts than that are names or remarks, and no categories
MOST_DATES = 200_000
FEWEST_NAMED = 100  # rows: in fewer, whole numbers may well be all different
_EVEN, _EVEN_BY_CHANCE = 0.02, 1.63  # how far numbers that were handed out may be from evenly spread ones
_OTHER = "other"
LISTED = "listed in the policy"  # the reason of codes that nobody has learnt from the table
_SHARED = 3  # people who share a category, on average, at least
_DATES = ("%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%Y%m%d")
_TIMES = ("%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "%d.%m.%Y %H:%M", "%H:%M:%S", "%H:%M")


@dataclass(frozen=True, repr=False)
class Codes(Hidden):
    """How the values of one column are counted.

    Attributes
    ----------
    name : str
    kind : "category" or "count"
        Categories are numbered from 0; dates, times and ordered categories stand in their order ("count").
    levels : polars.Series
        The different values, without missing ones, in the order of their numbers.
    numbers : array of shape (levels,)
        Rising.
    gap : float, optional
        The number of a missing cell.
    reason : str
        Why the column is taken for what it is.
    rare : tuple of str
        Values that too few people have: they are read as `common`.
    common : str, optional
        What stands for them; None for a missing cell.
    people : int
        How many people have one of them.
    """

    name: str
    kind: str
    levels: pl.Series
    numbers: Floats
    gap: float | None
    reason: str
    rare: tuple[str, ...] = ()
    common: str | None = None
    people: int = 0

    def encode(self, cells: pl.Series, what: str = "the table") -> Floats:
        """Return the number of every cell.

        Parameters
        ----------
        cells : polars.Series
        what : str
            How errors call the table.
        """
        cells = as_levels(cells)
        if self.rare:
            cells = cells.replace(list(self.rare), [self.common] * len(self.rare))
        cells = cells if cells.dtype == self.levels.dtype else cells.cast(self.levels.dtype)
        at = _places(self.levels, cells)
        if cells.dtype == pl.String and (at < 0).any():  # a release writes texts that look like formulas behind a quote
            at = np.maximum(at, _places(self.levels, cells.str.strip_prefix("'")))
        missing = cells.is_null().to_numpy()
        wrong = (at < 0) & (~missing if self.gap is not None else True)
        if wrong.any() and self.reason == LISTED:
            raise DataError(
                f"{what}: column {self.name!r}, row {int(np.argmax(wrong)) + 1}: "
                "a category that the policy does not list",
                hint=f"add it to categories of [column.{self.name}], or read it as another one first",
            )
        if wrong.any():
            raise DataError(
                f"{what}: column {self.name!r}, row {int(np.argmax(wrong)) + 1}: a value that no row had before",
                hint="release the table that was looked at, and one that nobody is writing to",
            )
        values: Floats = np.append(self.numbers, np.nan if self.gap is None else self.gap)[at]
        return values

    def decode(self, values: Floats) -> pl.Series:
        """Return the cells of some numbers."""
        at = np.searchsorted(self.numbers, values)
        missing = np.isnan(values) if self.gap is None else (values == self.gap) | np.isnan(values)
        at = np.where(missing, 0, np.minimum(at, max(len(self.levels) - 1, 0)))
        if not len(self.levels):
            return pl.Series(self.name, [None] * len(values), dtype=self.levels.dtype)
        cells = self.levels.gather(at)
        if missing.any():
            cells = pl.select(pl.when(pl.Series(missing)).then(None).otherwise(cells)).to_series()
        return cells.alias(self.name)

    def by_text(self) -> dict[str, float]:
        """Return the number of every value, by its text; a missing cell that is a category of its own is `missing`."""
        texts = self.levels.cast(pl.String).to_list()
        own = {MISSING: self.gap} if self.gap is not None and self.kind == "category" else {}
        return {**own, **dict(zip(texts, self.numbers.tolist(), strict=True))}

    def saved(self) -> dict[str, Any]:
        """Return the codes as plain values."""
        return {
            "kind": self.kind,
            "levels": [str(level) for level in self.levels.cast(pl.String).to_list()],
            "numbers": self.numbers.tolist(),
            "gap": self.gap,
            **({"rare": list(self.rare), "common": self.common} if self.rare else {}),
        }

    def plain(self) -> list[Any]:
        """Return the codes as plain values that keep the type of the column: what another process is told."""
        levels = io.BytesIO()
        self.levels.alias(self.name).to_frame().write_ipc(levels)
        return [self.name, self.kind, levels.getvalue(), self.numbers, self.gap, list(self.rare), self.common]

    @classmethod
    def of_plain(cls, plain: Sequence[Any]) -> Codes:
        """Return what `plain` has written."""
        name, kind, levels, numbers, gap, rare, common = plain
        return cls(name, kind, pl.read_ipc(io.BytesIO(levels))[name], numbers, gap, "", tuple(rare), common)

    @classmethod
    def load(cls, name: str, saved: Mapping[str, Any]) -> Codes:
        """Return what `saved` has written; its values are texts."""
        levels = pl.Series(name, saved["levels"], dtype=pl.String)
        numbers = np.array(saved["numbers"], dtype=np.float64)
        rare = tuple(saved.get("rare", ()))
        return cls(name, saved["kind"], levels, numbers, saved["gap"], "", rare, saved.get("common"))


def listed_codes(name: str, listed: Sequence[str], dtype: pl.DataType | None) -> Codes:
    """Return the codes of categories that somebody lists; a missing cell is one more, the last.

    Parameters
    ----------
    dtype : polars.DataType, optional
        Type of the column in a typed file. A type that holds the values of the rows itself becomes text.
    """
    levels = pl.Series(name, list(listed), dtype=pl.String)
    levels = levels if dtype is None or isinstance(dtype, pl.Enum | pl.Categorical) else levels.cast(dtype)
    return Codes(name, "category", levels, np.arange(len(listed), dtype=np.float64), float(len(listed)), LISTED)


def _places(levels: pl.Series, cells: pl.Series) -> NDArray[np.int64]:
    """Return the place of every cell among the levels; -1 for missing cells and for values that are not there."""
    if not len(levels):
        return np.full(len(cells), -1, dtype=np.int64)
    places = pl.Series(np.arange(len(levels)), dtype=pl.Int64)
    found = cells.replace_strict(levels, places, default=-1, return_dtype=pl.Int64)
    out: NDArray[np.int64] = found.fill_null(-1).to_numpy()
    return out


def as_levels(cells: pl.Series) -> pl.Series:
    """Return cells in a form in which equal values are equal: categories, enums and flags as text."""
    if cells.dtype in (pl.Categorical, pl.Enum) or cells.dtype == pl.Object:
        return cells.cast(pl.String)
    return cells


def codes_of(
    different: pl.Series, *, gaps: bool, rows: int | None = None, kind: str | None = None, order: Sequence[str] = ()
) -> Codes | None:
    """Return how a column is counted, from its different values; None for free text, identifiers, and what is no value.

    Parameters
    ----------
    different : polars.Series
        Each value of the column at least once.
    gaps : bool
        Whether cells are missing.
    rows : int, optional
        Cells that are not missing: texts that hardly any two people share are identifiers. None does not ask.
    kind : "category", "ordered" or "date", optional
        What its owner says it holds; None looks.
    order : sequence of str
        Ordered categories, from the lowest.

    Examples
    --------
    >>> codes = codes_of(pl.Series("job", ["clerk", "nurse", "clerk"]), gaps=True)
    >>> codes.kind, codes.encode(pl.Series(["nurse", None, "clerk"])).tolist()
    ('category', [1.0, 2.0, 0.0])
    >>> codes.decode(np.array([2.0, 0.0])).to_list()
    [None, 'clerk']
    """
    if not can_be_counted(different.dtype):
        return None
    levels = as_levels(different.drop_nulls()).unique().sort()
    if kind == "ordered" or order:
        return _ordered(levels, order, gaps=gaps)
    days = _dated(levels) if kind in {None, "date"} and len(levels) > 2 else None
    if days is not None and len(levels) <= MOST_DATES:
        turn = np.argsort(days, kind="stable")
        numbers = days[turn]
        gap = _between(numbers) if gaps else None
        return Codes(different.name, "count", levels.gather(turn), numbers, gap, "dates or times, all of one form")
    lonely = rows is not None and kind is None and len(levels) > 2 and len(levels) * _SHARED > rows
    if len(levels) > MOST_CATEGORIES or lonely:
        return None
    gap = float(len(levels)) if gaps else None
    reason = "yes or no" if len(levels) == 2 else f"{len(levels)} different values"
    return Codes(different.name, "category", levels, np.arange(len(levels), dtype=np.float64), gap, reason)


def without_rare(codes: Codes, counts: Mapping[str, int], least: int, rule: str) -> Codes:
    """Return codes in which the categories of too few people are one, or missing.

    Parameters
    ----------
    counts : mapping from values to int
        How many people have each.
    least : int
        Fewer are too few.
    rule : "merge" or "mask"
        Merged ones are called "other"; if all of them together are too few, they are masked.

    Examples
    --------
    >>> codes = codes_of(pl.Series("job", ["clerk", "king", "nurse", "pope"]), gaps=False)
    >>> fewer = without_rare(codes, {"clerk": 90, "nurse": 40, "king": 3, "pope": 2}, 5, "merge")
    >>> fewer.levels.to_list(), fewer.encode(pl.Series(["king", "nurse"])).tolist()
    (['clerk', 'nurse', 'other'], [2.0, 1.0])
    """
    texts = codes.levels.cast(pl.String).to_list()
    rare = [text for text in texts if counts.get(text, 0) < least]
    if not rare or codes.kind != "category":
        return codes
    people = sum(counts.get(text, 0) for text in rare) + counts.get(_OTHER, 0) * (_OTHER not in rare)
    common = _OTHER if rule == "merge" and people >= least else None
    rare = [text for text in rare if text != common]
    hidden = sum(counts.get(text, 0) for text in rare)
    left = sorted({text for text in texts if text not in rare} | ({common} if common else set()))
    gap = float(len(left)) if codes.gap is not None or common is None else None
    levels = pl.Series(codes.name, left, dtype=pl.String)
    numbers = np.arange(len(left), dtype=np.float64)
    return Codes(codes.name, codes.kind, levels, numbers, gap, codes.reason, tuple(rare), common, hidden)


def names_people(different: pl.Series, rows: int) -> bool:
    """Tell whether whole numbers, a different one in every row, look like the numbers of people.

    Exchanged they would be the numbers of real people still.

    Parameters
    ----------
    different : polars.Series
        Each value of the column once; whole numbers, or texts of them.
    rows : int
        Cells that are not missing.

    Examples
    --------
    >>> names_people(pl.Series(range(1000, 1200)), 200), names_people(pl.Series(range(90)), 200)
    (True, False)
    """
    if rows < FEWEST_NAMED or len(different) < rows:
        return False
    if different.dtype == pl.String:
        if not different.str.contains(r"^\s*[+-]?\d+\s*$").all():
            return False
        different = different.str.strip_chars().cast(pl.Float64)
    elif not different.dtype.is_integer():
        return False
    return _handed_out(np.sort(different.cast(pl.Float64).to_numpy()))


def _handed_out(numbers: Floats) -> bool:
    """Tell whether different whole numbers look handed out, not measured: all as long as one another, or even.

    Parameters
    ----------
    numbers : array of shape (n,)
        Rising.
    """
    if numbers[0] < 0:
        return False
    if np.floor(np.log10(max(numbers[0], 1.0))) == np.floor(np.log10(max(numbers[-1], 1.0))) and numbers[-1] >= 1e3:
        return True
    even = np.linspace(0.0, 1.0, len(numbers))
    apart = np.abs((numbers - numbers[0]) / (numbers[-1] - numbers[0]) - even).max()
    return bool(apart < _EVEN + _EVEN_BY_CHANCE / len(numbers) ** 0.5)


def _ordered(levels: pl.Series, order: Sequence[str], *, gaps: bool) -> Codes:
    known = {one: place for place, one in enumerate(order)}
    texts = levels.cast(pl.String).to_list()
    lacking = [text for text in texts if order and text not in known]
    if lacking:
        raise DataError(
            f"column {levels.name!r}: {len(lacking)} of its values are not in the order that is given",
            hint="name all of them, from the lowest to the highest",
        )
    ranks = np.array([known[text] if order else place for place, text in enumerate(texts)], dtype=np.float64)
    turn = np.argsort(ranks, kind="stable")
    numbers = ranks[turn]
    return Codes(levels.name, "count", levels.gather(turn), numbers, _between(numbers) if gaps else None, "ordered")


def _between(numbers: Floats) -> float:
    """Return a number near the middle that no value has: it stands for a missing cell, and hardly moves a mean."""
    return float(np.floor(numbers[len(numbers) // 2])) + 0.25


def _dated(levels: pl.Series) -> Floats | None:
    """Return days (or seconds, or microseconds) of dates and times; None for other values."""
    if levels.dtype in (pl.Date, pl.Duration, pl.Time):
        return levels.to_physical().to_numpy().astype(np.float64)
    if isinstance(levels.dtype, pl.Datetime):
        return levels.dt.timestamp("us").to_numpy().astype(np.float64)
    if levels.dtype != pl.String:
        return None
    for form in _DATES:
        days = levels.str.to_date(form, strict=False)
        if not days.null_count():
            return days.to_physical().to_numpy().astype(np.float64)
    for form in _TIMES:
        if "%Y" in form:
            times = levels.str.to_datetime(form, strict=False)
            numbers = times.dt.timestamp("us") if not times.null_count() else None
        else:
            clock = levels.str.to_time(form, strict=False)
            numbers = clock.to_physical() if not clock.null_count() else None
        if numbers is not None:
            return numbers.to_numpy().astype(np.float64) / 1e6
    return None


def gap_for(values: Floats, decimals: int | None) -> float:
    """Return a number that stands for the missing cells of a column: near its median, and no value of it.

    Parameters
    ----------
    values : array of shape (n,)
        Those that are present.
    decimals : int, optional
        Of the column; None for doubles of any digits.
    """
    middle = float(np.sort(values)[len(values) // 2])
    if decimals is not None:
        return float(np.round(middle, decimals)) + 0.25 * 10.0**-decimals
    apart = float(values.max() - values.min()) or 1.0
    different = np.unique(values)
    gap = middle
    while gap in different:
        gap += apart * 2.0**-24
    return gap
