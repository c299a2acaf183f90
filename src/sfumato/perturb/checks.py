"""What every method checks: its table before the fit, its arguments, and its release afterwards."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.core.fingerprint import RowHasher
from sfumato.core.plan import Facts
from sfumato.exceptions import ConstantColumnWarning, DataError, ParameterError, UnchangedCellsWarning
from sfumato.table.frames import Frame

__all__ = ["check_facts", "check_size", "row_hashes", "warn_unchanged", "whole_number"]


def check_facts(facts: Facts, owner: str) -> None:
    """Raise for tables that no method can take, and warn about constant columns."""
    if facts.n_rows < 2:
        raise DataError(
            f"{owner}: Found array with {facts.n_rows} sample(s) "
            f"(shape=({facts.n_rows}, {facts.n_columns})) while a minimum of 2 is required "
            f"(n_samples={facts.n_rows}).",
            hint="a table of fewer than two rows has no clusters to keep",
        )
    check_size(facts, owner)
    constant = [name for name, low, high in zip(facts.names, facts.low, facts.high, strict=True) if low == high]
    if constant:
        warnings.warn(
            f"{len(constant)} constant column(s): {', '.join(constant[:5])}{' ...' if len(constant) > 5 else ''}. "
            "Noise that counts in ranges or standard deviations leaves them as they are.",
            ConstantColumnWarning,
            stacklevel=4,
        )


def check_size(facts: Facts, owner: str) -> None:
    """Raise for values that cannot be squared."""
    largest = np.maximum(-facts.low, facts.high)
    large = [name for name, value in zip(facts.names, largest, strict=True) if value > 1e150]
    if large:
        raise DataError(
            f"{owner}: column {large[0]!r} holds values beyond 1e150, which cannot be squared",
            hint="use another unit for the column",
        )


def warn_unchanged(frame: Frame, released: list[NDArray[Any]], facts: Facts) -> None:
    """Warn about columns of which most cells come out as they went in: rounding undoes small noise."""
    varies = facts.high > facts.low
    same = [
        name
        for name, before, after, vary in zip(frame.names, frame.columns, released, varies, strict=True)
        if vary and np.count_nonzero(before == after) > len(before) / 2
    ]
    if same:
        warnings.warn(
            f"{len(same)} column(s) come out mostly as they went in: {', '.join(same[:5])}"
            f"{' ...' if len(same) > 5 else ''}. Rounding undoes noise that is small against the step of a column: "
            "raise the noise, or choose another method.",
            UnchangedCellsWarning,
            stacklevel=5,
        )


def row_hashes(frame: Frame, hasher: RowHasher) -> NDArray[np.uint64]:
    """Return a keyed hash for each row of a frame."""
    step = 1 << 16
    parts = [hasher.rows(frame.tile(a, min(a + step, len(frame)))) for a in range(0, len(frame), step)]
    return np.concatenate(parts)


def whole_number(value: Any, name: str, *, low: int) -> int:
    """Return an integer argument, or raise."""
    if isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= low:
        return int(value)
    raise ParameterError(f"{name} must be {low} or more (an integer), got {value!r}")
