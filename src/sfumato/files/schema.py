"""The first look at a table: which columns there are, of which type and with how many decimals.

The look is a summary like those of the methods: it can be taken in any batches and merged in any order. After it
the schema is fixed, and the release has the same columns, types, decimals and missing cells.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any, Self

import numpy as np
import polars as pl

from sfumato.core.secret import Hidden
from sfumato.core.summaries import Summary
from sfumato.core.tiles import spans
from sfumato.core.travel import filled_summary, learnt_of
from sfumato.exceptions import DataError
from sfumato.files.numbers import NumberBatch, decimals_of_doubles, decimals_of_text, most_decimals

LARGEST_WHOLE = 2.0**53
_LEARNT = ("n_rows", "_fewest", "_most", "_missing", "_low", "_high")  # what a look has learnt, beside `also`


@dataclass(frozen=True)
class ColumnRules:
    """What the owner says of one column.

    Attributes
    ----------
    decimals : int, optional
        Decimals of the release at most; None takes those of the data.
    bounds : pair of numbers, optional
        Released values are clipped to it.
    missing_values : tuple of str
        What stands for a missing value besides an empty cell.
    """

    decimals: int | None = None
    bounds: tuple[float, float] | None = None
    missing_values: tuple[str, ...] = ()


@dataclass(frozen=True, repr=False)
class NumberColumn(Hidden):
    """A confidential column.

    Attributes
    ----------
    name : str
    dtype : polars.DataType, optional
        The type in the file; None for text files.
    kind : "integer", "float32" or "float64"
        What the perturbers are told.
    decimals : int, optional
        Decimals of the release; None for numbers too small to count them.
    fewest : int
        Decimals that a CSV file writes at least.
    missing : int
        Number of missing cells.
    low, high : float
        Smallest and largest value.
    rules : ColumnRules
    """

    name: str
    dtype: pl.DataType | None
    kind: str
    decimals: int | None
    fewest: int
    missing: int
    low: float
    high: float
    rules: ColumnRules

    def described(self) -> dict[str, Any]:
        """Return what a receipt keeps of the column: how it is written, and nothing of its values."""
        return {
            "name": self.name,
            "kind": self.kind,
            "decimals": self.decimals,
            "fewest": self.fewest,
            "type": None if self.dtype is None else str(self.dtype),
            "missing_values": list(self.rules.missing_values),
        }


@dataclass(frozen=True, repr=False)
class Schema(Hidden):
    """A table's columns as the release will have them.

    Attributes
    ----------
    order : tuple of str
        All released columns, in the order of the file.
    numbers : tuple of NumberColumn
        The confidential ones.
    n_rows : int
    """

    order: tuple[str, ...]
    numbers: tuple[NumberColumn, ...]
    n_rows: int

    @property
    def names(self) -> tuple[str, ...]:
        """The confidential columns."""
        return tuple(column.name for column in self.numbers)

    @property
    def kinds(self) -> tuple[str, ...]:
        """What the perturbers are told about each."""
        return tuple(column.kind for column in self.numbers)

    @property
    def missing(self) -> int:
        """Number of missing confidential cells."""
        return sum(column.missing for column in self.numbers)


class Look:
    """Learn the schema of a table from its batches.

    Parameters
    ----------
    names : sequence of str
        The confidential columns.
    types : mapping from names to polars types
        Empty for text files.
    also : Summary, optional
        Filled in the same pass as long as no cell is missing (the survey needs every cell).
    people : Summary, optional
        Filled in the same pass, with NaN for missing cells.
    """

    def __init__(
        self,
        names: Sequence[str],
        types: Mapping[str, pl.DataType],
        rules: Mapping[str, ColumnRules],
        also: Summary | None = None,
        people: Summary | None = None,
    ) -> None:
        self._names, self._types, self._rules = tuple(names), types, rules
        self.n_rows = 0
        self.also, self.people = also, people
        d = len(self._names)
        self._fewest = np.full(d, 400)
        self._most = np.zeros(d, dtype=np.int64)
        self._missing = np.zeros(d, dtype=np.int64)
        self._low, self._high = np.full(d, np.inf), np.full(d, -np.inf)

    def fresh(self) -> Self:
        """Return an empty look of the same kind."""
        also = None if self.also is None else self.also.fresh()
        people = None if self.people is None else self.people.fresh()
        return type(self)(self._names, self._types, self._rules, also, people)

    def without_survey(self) -> Self:
        """Return an empty look that fills nothing beside itself."""
        return type(self)(self._names, self._types, self._rules)

    def add(self, batch: NumberBatch, texts: Sequence[pl.Series | tuple[int, int] | None]) -> None:
        """Add some rows: their numbers, and the text of the cells that are not missing, or its decimals."""
        self.n_rows += len(batch)
        for i, (values, mask, text) in enumerate(zip(batch.columns, batch.masks, texts, strict=True)):
            present = values if mask is None else values[~mask]
            self._missing[i] += len(values) - len(present)
            if len(present) == 0:
                continue
            self._low[i] = min(self._low[i], float(present.min()))
            self._high[i] = max(self._high[i], float(present.max()))
            if isinstance(text, tuple):
                fewest, most = text
            elif text is not None:
                fewest, most = decimals_of_text(text)
            else:
                fewest, most = self._decimals_of(self._names[i], present, int(self._most[i]))
            self._fewest[i] = min(self._fewest[i], fewest)
            self._most[i] = max(self._most[i], most)
        if self._missing.any():
            self.also = None
        for more in (self.also, self.people):
            for start, stop in () if more is None else spans(len(batch), more.block_rows):
                assert more is not None
                more.add(batch.tile(start, stop), batch.rows.part(start, stop))

    def expecting(self, other: Self) -> Self:
        """Return this look, to begin with the decimals that another one has found: fewer need not be tried."""
        self._most = other._most.copy()
        return self

    def merge(self, other: Self) -> None:
        """Add everything another look has seen (other rows)."""
        self.n_rows += other.n_rows
        self._missing += other._missing
        self._fewest = np.minimum(self._fewest, other._fewest)
        self._most = np.maximum(self._most, other._most)
        self._low, self._high = np.minimum(self._low, other._low), np.maximum(self._high, other._high)
        if self.also is not None and other.also is not None:
            self.also.merge(other.also)
        else:
            self.also = None
        if self.people is not None and other.people is not None:
            self.people.merge(other.people)

    def learnt_values(self) -> list[Any]:
        """Return what was learnt, as plain values."""
        seen = [getattr(self, name) for name in _LEARNT]
        return [*seen, *(None if more is None else learnt_of(more) for more in (self.also, self.people))]

    def filled(self, learnt: list[Any]) -> Self:
        """Return a look of the same kind that has learnt what another one had."""
        made = self.fresh()
        seen, also = learnt[: len(_LEARNT)], learnt[len(_LEARNT)]
        people = learnt[-1] if len(learnt) > len(_LEARNT) + 1 else None  # not in files of earlier versions
        for name, value in zip(_LEARNT, seen, strict=True):
            setattr(made, name, value)
        made.also = None if also is None or made.also is None else filled_summary(made.also, also)
        made.people = None if people is None or made.people is None else filled_summary(made.people, people)
        return made

    def _decimals_of(self, name: str, present: np.ndarray, known: int) -> tuple[int, int]:
        dtype = self._types[name]
        if dtype.is_integer():
            return 0, 0
        if isinstance(dtype, pl.Decimal):
            return dtype.scale, dtype.scale
        values = present.astype(np.float32) if dtype == pl.Float32 else present
        # doubles do not tell how they were written: one decimal at least, if the column has any
        return 1, decimals_of_doubles(values, known)

    def schema(self, order: Sequence[str], what: str) -> Schema:
        """Return the schema, or raise for tables that cannot be released.

        Parameters
        ----------
        order : sequence of str
            All released columns.
        what : str
            How errors call the file.
        """
        columns = []
        for i, name in enumerate(self._names):
            if self.n_rows and self._missing[i] == self.n_rows:
                raise DataError(
                    f"{what}: column {name!r} has no value at all",
                    hint=f"drop it with identifier=[{name!r}], or fill it",
                )
            columns.append(self._column(i, what))
        return Schema(tuple(order), tuple(columns), self.n_rows)

    def _column(self, i: int, what: str) -> NumberColumn:
        name, dtype = self._names[i], self._types.get(self._names[i])
        rules = self._rules.get(name, ColumnRules())
        largest = max(abs(float(self._low[i])), abs(float(self._high[i]))) if self.n_rows else 0.0
        most, fewest = int(self._most[i]), int(min(self._fewest[i], self._most[i]))
        if rules.decimals is not None and rules.decimals <= most:  # coarser than the data, never finer
            most = fewest = rules.decimals
        whole = dtype.is_integer() if dtype is not None else int(self._most[i]) == 0
        if largest > LARGEST_WHOLE and (whole or isinstance(dtype, pl.Decimal)):
            what_of = "integers" if whole else "decimals"
            raise DataError(
                f"{what}: column {name!r} holds {what_of} beyond 2^53, whose digits a double cannot keep",
                hint=f"drop it if it is an identifier (--id {name!r}), or use another unit",
            )
        kind = "integer" if whole else "float32" if dtype == pl.Float32 else "float64"
        decimals = 0 if whole else most_decimals(most, largest)
        fewest = min(fewest, decimals or 0)
        missing = int(self._missing[i])
        low, high = float(self._low[i]), float(self._high[i])
        return NumberColumn(name, dtype, kind, decimals, fewest, missing, low, high, rules)


_TYPES = (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64, pl.Float32, pl.Float64)


def known_type(name: str | None) -> pl.DataType | None:
    """Return the type of a name in a receipt, or None for types that come back as they are in the release."""
    return next((dtype() for dtype in _TYPES if str(dtype()) == name), None)


def coarse_range(low: float, high: float) -> tuple[float, float]:
    """Return a range of two significant digits around another: what nobody should see, and nobody's own value.

    Examples
    --------
    >>> coarse_range(0.0, 302732.0), coarse_range(-17.23, 0.0456)
    ((0.0, 310000.0), (-18.0, 0.046))
    """
    lower, upper = _coarse(low, up=False), _coarse(high, up=True)
    return (lower, upper) if lower < upper else (lower, lower + max(abs(lower), 1.0))


def _coarse(value: float, *, up: bool) -> float:
    if value == 0.0 or not math.isfinite(value):
        return value
    step = Decimal(1).scaleb(Decimal(value).adjusted() - 1)
    steps = (Decimal(value) / step).to_integral_value(ROUND_CEILING if up else ROUND_FLOOR)
    return float(steps * step)
