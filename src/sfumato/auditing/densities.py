"""Pictures of a table before and after: where its rows lie, in shades, with thin places left out.

Both tables are seen from the same side: the two main directions of the original, standardised. A cell of the
picture with fewer than five rows stays empty, shades are coarse, and the axes carry no numbers, so that no row and no
extreme value can be read off.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato._arrays import Floats
from sfumato.core.secret import Hidden

FEWEST_ROWS = 5
SHADES = 6
_COARSEST, _FINEST = 6, 40
_ROWS_A_CELL = 5.0
_MARGIN = 0.1
_MOSTLY = 0.5
_MOST_COLUMNS = 1024  # that the side is found by from which a wide table is seen


@dataclass(frozen=True)
class Densities:
    """Shades of a table and its release.

    Attributes
    ----------
    before, after : tuple of str
        One string for each row of the picture, from the top; a digit for each cell: 0 fewer than five rows, 1 to 6
        darker with more rows.
    moved : bool
        Whether most of the release lies outside the window of the original; it is then seen from its own side.
    """

    before: tuple[str, ...]
    after: tuple[str, ...]
    moved: bool


def measure_densities(original: Floats, released: Floats) -> Densities | None:
    """Return the pictures of a table and its release with the same columns; None if fewer than two columns vary.

    Parameters
    ----------
    original, released : arrays of shape (n, d)

    Examples
    --------
    >>> table = np.random.default_rng(0).normal(size=(500, 3))
    >>> pictures = measure_densities(table, table)
    >>> pictures.before == pictures.after, len(pictures.before)
    (True, 10)
    """
    varies = original.std(axis=0) > 0
    varies[np.flatnonzero(varies)[_MOST_COLUMNS:]] = False
    if np.count_nonzero(varies) < 2:
        return None
    view = _view_of(original[:, varies])
    seen = view.look(released[:, varies])
    moved = bool(((seen > 0) & (seen < 1)).all(axis=1).mean() < _MOSTLY)
    if moved and released[:, varies].std(axis=0).min() > 0:
        seen = _view_of(released[:, varies]).look(released[:, varies])
    size = int(np.clip(np.sqrt(len(original) / _ROWS_A_CELL), _COARSEST, _FINEST))
    return Densities(_shades(view.look(original[:, varies]), size), _shades(seen, size), moved)


@dataclass(frozen=True, repr=False)
class _View(Hidden):
    """The side from which a table is seen: its two main directions, standardised, and a window on them."""

    middle: Floats
    scale: Floats
    directions: Floats
    low: Floats
    high: Floats

    def look(self, table: Floats) -> Floats:
        """Return where rows lie in the window: 0 to 1 inside."""
        places: Floats = (((table - self.middle) / self.scale) @ self.directions - self.low) / (self.high - self.low)
        return places


def _view_of(table: Floats) -> _View:
    middle, scale = table.mean(axis=0), table.std(axis=0)
    scaled = (table - middle) / scale
    directions = np.linalg.eigh(np.cov(scaled, rowvar=False))[1][:, ::-1][:, :2]
    # a direction and its opposite are the same one: the largest part points up
    directions = directions * np.sign(directions[np.abs(directions).argmax(axis=0), [0, 1]])
    low, high = np.quantile(scaled @ directions, [0.01, 0.99], axis=0)
    width = np.maximum(high - low, 1e-9)
    return _View(middle, scale, directions, low - _MARGIN * width, high + _MARGIN * width)


def _shades(places: Floats, size: int) -> tuple[str, ...]:
    counts = np.histogram2d(places[:, 0], places[:, 1], bins=size, range=[(0.0, 1.0), (0.0, 1.0)])[0]
    most = max(float(counts.max()), FEWEST_ROWS + 1.0)
    with np.errstate(divide="ignore"):
        share = np.log(counts / FEWEST_ROWS) / np.log(most / FEWEST_ROWS)
    shades = np.where(counts < FEWEST_ROWS, 0, 1 + np.clip((SHADES - 1) * share, 0, SHADES - 1)).astype(np.int64)
    return tuple("".join(str(shade) for shade in row) for row in shades.T[::-1])
