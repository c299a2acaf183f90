"""Whether a table holds more than measurements: then the default method is the one that exchanges values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from sfumato.files.coded import MARKERS, has_other_columns
from sfumato.frames.kinds import guess_number
from sfumato.policy.profile import first_rows

_ROWS = 10_000
_REPEATED = 3  # rows that have a value of a code, on average


def has_other_kinds(source: Any, names: Sequence[str], rows: int = _ROWS) -> bool:
    """Tell whether some columns hold texts, flags, dates, codes, counts, or a value that stands for many rows.

    Parameters
    ----------
    source : Source, or a table with `head`
    names : sequence of str
        The columns to be perturbed.
    rows : int
        How many rows are looked at.
    """
    if has_other_columns(source, names, rows):
        return True
    head = first_rows(source, rows) if hasattr(source, "batches") else source.head(rows)
    return head is not None and any(_stands_for_something(head[name]) for name in names)


def _stands_for_something(cells: pl.Series) -> bool:
    """Tell whether the numbers of a column are codes or counts, or hold a spike or a sentinel."""
    if cells.dtype == pl.String:
        cells = cells.str.strip_chars()
        cells = cells.filter(~cells.is_in(MARKERS) & (cells != ""))
    numbers = cells.cast(pl.Float64, strict=False).drop_nulls().drop_nans().to_numpy()
    different = len(np.unique(numbers))
    if different < 2:
        return False
    guess = guess_number(numbers, integer=bool((numbers == np.rint(numbers)).all()))
    return bool(guess.held) or (guess.kind == "count" and different * _REPEATED <= len(numbers))
