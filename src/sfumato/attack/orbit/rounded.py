"""An orbit under rounding: the originals' grid renews nothing, so known rows and frequent values must.

When a release is rounded to the grid of the data, each row leaves the level of the orbit uncertain by one unit, and
the uncertainty about doubles with every row. From a known row about a dozen rows of a wide column follow; a value that
many people share (a zero) starts the orbit anew wherever it fits.
"""

from __future__ import annotations

import numpy as np

from sfumato.attack.engine.knowledge import FloatArray, Marginals

#: how much more probable the frequent value must be than an accident before the orbit is renewed with it
_ODDS = 10.0


def frequent_value(public: Marginals, column: int) -> tuple[float, float] | None:
    """Return the value that most people share in a column and their share, from public quantiles.

    Parameters
    ----------
    public : Marginals
        Public quantiles.
    column : int
        Number of the column.

    Returns
    -------
    tuple of float, or None
        Value and share; None when no value spans several quantiles.

    Examples
    --------
    >>> levels = np.linspace(0, 1, 11)
    >>> quantiles = np.array([0.0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7])[:, None]
    >>> told = Marginals(np.zeros(1), np.ones(1), levels, quantiles)
    >>> value, share = frequent_value(told, 0)
    >>> value, round(share, 2)
    (0.0, 0.3)
    """
    values, counts = np.unique(public.quantiles[:, column], return_counts=True)
    most = int(counts.argmax())
    if counts[most] < 3:
        return None
    return float(values[most]), float((counts[most] - 1) / (public.levels.size - 1))


def track(
    column: FloatArray,
    known: dict[int, float],
    *,
    rho: float,
    step: float,
    unit: float,
    close: float,
    frequent: tuple[float, float] | None = None,
) -> FloatArray:
    """Return what follows from known rows of a rounded orbit.

    Parameters
    ----------
    column : array of shape (n,)
        Released column in the order of the orbit.
    known : dict of row to original
        Known rows.
    rho : float
        Amplitude of the noise.
    step : float
        Grid step of the original.
    unit : float
        Unit to which the release is rounded.
    close : float
        Largest uncertainty of a guess that is worth giving.
    frequent : tuple of float, optional
        A value that many people share, and their share.

    Returns
    -------
    array of shape (n,)
        Guesses, NaN where the orbit is lost.

    Examples
    --------
    >>> levels = [0.3]
    >>> for _ in range(9):
    ...     levels.append(4 * levels[-1] * (1 - levels[-1]))
    >>> released = np.round(500 + 1000 * (np.array(levels) - 0.5))
    >>> track(released, {0: 500.0}, rho=1000.0, step=1.0, unit=1.0, close=5.0)[1:3]
    array([500., 500.])
    """
    if rho / 2 < unit / 2:  # rounding removed the noise
        return np.array(column)
    guesses = np.full(column.size, np.nan)
    released = column.tolist()
    spread = float(column.std())
    sharpest = 0.5 * unit / rho
    level, error = 0.5, np.inf
    for row in range(column.size):
        # interval arithmetic of the map: slope at the middle plus curvature
        error = 4 * abs(1 - 2 * level) * error + 4 * error * error if error < 1 else np.inf
        level = 4 * level * (1 - level)
        noise, width = rho * (level - 0.5), rho * error + unit / 2
        original: float | None = known.get(row)
        if original is None and frequent is not None and error < 0.25:
            value, share = frequent
            fits = abs(released[row] - value - noise) <= width
            # a frequent value fits by right with probability `share`, another by accident with 2 width / spread
            if fits and share > _ODDS * (1 - share) * 2 * width / max(spread, 1e-300):
                original = value
        if original is not None:
            renewed = 0.5 + (released[row] - original) / rho
            if -sharpest <= renewed <= 1 + sharpest:
                level, error = min(1.0, max(0.0, renewed)), sharpest
            guesses[row] = original
        elif width <= close:
            guesses[row] = round((released[row] - noise) / step) * step
    return guesses
