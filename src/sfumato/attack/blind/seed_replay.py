"""Noise from a small integer seed is drawn again and subtracted."""

from __future__ import annotations

from typing import Literal

import numpy as np

from sfumato.attack.blind.seed_streams import GENERATORS, Shape, drawing, heads
from sfumato.attack.blind.seeds_apart import seeded_apart
from sfumato.attack.catalogue import entry
from sfumato.attack.engine.decimals import rounding_error
from sfumato.attack.engine.interface import Attack, Deadline, NothingFoundError, needs_same_columns
from sfumato.attack.engine.knowledge import FloatArray, Guess, Knowledge, guess_values

SEEDS = (*range(5000), 10000, 12345, 54321, 123456, 654321, 1234567, 12345678, 123456789, *range(19900, 20310))
FINALISTS = 100
CHECKED_ROWS = 24
SURE = 7.0
Layout = Literal["rows", "columns"]
#: sizes of the noise tried per column, for a seed that is in doubt and for one that is not
DOUBTFUL_SIZES, CERTAIN_SIZES = 10_000, 4_000_000


def subtract_noise(
    column: FloatArray,
    noise: FloatArray,
    step: float | None,
    most_sizes: int = CERTAIN_SIZES,
    error: float | None = None,
) -> tuple[FloatArray, bool]:
    """Return a column without its noise, and whether that put it on the decimal grid.

    The size of the noise is estimated by regression; where the grid is known, sizes around the estimate are tried
    until the first rows fall on it.

    Parameters
    ----------
    column : array of shape (n,)
        Released column.
    noise : array of shape (n,)
        Noise of unit scale.
    step : float or None
        Grid step of the original column, if public.
    most_sizes : int, optional
        Largest number of sizes tried.
    error : float, optional
        `rounding_error` of the column, where it is known already.

    Returns
    -------
    values : array of shape (n,)
        Column minus noise.
    confirmed : bool
        Whether at least 3 and nearly all of the checked rows fall on the grid.

    Examples
    --------
    >>> noise = np.random.default_rng(7).normal(size=50)
    >>> values, confirmed = subtract_noise(np.arange(50.0) + 3 * noise, noise, 1.0)
    >>> confirmed, bool(np.allclose(values, np.arange(50)))
    (True, True)
    """
    centred = noise - noise.mean()
    power = float(centred @ centred)
    size = float(centred @ column) / power
    if step is None or column.size < 3:
        return column - size * noise, False
    rough = (rounding_error(column) if error is None else error) / step
    left = column - column.mean() - size * centred
    doubt = float(np.sqrt(left @ left / max(column.size - 2, 1) / power))
    spacing = 0.04 * step / float(np.abs(noise).max())
    count = int(10 * doubt / spacing) + 1
    if rough > 0.05 or count > most_sizes:
        return column - size * noise, False
    rows = np.argsort(-np.abs(noise), kind="stable")[: min(CHECKED_ROWS, column.size)]
    tried = size + (np.arange(count) - count // 2) * spacing
    for row in rows.tolist():
        steps = (column[row] - tried * noise[row]) / step
        tried = tried[np.abs(steps - np.round(steps)) <= 0.03 + rough]
        if tried.size == 0:
            return column - size * noise, False
    # exact on the grid: solve for the size that the whole column agrees on
    best = column - float(np.median(tried)) * noise
    for _ in range(3):
        whole = np.round(best / step) * step
        best = column - float(noise @ (column - whole) / (noise @ noise)) * noise
    off = np.abs(best / step - np.round(best / step))
    confirmed = bool(np.mean(off <= 0.01 + rough) > 0.99)
    return (np.round(best / step) * step, True) if confirmed else (column - size * noise, False)


class SeedReplay(Attack):
    """Replay small seeds of numpy's and Python's generators until the noise fits the release.

    A seed is accepted when a column falls on its decimal grid, or when noise and release correlate beyond doubt.

    Examples
    --------
    >>> from sfumato.attack import run_attack
    >>> table = np.random.default_rng(99).integers(0, 50, size=(60, 2)).astype(float)
    >>> noisy = table + np.random.default_rng(42).normal(0, 5, size=table.shape)
    >>> run_attack(SeedReplay(), table, noisy, method="adp").rate
    1.0
    """

    entry = entry("seed")

    def objection(self, knowledge: Knowledge) -> str | None:
        """Return a reason when the method adds no independent noise."""
        if knowledge.method not in {None, "adp", "chaotic"}:
            return f"the method is {knowledge.method!r}, not independent noise"
        if knowledge.n_rows < 8:
            return f"the release has {knowledge.n_rows} rows, at least 8 are needed"
        return needs_same_columns(knowledge)

    def run(self, knowledge: Knowledge, deadline: Deadline) -> Guess:
        """Return the target rows without their noise."""
        n, d = knowledge.released.shape
        spread = knowledge.released.std(axis=0)
        scaled = (knowledge.released - knowledge.released.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
        layouts: dict[Layout, FloatArray] = {"rows": scaled.reshape(-1), "columns": scaled.T.reshape(-1)}
        fits = _Fit(knowledge, scaled, spread)
        for generator in GENERATORS:
            for shape in _shapes(knowledge):
                draw = drawing(generator, shape)
                for seed, layout in _finalists(layouts, generator, shape, deadline):
                    deadline.check(20 * min(n * d, 4 * GENERATORS[generator][1]))
                    head = draw(seed, min(n * d, 4 * GENERATORS[generator][1]))
                    if fits(_block(head, n, d, layout)):
                        noise = _block(draw(seed, n * d), n, d, layout)
                        note = f"the noise is that of seed {seed} of {generator}"
                        return guess_values(_solve(knowledge, noise)[knowledge.targets], note=note)
                apart = seeded_apart(scaled, generator, SEEDS, shape, deadline)
                if apart is not None:
                    note = f"the noise of each row, or column, is that of a seed of its own of {generator}"
                    return guess_values(_solve_some(knowledge, apart)[knowledge.targets], note=note)
        raise NothingFoundError(f"none of {len(SEEDS)} seeds of {len(GENERATORS)} generators fits")


def _shapes(knowledge: Knowledge) -> tuple[Shape, ...]:
    if knowledge.method == "chaotic":
        return ("arcsine",)
    told = knowledge.parameters.get("distribution")
    if told == "uniform":
        return ("uniform",)
    return ("normal",) if told == "normal" else ("normal", "uniform")


def _finalists(
    layouts: dict[Layout, FloatArray], generator: str, shape: Shape, deadline: Deadline
) -> list[tuple[int, Layout]]:
    """Return the seeds and layouts whose first values correlate most with the release."""
    size = min(layouts["rows"].size, GENERATORS[generator][1])
    looks = np.stack([values[:size] for values in layouts.values()])
    scores = heads(generator, SEEDS, shape, deadline.check)[:, :size] @ looks.T.astype(np.float32)
    kept = FINALISTS + 60_000 // size  # few values separate seeds badly
    order = np.argsort(-scores, axis=None)[:kept]
    names = list(layouts)
    return [(SEEDS[int(flat) // len(names)], names[int(flat) % len(names)]) for flat in order]


def _block(values: FloatArray, n: int, d: int, layout: Layout) -> FloatArray:
    """Return the corner of the noise table that the first values fill."""
    if layout == "rows":
        return values[: values.size // d * d].reshape(-1, d)
    if values.size < n:
        return values[:, None]
    return values[: values.size // n * n].reshape(-1, n).T


def _steps(knowledge: Knowledge) -> list[float | None]:
    places = knowledge.decimals or (None,) * knowledge.n_columns
    return [None if decimals is None else 10.0**-decimals for decimals in places]


class _Fit:
    """Tells whether a noise is in the release: it correlates beyond doubt, or puts a column on its grid.

    Hundreds of seeds are held against the same few corners of the release: what is the same for all is kept.

    Parameters
    ----------
    scaled : array of shape (n, d)
        The release in standard deviations.
    spread : array of shape (d,)
        Standard deviations.
    """

    def __init__(self, knowledge: Knowledge, scaled: FloatArray, spread: FloatArray) -> None:
        self._released, self._scaled = knowledge.released, scaled
        self._steps = _steps(knowledge)
        # coarse grids need the fewest trials
        self._grids = sorted((float(spread[j]) / step, j) for j, step in enumerate(self._steps) if step is not None)
        self._powers: dict[tuple[int, int], float] = {}
        self._errors: dict[tuple[int, int], float] = {}

    def __call__(self, noise: FloatArray) -> bool:
        m, c = noise.shape
        known = self._scaled[:m, :c]
        if (m, c) not in self._powers:
            self._powers[m, c] = float((known**2).sum())
        power = float(self._powers[m, c] * np.mean(noise**2))
        if power > 0 and float((known * noise).sum()) > SURE * np.sqrt(power):
            return True
        grids = [one for one in self._grids if one[1] < c]
        return any(self._on_grid(m, j, noise[:, j]) for coarseness, j in grids[:3] if coarseness > 0)

    def _on_grid(self, m: int, j: int, noise: FloatArray) -> bool:
        column = self._released[:m, j]
        if (m, j) not in self._errors:
            self._errors[m, j] = rounding_error(column)
        return subtract_noise(column, noise, self._steps[j], DOUBTFUL_SIZES, self._errors[m, j])[1]


def _solve(knowledge: Knowledge, noise: FloatArray) -> FloatArray:
    """Return the table without this noise."""
    solved = [subtract_noise(knowledge.released[:, j], noise[:, j], step) for j, step in enumerate(_steps(knowledge))]
    table = np.column_stack([values for values, _ in solved])
    exact = [j for j, (_, on_grid) in enumerate(solved) if on_grid and np.ptp(table[:, j]) > 0]
    if exact:
        # noise is usually the same share of every column's deviation: exact columns tell that share
        shares = (knowledge.released - table)[:, exact].std(axis=0) / noise[:, exact].std(axis=0)
        share = float(np.median(shares / table[:, exact].std(axis=0)))
        for j in set(range(table.shape[1])) - set(exact):
            table[:, j] = _subtract_share(knowledge.released[:, j], noise[:, j], share)
    return table


def _solve_some(knowledge: Knowledge, noise: FloatArray) -> FloatArray:
    """Return the columns whose noise is known, without it; nothing for the others."""
    table, steps = np.full(noise.shape, np.nan), _steps(knowledge)
    for j in np.flatnonzero(np.isfinite(noise).all(axis=0)):
        table[:, j] = subtract_noise(knowledge.released[:, j], noise[:, j], steps[j])[0]
    return table


def _subtract_share(column: FloatArray, noise: FloatArray, share: float) -> FloatArray:
    """Return the column without noise of size share * deviation of the result: a quadratic equation in the size."""
    covariance = np.cov(column, noise, bias=True)
    square, half, constant = covariance[1, 1] - 1 / share**2, -covariance[0, 1], covariance[0, 0]
    root = float(np.sqrt(max(0.0, half**2 - square * constant)))
    size = (-half - root) / square if square < 0 else (-half + root) / square
    return np.asarray(column - size * noise, dtype=np.float64)
