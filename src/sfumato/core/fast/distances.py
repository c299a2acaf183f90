"""The two nearest references of each row, all distances computed in the order of the columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.core.fast.compile import compiled

_PIECE = 512  # rows whose sums stay in the first-level cache


@compiled
def two_nearest_squares(tile: Any, references: Any, best: Any, second: Any) -> None:
    """Write each row's smallest and second smallest squared distance to a reference."""
    d = tile.shape[0]
    total = np.empty(_PIECE)
    for start in range(0, len(best), _PIECE):
        stop = min(start + _PIECE, len(best))
        nearest, other = best[start:stop], second[start:stop]
        n = len(nearest)
        nearest[:] = np.inf
        other[:] = np.inf
        for r in range(len(references)):
            place = references[r]
            for i in range(n):
                total[i] = 0.0
            done = 0
            while done + 4 <= d:  # four columns at once: the sums are read and written a quarter as often
                a, b = tile[done, start:stop], tile[done + 1, start:stop]
                c, e = tile[done + 2, start:stop], tile[done + 3, start:stop]
                pa, pb, pc, pe = place[done], place[done + 1], place[done + 2], place[done + 3]
                for i in range(n):
                    ga, gb, gc, ge = a[i] - pa, b[i] - pb, c[i] - pc, e[i] - pe
                    total[i] = (((total[i] + ga * ga) + gb * gb) + gc * gc) + ge * ge
                done += 4
            for column in range(done, d):
                values, centre = tile[column, start:stop], place[column]
                for i in range(n):
                    gap = values[i] - centre
                    total[i] += gap * gap
            for i in range(n):
                apart, least = total[i], nearest[i]
                farther = max(least, apart)
                nearest[i] = min(least, apart)
                other[i] = min(other[i], farther)
