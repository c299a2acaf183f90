"""A dataframe of every kind of column as one of numbers, and back: for methods that exchange values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl

from sfumato.core.secret import Hidden
from sfumato.exceptions import DataError
from sfumato.files.codes import Codes, as_levels, codes_of, gap_for, names_people
from sfumato.frames.columns import ColumnChoice, choose_columns, require_good_names
from sfumato.frames.frame import as_polars, is_dataframe


@dataclass(frozen=True, repr=False)
class Coding(Hidden):
    """How the columns of a dataframe become numbers.

    Attributes
    ----------
    codes : dict from columns to Codes
        Columns that hold no numbers.
    gaps : dict from columns to float
        The number that stands for a missing cell, of columns of numbers that have some.
    decimals : dict from columns to int
        Of columns of whole numbers with missing cells, which doubles would hide.
    """

    codes: dict[str, Codes] = field(default_factory=dict)
    gaps: dict[str, float] = field(default_factory=dict)
    decimals: dict[str, int] = field(default_factory=dict)

    @property
    def kinds(self) -> dict[str, str]:
        """What a method is told of the counted columns."""
        return {name: codes.kind for name, codes in self.codes.items()}

    @property
    def held(self) -> dict[str, tuple[float, ...]]:
        """Values that are no numbers."""
        dated = {name: (codes.gap,) for name, codes in self.codes.items() if codes.gap is not None}
        return {**dated, **{name: (gap,) for name, gap in self.gaps.items()}}

    def encode(self, table: Any) -> pl.DataFrame:
        """Return a dataframe as numbers; columns that are not coded stay as they are."""
        frame: pl.DataFrame = as_polars(table)
        done = []
        for name in frame.columns:
            cells = frame[name]
            if name in self.codes:
                cells = pl.Series(name, self.codes[name].encode(cells))
            elif name in self.gaps:
                cells = cells.cast(pl.Float64).fill_nan(None).fill_null(self.gaps[name])
            done.append(cells)
        return pl.DataFrame(done)

    def decode(self, released: pl.DataFrame, like: Any) -> Any:
        """Return released numbers as a dataframe of the kind of another one, with its types.

        Parameters
        ----------
        released : polars.DataFrame
        like : dataframe
            The original.
        """
        frame = nw.from_native(like, eager_only=True)
        index = nw.maybe_get_index(frame)
        done = []
        for name in frame.columns:
            cells = released[name]
            if name in self.codes:
                cells = self.codes[name].decode(cells.to_numpy())
            elif name in self.gaps:
                values = cells.cast(pl.Float64)
                cells = pl.select(pl.when(values == self.gaps[name]).then(None).otherwise(values)).to_series()
            done.append(_series(name, cells, frame, index))
        return nw.to_native(frame.with_columns(*done))


def find_coding(table: Any, columns: ColumnChoice = None, kinds: Mapping[str, str] | None = None) -> Coding | None:
    """Return how a dataframe becomes numbers; None for arrays and for dataframes that need no coding.

    Parameters
    ----------
    columns : sequence of str or int, optional
        The columns that are released; None takes all.
    kinds : mapping from columns to str, optional
        What their owner says; numbers that are called a category are counted, too.
    """
    require_good_names(table, "the table")
    if not is_dataframe(table):
        return None
    frame: pl.DataFrame = as_polars(table)
    all_names = tuple(frame.columns)
    names = [all_names[i] for i in choose_columns(columns, all_names, "the table")]
    coding, free = Coding(), []
    for name in names:
        cells = frame[name]
        if cells.dtype.is_float():
            cells = cells.fill_nan(None)
        missing = cells.null_count()
        if cells.dtype.is_numeric() and (kinds or {}).get(name) != "category":
            if name not in (kinds or {}) and names_people(cells.drop_nulls().unique(), len(cells) - missing):
                free.append(name)
            if missing:
                add_gaps(coding, name, cells)
            continue
        said = (kinds or {}).get(name)
        codes = codes_of(cells, gaps=missing > 0, rows=len(cells) - missing, kind=said)
        if codes is None:
            free.append(name)
        else:
            coding.codes[name] = codes
    if free:
        raise DataError(
            f"free text or identifiers, which cannot be exchanged: {', '.join(map(repr, free))}",
            hint="drop them, leave them as they are by naming the other columns: columns=[...], or say what they are: "
            f"kinds={{{free[0]!r}: 'continuous'}}",
        )
    return coding if coding.codes or coding.gaps else None


def count_both(original: Any, released: Any) -> tuple[Any, Any, list[str]]:
    """Return two dataframes of the same columns as numbers, counted alike, and which columns hold categories.

    Parameters
    ----------
    original, released : dataframes or arrays
        Arrays, and columns of numbers without gaps, stay as they are; free text is left out.
    """
    if not (is_dataframe(original) and is_dataframe(released)):
        return original, released, []
    frames: list[pl.DataFrame] = [as_polars(original), as_polars(released)]
    shared = set(frames[1].columns)
    names = [name for name in frames[0].columns if name in shared]
    coding = Coding()
    for name in names:
        both = [frame[name] for frame in frames]
        if both[0].dtype.is_numeric():
            cells = pl.concat([one.cast(pl.Float64).fill_nan(None) for one in both])
            if cells.null_count():
                add_gaps(coding, name, cells)
            continue
        cells = pl.concat([as_levels(one) for one in both])
        codes = codes_of(cells, gaps=cells.null_count() > 0)
        if codes is not None:
            coding.codes[name] = codes
    if not coding.codes and not coding.gaps:
        return original, released, []
    counted = [coding.encode(frame) for frame in frames]
    return counted[0], counted[1], [name for name, kind in coding.kinds.items() if kind == "category"]


def add_gaps(coding: Coding, name: str, cells: pl.Series) -> None:
    """Find the number that stands for the missing cells of a column of numbers.

    Parameters
    ----------
    coding : Coding
        Is told.
    """
    present = cells.drop_nulls().cast(pl.Float64).to_numpy()
    if not len(present):
        raise DataError(f"column {name!r} has no value at all", hint="drop it, or fill it")
    whole = bool((present == np.rint(present)).all())
    if whole:
        coding.decimals[name] = 0
    coding.gaps[name] = gap_for(present, 0 if whole else None)


def _series(name: str, cells: pl.Series, frame: Any, index: Any) -> Any:
    """Return cells as a column of another library, of the type that it had there."""
    dtype = frame[name].dtype
    values: Sequence[Any] | np.ndarray = cells.to_list() if cells.null_count() else cells.to_numpy()
    if frame.implementation.is_polars():
        return nw.from_native(cells.alias(name), series_only=True).cast(dtype)
    one = nw.new_series(name, values, backend=frame.implementation)
    if index is not None:
        one = nw.maybe_set_index(one, index=index)
    return one.cast(dtype)
