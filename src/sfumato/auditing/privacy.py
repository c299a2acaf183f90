"""The papers' privacy figures, and the one that counts: residual security after the best attack."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sfumato._arrays import Floats
from sfumato.attack.engine.result import Result
from sfumato.metrics import (
    equivalence_class_sizes,
    hiding_failure,
    interval_disclosure,
    mean_shift,
    variance_security,
)


@dataclass(frozen=True)
class ColumnPrivacy:
    """One column.

    Attributes
    ----------
    name : str
    security : float or None
        Var(x - y)/Var(x), the papers' figure; more looks more private. None for a constant column.
    residual : float or None
        Var(x - guess)/Var(x) for the best attack on this column; more is more private. 0 means laid open.
    residual_attack : str or None
        Which attack that is.
    mean_shift : float or None
        |mean(y) - mean(x)| in standard deviations.
    """

    name: str
    security: float | None
    residual: float | None
    residual_attack: str | None
    mean_shift: float | None


@dataclass(frozen=True)
class Privacy:
    """Privacy figures of a release.

    Attributes
    ----------
    columns : tuple of ColumnPrivacy
    min_security : float or None
        The papers' mSec.
    median_residual, min_residual : float or None
        Residual security over the columns.
    unchanged_rows : float or None
        Share of rows released as they are (hiding failure).
    interval_disclosure : float or None
        Share of cells within 5 % of a standard deviation of the original.
    smallest_class : int
        Fewest released rows that look alike.
    """

    columns: tuple[ColumnPrivacy, ...]
    min_security: float | None
    median_residual: float | None
    min_residual: float | None
    unchanged_rows: float | None
    interval_disclosure: float | None
    smallest_class: int


def residual_security(results: Sequence[Result], n_columns: int) -> list[tuple[float | None, str | None]]:
    """Return for each column the smallest Var(x - guess)/Var(x) over all attacks on values, and the attack."""
    out: list[tuple[float | None, str | None]] = [(None, None)] * n_columns
    for result in results:
        if result.residual is None or len(result.residual) != n_columns:
            continue
        for column, value in enumerate(result.residual):
            best = out[column][0]
            if np.isfinite(value) and (best is None or value < best):
                out[column] = (float(value), result.attack)
    return out


def measure_privacy(
    names: Sequence[str], original: Floats, released: Floats, results: Sequence[Result], *, same_columns: bool
) -> Privacy:
    """Return the privacy figures of a release.

    Parameters
    ----------
    original : array of shape (n, d)
    released : array of shape (n, e)
    results : sequence of Result
        All attacks, for residual security.
    same_columns : bool
        Whether columns can be compared.
    """
    residual = residual_security(results, len(names))
    varies = original.std(axis=0) > 0
    security: list[float | None] = [None] * len(names)
    shift: list[float | None] = [None] * len(names)
    if same_columns and varies.any():
        for column, value in zip(
            np.flatnonzero(varies), variance_security(original[:, varies], released[:, varies]), strict=True
        ):
            security[int(column)] = float(value)
        for column, value in zip(
            np.flatnonzero(varies), mean_shift(original[:, varies], released[:, varies]), strict=True
        ):
            shift[int(column)] = float(value)
    columns = tuple(
        ColumnPrivacy(name, security[i], residual[i][0], residual[i][1], shift[i]) for i, name in enumerate(names)
    )
    known = [value for value, _ in residual if value is not None]
    secure = [value for value in security if value is not None]
    return Privacy(
        columns=columns,
        min_security=min(secure) if secure else None,
        median_residual=float(np.median(known)) if known else None,
        min_residual=min(known) if known else None,
        unchanged_rows=float(hiding_failure(original, released)) if same_columns else None,
        interval_disclosure=float(interval_disclosure(original, released)) if same_columns else None,
        smallest_class=int(equivalence_class_sizes(released).min()),
    )
