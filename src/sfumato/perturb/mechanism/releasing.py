"""The last step of a perturber: rows through the kernel into new columns, tile by tile or a whole piece in one call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato._arrays import Floats
from sfumato.core.passes import run_kernel, run_pieces
from sfumato.core.rows import RowRange, Rows
from sfumato.core.variates import AtOnce
from sfumato.frames.frame import Frame
from sfumato.perturb.mechanism.checks import TYPES, UnchangedCells, does_not_fit, finish_values

Kernel = Callable[[Floats, Rows], Floats]


def release_rows(
    frame: Frame,
    kinds: Sequence[str],
    kernel: Kernel,
    at_once: AtOnce | None,
    unchanged: UnchangedCells | None,
    *,
    rows_per_tile: int,
    threads: int,
) -> list[NDArray[Any]]:
    """Return the released columns of a table; see `Frame.rebuild`.

    Parameters
    ----------
    kinds : sequence of str
        One for each released column.
    kernel : callable
        (tile, rows) -> released tile; it may overwrite its tile.
    at_once : callable, optional
        The same for whole rows of an array, in one compiled call.
    unchanged : UnchangedCells, optional
        Looks at what is released, and warns at the end.
    """
    released = frame.blank([TYPES[kind] for kind in kinds])
    whole = released[0].base  # the columns of an array are columns of one array: written together

    def write(start: int, stop: int, tile: Floats) -> None:
        if whole is not None:
            finish_values(tile, kinds[0], whole[start:stop].T)
        else:
            for values, kind, target in zip(tile, kinds, released, strict=True):
                finish_values(values, kind, target[start:stop])
        if unchanged is not None:
            unchanged.look(start, stop, released)

    def quiet(tile: Floats, rows: Rows) -> Floats:
        with np.errstate(over="ignore", invalid="ignore"):  # what does not fit is refused when it is written
            return kernel(tile, rows)

    if at_once is None or whole is None or not isinstance(frame.rows, RowRange):
        run_kernel(quiet, frame, write, rows_per_tile=rows_per_tile, threads=threads)
    else:
        first = frame.rows.start

        def piece(start: int, stop: int) -> None:
            looks = unchanged is not None and not unchanged.settled
            before, changed = frame.plain(start, stop), np.zeros(len(kinds) if looks else 0, dtype=np.int64)
            assert before is not None
            if not at_once(before, whole[start:stop], first + start, changed):
                raise does_not_fit(kinds[0])
            if unchanged is not None and looks:
                unchanged.add(changed)

        run_pieces(piece, len(frame), rows_per_piece=rows_per_tile, threads=threads)
    if unchanged is not None:
        unchanged.warn()
    return released
