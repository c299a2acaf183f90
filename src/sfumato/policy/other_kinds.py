"""Whether a table holds more than measurements: then the default method is the one that exchanges values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from sfumato.files.coded import has_other_columns
from sfumato.frames.counted import numbers_in
from sfumato.frames.kinds import guess_number
from sfumato.policy.profile import LOOKED_AT, first_rows

_REPEATED = 3  # rows that have a value of a code, on average


def has_other_kinds(source: Any, names: Sequence[str]) -> bool:
    """Tell whether some columns hold texts, flags, dates, codes, counts, or a value that stands for many rows.

    Parameters
    ----------
    source : Source, or a table with `head`
    names : sequence of str
        The columns to be perturbed.
    """
    if has_other_columns(source, names):
        return True
    head = first_rows(source) if hasattr(source, "batches") else source.head(LOOKED_AT)
    return head is not None and any(_stands_for_something(head[name]) for name in names)


def _stands_for_something(cells: pl.Series) -> bool:
    """Tell whether the numbers of a column are codes or counts, or hold a spike or a sentinel."""
    values = numbers_in(cells)
    if values is None:
        return False  # texts are looked for elsewhere
    numbers = values.drop_nulls().to_numpy().astype(np.float64)
    different = len(np.unique(numbers))
    if different < 2:
        return False
    guess = guess_number(numbers, integer=bool((numbers == np.rint(numbers)).all()))
    return bool(guess.held) or (guess.kind == "count" and different * _REPEATED <= len(numbers))
