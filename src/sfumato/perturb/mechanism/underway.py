"""Rows between two passes of a fit: what one pass has made of them, the next one goes on with."""

from __future__ import annotations

import numpy as np

from sfumato._arrays import Floats
from sfumato.core.rows import RowRange, Rows
from sfumato.core.secret import Hidden

_CELLS = 1 << 25  # of the rows that are kept: eight bytes each


class Underway(Hidden):
    """What the last pass has made of the first rows of a table, until they are released.

    Whoever finds nothing of some rows computes it anew, and gets the same bits: rows beyond the first 32 million cells,
    rows that go by record ids, and rows of which another process has made something.

    Parameters
    ----------
    n_rows, n_columns : int
        Of the table.

    Examples
    --------
    >>> underway = Underway(4, 2)
    >>> underway.keep(RowRange(1, 3), 1, np.ones((2, 2)))
    >>> underway.take(RowRange(1, 3), 1).tolist(), underway.take(RowRange(0, 2), 1), underway.take(RowRange(1, 2), 2)
    ([[1.0, 1.0], [1.0, 1.0]], None, None)
    """

    def __init__(self, n_rows: int, n_columns: int) -> None:
        rows = min(n_rows, _CELLS // max(n_columns, 1))
        self._values = np.empty((n_columns, rows))
        self._steps = np.zeros(rows, dtype=np.uint8)  # which pass it was; 0: none

    def take(self, rows: Rows, step: int) -> Floats | None:
        """Return what a step has made of some rows, as a copy; None unless that is the last that is known of all.

        Parameters
        ----------
        step : int
            From 1 on.
        """
        if not isinstance(rows, RowRange) or rows.stop > len(self._steps):
            return None
        if not (self._steps[rows.start : rows.stop] == step).all():
            return None
        return self._values[:, rows.start : rows.stop].copy()

    def keep(self, rows: Rows, step: int, values: Floats) -> None:
        """Write down what a step has made of some rows, shape (d, rows)."""
        if isinstance(rows, RowRange) and rows.stop <= len(self._steps):
            self._values[:, rows.start : rows.stop] = values
            self._steps[rows.start : rows.stop] = step
