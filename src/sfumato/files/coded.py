"""A table of every kind of column, read as one of numbers: texts, flags and dates by their codes.

Everything that comes after it sees numbers only. When a row is written, its codes become cells again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from sfumato.core.secret import Hidden
from sfumato.exceptions import DataError
from sfumato.files.codes import FEWEST_NAMED, MOST_CATEGORIES, MOST_DATES, Codes, codes_of, names_people, without_rare
from sfumato.files.formulas import neutralise
from sfumato.files.source import Described, RawBatch, Source
from sfumato.files.spelled import can_be_counted

MARKERS = ("?", "-", "--", "NA", "N/A", "n/a", "na", "NaN", "nan", "null", "NULL", "None", "none", "unknown", "missing")
_MOST_ODD = 20
_LOOKED_AT = 10_000  # rows of a file of text
_FEW_TEXTS = 0.1  # share of cells that are no numbers, in a column of numbers


@dataclass(frozen=True, repr=False)
class CodedColumns(Hidden):
    """How the columns of a table become numbers, and how numbers become its cells again.

    Attributes
    ----------
    codes : dict from columns to Codes
    commas : tuple of str
        Columns of text whose numbers have a decimal comma.
    markers : dict from columns to tuples of str
        What was found to stand for a missing number.
    """

    codes: dict[str, Codes] = field(default_factory=dict)
    commas: tuple[str, ...] = ()
    markers: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def kinds(self) -> dict[str, str]:
        """What a method is told of the coded columns."""
        return {name: one.kind for name, one in self.codes.items()}

    def types(self, types: Mapping[str, pl.DataType]) -> dict[str, pl.DataType]:
        """Return the types of a table's columns when they are counted."""
        return {name: pl.Int64() if name in self.codes else dtype for name, dtype in types.items()}

    def encode(self, frame: pl.DataFrame, what: str, *, as_text: bool) -> pl.DataFrame:
        """Return rows with numbers in the place of coded cells.

        Parameters
        ----------
        what : str
            How errors call the table.
        as_text : bool
            Whether the numbers are written as text, as those of a file of text are.
        """
        done = []
        for cells in frame.get_columns():
            if cells.name in self.codes:
                codes = self.codes[cells.name]
                values = codes.encode(_cleaned(cells), what)
                numbers = pl.Series(cells.name, values).cast(pl.Int64, strict=False)
                if codes.kind == "count" and codes.gap is not None:  # a missing date is a missing number
                    present = pl.Series(values != codes.gap)
                    numbers = pl.select(pl.when(present).then(numbers)).to_series().alias(cells.name)
                cells = numbers.cast(pl.String) if as_text else numbers
            elif cells.name in self.commas and cells.dtype == pl.String:
                cells = cells.str.replace(",", ".", literal=True)
            done.append(cells)
        return pl.DataFrame(done)

    def decode(self, frame: pl.DataFrame, *, as_text: bool) -> tuple[pl.DataFrame, int]:
        """Return released rows with cells in the place of their numbers, and how many formulas were neutralised.

        Parameters
        ----------
        as_text : bool
            Whether the file is a CSV file.
        """
        done, neutralised = [], 0
        for cells in frame.get_columns():
            if cells.name in self.codes:
                numbers = cells.cast(pl.Float64).fill_null(float("nan")).to_numpy()
                cells = self.codes[cells.name].decode(numbers)
                if as_text:
                    cells, count = neutralise(cells.cast(pl.String))
                    neutralised += count
            elif cells.name in self.commas and as_text:
                cells = cells.cast(pl.String).str.replace(".", ",", literal=True)
            done.append(cells)
        return pl.DataFrame(done), neutralised

    def saved(self) -> dict[str, Any]:
        """Return them as plain values, for the sealed receipt."""
        return {"codes": {name: one.saved() for name, one in self.codes.items()}, "commas": list(self.commas)}

    @classmethod
    def load(cls, saved: Mapping[str, Any]) -> CodedColumns:
        """Return what `saved` has written; cells come back as text."""
        codes = {name: Codes.load(name, one) for name, one in saved.get("codes", {}).items()}
        return cls(codes, tuple(saved.get("commas", ())))


class CodedSource:
    """A source whose coded columns are numbers.

    Parameters
    ----------
    source : Source
    columns : CodedColumns
    """

    def __init__(self, source: Source, columns: CodedColumns) -> None:
        self._source, self.coded = source, columns
        self.path, self.names, self.style = source.path, source.names, source.style
        self.types = columns.types(source.types)

    def batches(self, columns: Sequence[str] | None = None, numbers: Sequence[str] = ()) -> Iterator[RawBatch]:
        """Read the table once; see `Source`."""
        plain = [name for name in numbers if name not in self.coded.codes and name not in self.coded.commas]
        for raw in self._source.batches(columns, plain):
            yield RawBatch(_Rows(self, raw), raw.start, raw.share, raw.height, _Text(self, raw) if raw.text else None)

    @property
    def stored(self) -> Source:
        """The table as it is stored."""
        return self._source

    def encode(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return rows with numbers in the place of coded cells."""
        return self.coded.encode(frame, str(self.path), as_text=not self.types)


@dataclass(frozen=True)
class _Rows:
    source: CodedSource
    raw: RawBatch

    def __call__(self) -> pl.DataFrame:
        return self.source.encode(self.raw.frame)


@dataclass(frozen=True)
class _Text:
    source: CodedSource
    raw: RawBatch

    def decimals(self, columns: Sequence[str]) -> None:  # noqa: ARG002  # codes have no text of their own
        return None

    def cells(self) -> pl.DataFrame:
        assert self.raw.text is not None
        return self.source.encode(self.raw.text.cells())


def coded_source(source: Source, saved: Mapping[str, Any]) -> Source:
    """Return a source that counts its columns as a receipt says; the source itself if it says nothing.

    Parameters
    ----------
    saved : mapping
        See `CodedColumns.saved`.
    """
    counted = isinstance(source, CodedSource) or not saved
    return source if counted else CodedSource(source, CodedColumns.load(saved))


def _cleaned(cells: pl.Series) -> pl.Series:
    """Return cells as they are counted: an empty text is a missing one."""
    if cells.dtype == pl.String:
        return pl.select(pl.when(cells != "").then(cells)).to_series().alias(cells.name)
    return cells


@dataclass
class Seen:
    """The different values of a column, as long as they are few."""

    different: pl.Series | None = None
    people: dict[str, int] = field(default_factory=dict)  # how many have each text, while those are few
    gaps: bool = False
    rows: int = 0
    counted: int = 0  # rows while the values were few enough to be told apart
    odd: int = 0
    commas: int = 0
    marked: int = 0  # cells that say in words that a number is missing
    many: bool = False
    all_different: bool | None = None  # None: the different values themselves tell
    texts: set[str] = field(default_factory=set)

    def add(self, cells: pl.Series, *, coded: bool) -> None:
        """Look at some cells."""
        cells = _cleaned(cells)
        self.gaps |= cells.null_count() > 0
        cells = cells.drop_nulls()
        self.rows += len(cells)
        if not can_be_counted(cells.dtype):
            self.many = True  # nobody asks which of them are equal
            return
        if cells.dtype == pl.String and not coded:
            stripped = cells.str.strip_chars()
            odd = stripped.filter(stripped.cast(pl.Float64, strict=False).is_null() & (stripped != ""))
            self.odd += len(odd)
            self.commas += int(odd.str.contains(r"^[+-]?\d+,\d+$").sum())
            marked = odd.filter(odd.is_in(MARKERS))
            self.marked += len(marked)
            self.texts.update(marked.unique().to_list())
            if len(self.texts) <= _MOST_ODD:
                self.texts.update(odd.unique().head(_MOST_ODD + 1).to_list())
        if not self.many:
            self.counted = self.rows
            new = cells.unique()
            if len(self.people) <= MOST_CATEGORIES and len(new) <= MOST_CATEGORIES:
                for text, count in cells.cast(pl.String, strict=False).value_counts().iter_rows():
                    self.people[text] = self.people.get(text, 0) + count
            self.different = new if self.different is None else pl.concat([self.different, new]).unique()
            self.many = len(self.different) > MOST_DATES

    @property
    def names_people(self) -> bool:
        """Whether its values look like the numbers of people."""
        if self.all_different is not None:
            return self.all_different and self.rows >= FEWEST_NAMED
        return self.different is not None and names_people(self.different, self.counted)

    @property
    def is_text(self) -> bool:
        """Whether it holds texts rather than numbers."""
        return self.odd == self.rows > 0 or self.odd - self.marked > _FEW_TEXTS * max(self.rows - self.marked, 1)

    @property
    def has_commas(self) -> bool:
        """Whether its numbers have decimal commas."""
        return self.commas > 0 and self.odd - self.commas - self.marked <= _FEW_TEXTS * (self.rows - self.marked)


def learn_columns(
    source: Source,
    names: Sequence[str],
    kinds: Mapping[str, str],
    orders: Mapping[str, Sequence[str]],
    rare: Mapping[str, str] | None = None,
    least: int = 5,
) -> CodedColumns:
    """Read a table once, and return how its columns become numbers.

    Parameters
    ----------
    names : sequence of str
        The columns to be released perturbed.
    kinds : mapping from columns to str
        What the owner says they hold: "category", "ordered", "date", or a kind of number.
    orders : mapping from columns to sequences of str
        Ordered categories, from the lowest.
    rare : mapping from columns to str, optional
        What becomes of categories that too few people have: "merge" or "mask"; elsewhere they stay.
    least : int
        How many people are not too few.
    """
    said = {name for name in names if kinds.get(name) in {"category", "ordered", "date"} or name in orders}
    typed = {name for name, dtype in source.types.items() if not dtype.is_numeric()}
    seen = {name: Seen() for name in names}
    for raw in source.batches(tuple(names)):
        frame = raw.frame if raw.text is None else raw.text.cells()
        for name, one in seen.items():
            one.add(frame[name], coded=name in said or name in typed)
    return columns_seen(source, seen, kinds, orders, rare, least)


def columns_seen(
    source: Described,
    seen: Mapping[str, Seen],
    kinds: Mapping[str, str],
    orders: Mapping[str, Sequence[str]],
    rare: Mapping[str, str] | None = None,
    least: int = 5,
) -> CodedColumns:
    """Return how columns become numbers, from what was seen of them; see `learn_columns`."""
    found = sort_columns(source, seen, kinds, orders, rare, least)
    if found.free:
        raise DataError(
            f"{source.path}: free text or identifiers, which are not released unless somebody says so: "
            + ", ".join(repr(name) for name in found.free),
            hint=f"drop them with identifier={found.free!r}, or release them unchanged with keep={found.free!r}; "
            f"text of up to {MOST_CATEGORIES} different values that people share is taken for categories, and whole "
            'numbers that differ in every row for identifiers unless the policy says kind = "continuous"',
        )
    return CodedColumns(found.codes, tuple(found.commas), found.markers)


@dataclass
class SortedColumns:
    """Columns by what they are taken for; see `CodedColumns`, and those that are free text or identifiers."""

    codes: dict[str, Codes] = field(default_factory=dict)
    commas: list[str] = field(default_factory=list)
    markers: dict[str, tuple[str, ...]] = field(default_factory=dict)
    free: list[str] = field(default_factory=list)


def sort_columns(
    source: Described,
    seen: Mapping[str, Seen],
    kinds: Mapping[str, str],
    orders: Mapping[str, Sequence[str]],
    rare: Mapping[str, str] | None = None,
    least: int = 5,
) -> SortedColumns:
    """Return what columns are taken for, from what was seen of them; see `learn_columns`."""
    said = {name for name in seen if kinds.get(name) in {"category", "ordered", "date"} or name in orders}
    typed = {name for name, dtype in source.types.items() if not dtype.is_numeric()}
    out = SortedColumns()
    for name, one in seen.items():
        decimal_comma = one.has_commas
        if name not in said and name not in typed and (decimal_comma or not one.is_text):
            if name not in kinds and one.names_people:
                out.free.append(name)
            if decimal_comma:
                out.commas.append(name)
            left = {text for text in one.texts if not (decimal_comma and "," in text)}
            if left and left <= set(MARKERS):
                out.markers[name] = tuple(sorted(left))
            continue
        found = None
        if one.different is not None and not one.many:
            kind = kinds.get(name) if name in said else None
            found = codes_of(
                one.different.alias(name), gaps=one.gaps, rows=one.rows, kind=kind, order=orders.get(name, ())
            )
        if found is None:
            out.free.append(name)
        else:
            rule = (rare or {}).get(name)
            out.codes[name] = found if rule is None else without_rare(found, one.people, least, rule)
    return out


def has_other_columns(source: Source, names: Sequence[str]) -> bool:
    """Tell whether some columns hold anything but numbers, from their types or the first rows."""
    if any(name in source.types and not source.types[name].is_numeric() for name in names):
        return True
    if source.types:
        return False
    for raw in source.batches(tuple(names)):
        frame = (raw.frame if raw.text is None else raw.text.cells()).head(_LOOKED_AT)
        for name in names:
            one = Seen()
            one.add(frame[name], coded=False)
            if one.is_text:
                return True
        return False
    return False
