"""The two tables of an audit, side by side: the same people, row by row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato._arrays import Flags, Floats
from sfumato.exceptions import DataError, ParameterError, nearest_name
from sfumato.frames.frame import (
    all_columns,
    gaps_and_texts,
    is_dataframe,
    numeric_columns,
    read_frame,
)
from sfumato.frames.gaps import fill_gaps, incomplete

_FEW = 20  # fewer whole numbers may well be all different


@dataclass(frozen=True)
class AlignedTables:
    """An original and its release.

    Attributes
    ----------
    names : tuple of str
        The columns of the original that are audited.
    original : array of shape (n, d)
    released : array of shape (n, e)
        Row i is the release of row i of the original.
    same_columns : bool
        Whether released columns mean the same as the original ones.
    notes : tuple of str
        What was left out or assumed.
    gaps, gaps_before : arrays of shapes (n, e) and (n, d), or None
        Cells of the release and of the original that are missing; None if none are.
    """

    names: tuple[str, ...]
    original: Floats
    released: Floats
    same_columns: bool
    notes: tuple[str, ...]
    gaps: Flags | None = None
    gaps_before: Flags | None = None

    def __repr__(self) -> str:
        return f"AlignedTables(n_rows={len(self.original)}, n_columns={len(self.names)})"


def align_tables(
    original: Any,
    released: Any,
    *,
    order: Any = None,
    columns: Sequence[str] | None = None,
    leave_out: Sequence[str] = (),
    given: Sequence[str] = (),
    counted: Sequence[str] = (),
) -> AlignedTables:
    """Read two tables and put them side by side.

    Parameters
    ----------
    original, released : dataframes or arrays
        Columns are matched by name; text columns are left out.
    order : sequence of int, optional
        `order[i]` is the original row that stands in row i of the release; None means the same order.
    columns : sequence of str, optional
        The columns to audit; None takes all that are numeric in both tables.
    leave_out : sequence of str, optional
        Columns that are not audited.
    given : sequence of str
        Columns that are released as they are: nobody need guess them. Default: none.
    counted : sequence of str
        Columns that are audited elsewhere, as parts of whole rows, whatever they hold. Default: none.
    """
    kept, notes = _shared_columns(original, released, counted)
    kept = _chosen(kept, columns, leave_out, columns_in_both(original, released))
    kept = tuple(name for name in kept if name not in given) or kept
    if not kept:
        # a projection: none of the released columns is an original one
        before, after = numeric_columns(original), numeric_columns(released)
        same = False
        notes.append("the released columns are new ones: figures that compare columns do not apply")
    else:
        before = after = kept
        same = True
    gaps, gaps_before = _missing(released, after), _missing(original, before)
    original = _without_gaps(original, before, "the original", notes)
    released = _without_gaps(released, after, "the release", notes)
    left = read_frame(original, before, what="the original")
    right = read_frame(released, after, what="the release")
    if not left.names or not right.names:
        raise DataError("there is no numeric column to audit", hint="check that both files are the right ones")
    if len(left) != len(right):
        raise DataError(
            f"the original has {len(left):,} rows and the release {len(right):,}: they are not the same people",
            hint="an audit compares row by row; pass the table that was released, whole",
        )
    if len(left) < 2:
        raise DataError(f"{len(left)} row(s) cannot be audited", hint="bring at least two")
    x, y = np.column_stack(left.columns), np.column_stack(right.columns)
    if order is not None:
        place = np.asarray(order, dtype=np.int64)
        if place.shape != (len(x),) or not np.array_equal(np.sort(place), np.arange(len(x))):
            raise ParameterError(f"order must hold every row number from 0 to {len(x) - 1} once")
        aligned = np.empty_like(y)
        aligned[place] = y
        y = aligned
        gaps = None if gaps is None else gaps[np.argsort(place)]
    else:
        notes.append("rows are compared in the order in which they stand")
    if same:
        notes += _identifiers(left.names, x, y)
    return AlignedTables(left.names, x, y, same, tuple(notes), gaps, gaps_before)


def visibly_moved(original: Any, released: Any) -> bool:
    """Tell whether texts that both tables have, or their gaps, are the same ones at other rows, none at its own."""
    if not (is_dataframe(original) and is_dataframe(released)):
        return False
    pairs = [(one, two) for one, two in gaps_and_texts(original, released) if len(set(one)) > 1]
    return all(one != two for one, two in pairs) and any(sorted(one) == sorted(two) for one, two in pairs)


def _missing(table: Any, names: Sequence[str]) -> Flags | None:
    if not incomplete(table, names).any():
        return None
    return np.column_stack([incomplete(table, [name]) for name in names])


def _without_gaps(table: Any, names: Sequence[str], what: str, notes: list[str]) -> Any:
    """Fill missing cells with the middle of their column, as an attacker would: nobody is left out for a gap."""
    gaps = incomplete(table, names)
    if not gaps.any():
        return table
    if gaps.all() and any(incomplete(table, [name]).all() for name in names):
        raise DataError(f"{what}: every row misses a value of one column", hint="fill or drop that column")
    notes.append(
        f"{what}: {int(gaps.sum()):,} of {len(gaps):,} rows miss a value; missing cells are the middle of their column"
    )
    return fill_gaps(table, names)


def _chosen(
    kept: tuple[str, ...], columns: Sequence[str] | None, leave_out: Sequence[str], others: Sequence[str] = ()
) -> tuple[str, ...]:
    for name in (*(columns or ()), *leave_out):
        if name not in kept and name not in others:
            raise ParameterError(
                f"no column {name!r} that is numeric in both tables",
                hint=nearest_name(name, kept) or f"there are: {', '.join(kept) or 'none'}",
            )
    chosen = tuple(name for name in kept if (columns is None or name in columns) and name not in leave_out)
    if kept and not chosen:
        raise ParameterError("every column is left out: there is nothing to audit")
    return chosen


def columns_in_both(original: Any, released: Any) -> tuple[str, ...]:
    """Return the columns that two dataframes share, of whatever kind; none of arrays."""
    if not (is_dataframe(original) and is_dataframe(released)):
        return ()
    after = all_columns(released)
    return tuple(name for name in all_columns(original) if name in after)


def _identifiers(names: Sequence[str], x: Floats, y: Floats) -> list[str]:
    """Return a note for each column that looks like a number given to people rather than a fact about them."""
    notes = []
    for name, before, after in zip(names, x.T, y.T, strict=True):
        whole = len(x) >= _FEW and np.array_equal(before, np.rint(before))
        if whole and len(np.unique(before)) == len(before):
            told = (
                "and the release holds it as it is: it names everybody"
                if np.array_equal(before, after)
                else ("if it is one, drop it from the release")
            )
            notes.append(f"{name} looks like an identifier (whole numbers, no two alike), {told}")
    return notes


def _shared_columns(original: Any, released: Any, counted: Sequence[str] = ()) -> tuple[tuple[str, ...], list[str]]:
    before, after = numeric_columns(original), numeric_columns(released)
    notes: list[str] = []
    if not (is_dataframe(original) and is_dataframe(released)):
        # arrays have no names to match: the same width means the same columns
        return (before, notes) if len(before) == len(after) and not is_dataframe(original) else ((), notes)
    kept = tuple(name for name in before if name in after)
    if not kept and any(name in before for name in after):
        return (), notes
    text = [name for name in all_columns(original) if name in all_columns(released) and name not in (*kept, *counted)]
    if kept and text:
        notes.append(f"not numeric in both, so not audited: {', '.join(text)}")
    extra = [name for name in all_columns(released) if name not in all_columns(original)]
    if kept and extra:
        notes.append(f"in the release only, so only asked what they tell of the others: {', '.join(extra)}")
    missing = [name for name in before if name not in after]
    if kept and missing:
        notes.append(f"not in the release, so not audited: {', '.join(missing)}")
    return kept, notes
