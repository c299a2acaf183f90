"""One column of y = x + rho (l - 0.5) with l' = 4 l (1 - l): find rho and a start, then follow the orbit.

Every x stands on a decimal grid. After each step the guess is moved to the grid, which renews l exactly, so the
orbit never drifts away although it doubles every error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sfumato.attack.engine.decimals import rounding_error
from sfumato.attack.engine.knowledge import FloatArray

if TYPE_CHECKING:
    from sfumato.attack.engine.interface import Deadline

CHUNK = 1_000_000
_PIECE = 8192
_STEP = 50  # cells that one step in Python counts for
CHECKED_ROWS = 12


def rho_from_two_rows(first: float, second: float) -> float:
    """Return the amplitude of an orbit from the noise of two successive rows.

    Parameters
    ----------
    first, second : float
        Noise y - x of the two rows.

    Returns
    -------
    float
        b + sqrt(b^2 + 8 a^2), the positive root of rho^2 / 2 - b rho - 4 a^2 = 0.

    Examples
    --------
    >>> rho, l = 2.0, 0.3
    >>> rho_from_two_rows(rho * (l - 0.5), rho * (4 * l * (1 - l) - 0.5))
    2.0
    """
    return float(second + np.sqrt(second**2 + 8 * first**2))


def candidate_ranges(column: FloatArray, amplitude: float, step: float) -> tuple[int, int]:
    """Return the smallest and largest number of grid steps that the original column can span.

    Parameters
    ----------
    column : array of shape (n,)
        Released column.
    amplitude : float
        Share of the range that the noise spans, 0.1 in the paper.
    step : float
        Grid step of the original.

    Returns
    -------
    tuple of int
        Bounds, from (1 - a) r <= released range <= (1 + a) r.

    Examples
    --------
    >>> candidate_ranges(np.array([0.0, 100.0]), 0.1, 1.0)
    (91, 111)
    """
    width = float(np.ptp(column))
    low = int(np.ceil(width / (1 + amplitude) / step - 1e-6))
    high = int(np.floor(width / (1 - amplitude) / step + 1e-6))
    return max(1, low), high


def slack_of(column: FloatArray, step: float) -> float:
    """Return how far from the grid a right guess may fall, in grid steps.

    Parameters
    ----------
    column : array of shape (n,)
        Released column.
    step : float
        Grid step of the original.

    Returns
    -------
    float
        Five times the rounding error of the release (an error grows at most fourfold in one step of the orbit).

    Examples
    --------
    >>> slack_of(np.array([10.5, 20.25]), 1.0)
    0.0250001
    """
    return 5 * rounding_error(column) / step + 1e-7


def search(
    column: FloatArray, start: int, values: FloatArray, ranges: FloatArray, amplitude: float, step: float
) -> tuple[FloatArray, FloatArray]:
    """Return the pairs (amplitude of the noise, value at `start`) that keep the following rows on the grid.

    Parameters
    ----------
    column : array of shape (n,)
        Released column in the order of the orbit.
    start : int
        Row at which the orbit is entered.
    values : array of shape (c,)
        Candidate originals of that row.
    ranges : array of shape (c,)
        Candidate ranges of the original column.
    amplitude, step : float
        Share of the range, grid step.

    Returns
    -------
    rho, value : arrays
        The surviving candidates; empty when none survives.
    """
    slack = slack_of(column, step)
    rho = amplitude * ranges
    first = values
    level = 0.5 + (column[start] - values) / rho
    fits = (level >= -1e-9) & (level <= 1 + 1e-9)
    rho, first, level = rho[fits], first[fits], level[fits]
    for row in range(start + 1, min(start + 1 + CHECKED_ROWS, column.size)):
        level = 4 * level * (1 - level)
        steps = (column[row] - rho * (level - 0.5)) / step
        whole = np.round(steps)
        fits = np.abs(steps - whole) <= slack
        rho, first = rho[fits], first[fits]
        level = np.clip(0.5 + (column[row] - whole[fits] * step) / rho, 0.0, 1.0)
        if rho.size == 0:
            break
    return rho, first


def follow(
    column: FloatArray, start: int, value: float, rho: float, step: float, deadline: Deadline
) -> tuple[FloatArray, int]:
    """Return the column recovered from one row onwards, in both directions.

    Parameters
    ----------
    column : array of shape (n,)
        Released column in the order of the orbit.
    start : int
        Row whose original is known.
    value : float
        That original.
    rho : float
        Amplitude of the noise.
    step : float
        Grid step of the original.
    deadline : Deadline
        When the work is used up, the rest stays NaN.

    Returns
    -------
    values : array of shape (n,)
        Recovered originals, NaN where the orbit broke off.
    misses : int
        Rows at which the orbit broke off (0, 1 or 2).
    """
    recovered = np.full(column.size, np.nan)
    recovered[start] = value
    released = column.tolist()
    # a rounded release keeps the level only roughly: allow for what the last snap may have left
    allowed = max(slack_of(column, step), 1e-5)
    misses = 0
    level = 0.5 + (released[start] - value) / rho
    for row in range(start + 1, column.size):
        level = 4 * level * (1 - level)
        steps = (released[row] - rho * (level - 0.5)) / step
        whole = round(steps)
        if abs(steps - whole) > allowed or (row % _PIECE == 0 and _used_up(deadline)):
            misses += 1
            break
        recovered[row] = whole * step
        level = min(1.0, max(0.0, 0.5 + (released[row] - whole * step) / rho))
    level = 0.5 + (released[start] - value) / rho
    for row in range(start - 1, -1, -1):
        root = max(0.0, 1 - level) ** 0.5
        best = (np.inf, 0, 0.0)
        for before in ((1 - root) / 2, (1 + root) / 2):
            whole = round((released[row] - rho * (before - 0.5)) / step)
            renewed = 0.5 + (released[row] - whole * step) / rho
            # the square root is steep near level 1, so the check runs forward again
            off = abs(4 * renewed * (1 - renewed) - level) * rho / step
            best = min(best, (off, whole, renewed))
        if best[0] > allowed or (row % _PIECE == 0 and _used_up(deadline)):
            misses += 1
            break
        recovered[row] = best[1] * step
        level = min(1.0, max(0.0, best[2]))
    return recovered, misses


def _used_up(deadline: Deadline) -> bool:
    deadline.spend(_PIECE * _STEP)
    return deadline.expired
