"""The table for which a method is chosen: its confidential columns, complete rows, a sample if there are many."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sfumato._arrays import Flags, Floats, Integers
from sfumato.attack.engine.decimals import infer_decimals
from sfumato.core.keys import Key
from sfumato.core.secret import Hidden
from sfumato.core.stream import Streams
from sfumato.exceptions import DataError
from sfumato.files.entire import frame_bytes, frame_of_bytes, number_frame, read_table
from sfumato.frames.counted import count_table
from sfumato.frames.frame import all_columns, as_polars, is_dataframe, numeric_columns, read_frame, take_rows
from sfumato.frames.gaps import incomplete
from sfumato.perturb.guard.exposed import exposed_in
from sfumato.perturb.mechanism.parameters import nearest_name

MOST_ROWS = 10_000
_FEWEST = 20
_FEWEST_DIFFERENT = 2  # rows; a clustering needs more of them than clusters


@dataclass(frozen=True, repr=False)
class Subject(Hidden):
    """A table under study.

    Attributes
    ----------
    names : tuple of str
        The confidential columns.
    values : array of shape (n, d)
        Complete rows, at most `MOST_ROWS` of them unless told otherwise, drawn at random.
    decimals : tuple of int or None
        Decimals of each column; releases are rounded to them.
    n_rows : int
        Rows of the whole table.
    identifier, keep, text : tuple of str
        Columns that are dropped, released as they are, and not numeric.
    notes : tuple of str
        What was left out.
    kinds, held : dicts from places of columns
        What `AtomExchange` is told of columns that hold anything but numbers; empty for a table of numbers.
    categories : tuple of int
        Places of columns whose numbers stand for categories.
    gaps : tuple of float or None
        The number that stands for a missing cell of each column; empty when rows with missing cells are left out.
    whole : array of shape (rows, d)
        All complete rows, also of people without company: what methods that draw rows learn from.
    bounds : mapping
        Column -> (low, high), as a policy says.
    beside : dataframe or None
        The columns that are released as they are, of the same rows: attackers join on them. None: there are none.
    """

    names: tuple[str, ...]
    values: Floats
    decimals: tuple[int | None, ...]
    n_rows: int
    identifier: tuple[str, ...]
    keep: tuple[str, ...]
    text: tuple[str, ...]
    notes: tuple[str, ...]
    kinds: dict[int, str] = field(default_factory=dict)
    held: dict[int, tuple[float, ...]] = field(default_factory=dict)
    categories: tuple[int, ...] = ()
    gaps: tuple[float | None, ...] = ()
    whole: Floats = field(default_factory=lambda: np.empty((0, 0)))
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    beside: Any = None

    def rounded(self, released: Floats) -> Floats:
        """Return a release of these columns rounded to their decimals, as a file would hold it.

        Parameters
        ----------
        released : array of shape (n, d)
        """
        out = np.array(released)
        for column, decimals, gap in zip(out.T, self.decimals, self.gaps or [None] * out.shape[1], strict=True):
            if decimals is not None:
                present = slice(None) if gap is None else column != gap
                column[present] = np.round(column[present], decimals)
        return out


def read_subject(
    table: Any,
    *,
    identifier: Sequence[str] = (),
    keep: Sequence[str] = (),
    max_rows: int = MOST_ROWS,
    seed: int = 0,
    every_kind: bool = False,
    bounds: Mapping[str, tuple[float, float]] | None = None,
) -> Subject:
    """Read the table for which a method is chosen.

    Parameters
    ----------
    identifier, keep : sequences of str
        Columns that a release drops, and those that it leaves as they are.
    max_rows : int
        Larger tables are sampled.
    seed : int
        Chooses the sample.
    every_kind : bool
        Whether texts, flags, dates and missing cells are counted, for methods that exchange them; otherwise the columns
        of numbers and complete rows are taken. Default: False.
    bounds : mapping, optional
        Column -> (low, high), as a policy says.

    Examples
    --------
    >>> subject = read_subject(np.arange(60.0).reshape(30, 2))
    >>> subject.names, subject.values.shape, subject.decimals
    (('x0', 'x1'), (30, 2), (0, 0))
    """
    everything = _columns_of(table, (*identifier, *keep))
    outside = {*identifier, *keep}
    if every_kind:
        counted = count_table(table, [name for name in everything if name not in outside])
        names, text = counted.names, counted.free
        notes = [f"free text or identifiers, so left out: {', '.join(text)}"] if text else []
    else:
        counted = None
        names = tuple(name for name in numeric_columns(table) if name not in outside)
        text = tuple(name for name in everything if name not in outside and name not in names)
        notes = [f"not numeric, so left out: {', '.join(text)}"] if text else []
    if not names:
        raise DataError("there is no numeric column to protect", hint="check the file, and what is left out")
    beside = _beside(table, keep)
    if counted:
        values, missed = counted.numbers.to_numpy().astype(np.float64), 0
    else:
        values, missing = _complete(table, names)
        missed = int(missing.sum())
        beside = None if beside is None else beside.filter(~missing)
    if missed:
        notes.append(f"{missed:,} rows with missing values are left out")
    if len(values) < _FEWEST:
        raise DataError(
            f"{len(values)} complete rows are too few to choose a method; it takes {_FEWEST}",
            hint="with so few people every release singles someone out: do not hand it out",
        )
    if all(column.min() == column.max() for column in values.T):
        raise DataError("every column is constant: there is nothing to protect", hint="check the file")
    if len(np.unique(values, axis=0)) <= _FEWEST_DIFFERENT:
        raise DataError("too few different rows to have clusters", hint="check the file, and what is left out")
    n_rows, whole = len(values), values
    known = dict(bounds or {})
    categories = counted.categories if counted else ()
    alone = _without_company(values, categories, seed)
    if len(alone):
        values = np.delete(values, alone, axis=0)
        beside = None if beside is None else beside[np.setdiff1d(np.arange(n_rows), alone)]
        notes.append(f"{len(alone):,} rows without company are left out: methods that keep clusters hold them back")
    if len(values) > max_rows:
        chosen = np.sort(np.random.default_rng([seed, 21]).choice(len(values), max_rows, replace=False))
        values = values[chosen]
        beside = None if beside is None else beside[chosen]
        notes.append(f"measured on {max_rows:,} of {n_rows:,} rows, drawn at random")
    gaps = counted.gaps if counted else ()
    decimals = tuple(
        infer_decimals(column if gap is None else column[column != gap])
        for column, gap in zip(values.T, gaps or [None] * len(names), strict=True)
    )
    roles = (tuple(identifier), tuple(keep), text)
    if counted is None:
        return Subject(names, values, decimals, n_rows, *roles, tuple(notes), whole=whole, bounds=known, beside=beside)
    held = {names.index(name): tuple(own) for name, own in counted.coding.held.items()}
    kinds = {names.index(name): kind for name, kind in counted.kinds.items()}
    told = (*roles, tuple(notes), kinds, held, counted.categories, gaps, whole, known, beside)
    return Subject(names, values, decimals, n_rows, *told)


def subject_told(subject: Subject) -> Subject:
    """Return a subject for another process: without a dataframe in it.

    Parameters
    ----------
    subject : Subject
    """
    return subject if subject.beside is None else replace(subject, beside=frame_bytes(subject.beside))


def subject_again(told: Subject) -> Subject:
    """Return the subject that `subject_told` was given.

    Parameters
    ----------
    told : Subject
    """
    return told if told.beside is None else replace(told, beside=frame_of_bytes(told.beside))


def other_columns(table: Any, outside: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the columns to protect that hold anything but numbers; free text and identifiers are none of them.

    Parameters
    ----------
    outside : sequence of str
        Columns that a release drops or keeps.
    """
    if not is_dataframe(table):
        return ()
    numeric = numeric_columns(table)
    others = [name for name in all_columns(table) if name not in numeric and name not in outside]
    return count_table(table, others).names if others else ()


def opened(table: Any) -> Any:
    """Return a table: read, if it is the path of a file."""
    return read_table(table) if isinstance(table, str | os.PathLike) else table


def _columns_of(table: Any, named: Sequence[str]) -> Sequence[str]:
    """Return the columns of a table, or raise if some of them are not there."""
    everything = all_columns(table) if is_dataframe(table) else numeric_columns(table)
    for name in named:
        if name not in everything:
            near = nearest_name(name, everything)
            raise DataError(
                f"no column {name!r}", hint=f"{near + ' ' if near else ''}columns are: {', '.join(everything)}"
            )
    return everything


def _without_company(values: Floats, categories: Sequence[int], seed: int) -> Integers:
    """Return the rows that a release would hold back, so that all methods are measured on the same people."""
    numbers = [i for i in range(values.shape[1]) if i not in categories]
    if not numbers:
        return np.empty(0, dtype=np.int64)
    return exposed_in(np.ascontiguousarray(values[:, numbers]), Streams(Key.from_insecure_seed(seed).derive("company")))


def _beside(table: Any, keep: Sequence[str]) -> Any:
    """Return the columns that are kept; None if there are none."""
    if not keep:
        return None
    if is_dataframe(table):
        return as_polars(table).select(list(keep))
    return number_frame(keep, np.column_stack(read_frame(table, keep).columns))


def _complete(table: Any, names: Sequence[str]) -> tuple[Floats, Flags]:
    """Return the complete rows of columns of numbers, and which rows are not."""
    missing = incomplete(table, names)
    if missing.any():
        table = take_rows(table, ~missing)
    return np.column_stack(read_frame(table, names).columns), missing
