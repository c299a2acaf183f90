"""The table for which a method is chosen: its confidential columns, complete rows, a sample if there are many."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato._arrays import Floats
from sfumato.attack.engine.decimals import infer_decimals
from sfumato.core.secret import Hidden
from sfumato.exceptions import DataError
from sfumato.files.entire import read_table
from sfumato.frames.frame import all_columns, incomplete, is_dataframe, numeric_columns, read_frame, take_rows
from sfumato.perturb.mechanism.parameters import nearest_name

MOST_ROWS = 10_000
_FEWEST = 20


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
    """

    names: tuple[str, ...]
    values: Floats
    decimals: tuple[int | None, ...]
    n_rows: int
    identifier: tuple[str, ...]
    keep: tuple[str, ...]
    text: tuple[str, ...]
    notes: tuple[str, ...]

    def rounded(self, released: Floats) -> Floats:
        """Return a release of these columns rounded to their decimals, as a file would hold it.

        Parameters
        ----------
        released : array of shape (n, d)
        """
        out = np.array(released)
        for column, decimals in zip(out.T, self.decimals, strict=True):
            if decimals is not None:
                np.round(column, decimals, out=column)
        return out


def read_subject(
    table: Any, *, identifier: Sequence[str] = (), keep: Sequence[str] = (), max_rows: int = MOST_ROWS, seed: int = 0
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

    Examples
    --------
    >>> subject = read_subject(np.arange(60.0).reshape(30, 2))
    >>> subject.names, subject.values.shape, subject.decimals
    (('x0', 'x1'), (30, 2), (0, 0))
    """
    if isinstance(table, str | os.PathLike):
        table = read_table(table)
    everything = all_columns(table) if is_dataframe(table) else numeric_columns(table)
    for name in (*identifier, *keep):
        if name not in everything:
            near = nearest_name(name, everything)
            raise DataError(
                f"no column {name!r}", hint=f"{near + ' ' if near else ''}columns are: {', '.join(everything)}"
            )
    outside = {*identifier, *keep}
    names = tuple(name for name in numeric_columns(table) if name not in outside)
    text = tuple(name for name in everything if name not in outside and name not in names)
    if not names:
        raise DataError("there is no numeric column to protect", hint="check the file, and what is left out")
    notes = []
    if text:
        notes.append(f"not numeric, so left out: {', '.join(text)}")
    missing = incomplete(table, names)
    if missing.any():
        notes.append(f"{np.count_nonzero(missing):,} rows with missing values are left out")
        table = take_rows(table, ~missing)
    frame = read_frame(table, names)
    values = np.column_stack(frame.columns)
    if len(values) < _FEWEST:
        raise DataError(
            f"{len(values)} complete rows are too few to choose a method; it takes {_FEWEST}",
            hint="with so few people every release singles someone out: do not hand it out",
        )
    constant = [name for name, column in zip(names, values.T, strict=True) if column.min() == column.max()]
    if len(constant) == len(names):
        raise DataError("every column is constant: there is nothing to protect", hint="check the file")
    n_rows = len(values)
    if n_rows > max_rows:
        chosen = np.sort(np.random.default_rng([seed, 21]).choice(n_rows, max_rows, replace=False))
        values = values[chosen]
        notes.append(f"measured on {max_rows:,} of {n_rows:,} rows, drawn at random")
    decimals = tuple(infer_decimals(column) for column in values.T)
    return Subject(names, values, decimals, n_rows, tuple(identifier), tuple(keep), text, tuple(notes))
