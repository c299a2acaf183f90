"""The rounds of the private mixture: what is measured, with which share of the budget, and what is made of it.

Exact numbers are seen in one place only, `_noisy`, which adds the noise. All else works on noisy numbers, so that it
costs no privacy. The shares were tuned on made tables.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt

import numpy as np

from sfumato._arrays import Floats, Integers
from sfumato.core.passes import Rounds, ask
from sfumato.core.secret import Hidden
from sfumato.core.summaries import Together
from sfumato.perturb.private.counting import FAILURE, released_rows
from sfumato.perturb.private.covariances import positive, shrunk, square
from sfumato.perturb.private.marginals import (
    Marginals,
    first_centres,
    found_bounds,
    inner_edges,
    power_edges,
)
from sfumato.perturb.private.noise import Accountant, rho_of
from sfumato.perturb.private.splitting import halved
from sfumato.perturb.private.statistics import STEPS, BallSums, Histograms, Private, Released, Space

SHARES = {"bounds": 0.1, "histograms": 0.25, "finer": 0.04, "ball": 0.06, "rounds": 0.27, "mixture": 0.38}
_LLOYD = 3  # rounds that move the centres
_FEWEST, _MOST = 4, 32  # centres
_LIKELY = 2.7  # deviations of the noise: where fewer people are in an interval, no centre begins
_SPARE = 16  # centres more, for places where somebody is only likely to be
_ALIVE = 1.0  # deviations of the noise: a centre with fewer people is put elsewhere
_THERE = 3.0  # deviations of the noise: a centre with fewer people may have none


@dataclass(frozen=True)
class Setting:
    """What is known before the first row: nothing here is made of the data.

    Attributes
    ----------
    numbers : tuple of int
        Places of columns of numbers.
    low, high : arrays of shape (d,)
        Their bounds; NaN where they are to be found privately.
    levels : tuple of (int, int)
        Places of columns of categories, and how many each has.
    rows : int
        How many rows of the table one person can change.
    epsilon, delta : float
        The guarantee of the whole release.
    private_count : bool
        Whether the number of rows that are released is noisy, too.
    centres : int, optional
        Where rows are drawn around; None for as many as the noisy number of people carries.
    """

    numbers: tuple[int, ...]
    low: Floats
    high: Floats
    levels: tuple[tuple[int, int], ...]
    rows: int
    epsilon: float
    delta: float
    private_count: bool = True
    centres: int | None = None

    @property
    def rho(self) -> float:
        """The budget in zCDP; only whoever adds noise asks for it. A little of delta is for the number of rows."""
        return rho_of(self.epsilon, self.delta * (1.0 - FAILURE))

    @property
    def shares(self) -> dict[str, float]:
        """What each step may spend."""
        parts = {name: share for name, share in SHARES.items() if name != "bounds" or np.isnan(self.low).any()}
        whole = sum(parts.values())
        return {name: self.rho * share / whole for name, share in parts.items()}


@dataclass(frozen=True, repr=False)
class Mixture(Hidden):
    """What rows are drawn from; made of noisy numbers only.

    Attributes
    ----------
    numbers : tuple of int
        Places of columns of numbers; the others hold categories.
    weights : array of shape (k,)
    centres : array of shape (k, d)
    factors : array of shape (k, d, d)
        Times standard normal numbers they give a row's distance from its centre.
    low, high : arrays of shape (d,)
    levels : tuple of arrays of shape (k, levels)
        Shares of the categories of each column.
    seed : bytes
        Fresh, for the drawing.
    rows : int, optional
        How many rows are released; None for as many as there are.
    spent : float
        In zCDP.
    """

    numbers: tuple[int, ...]
    weights: Floats
    centres: Floats
    factors: Floats
    low: Floats
    high: Floats
    levels: tuple[Floats, ...]
    seed: bytes
    rows: int | None
    spent: float


def mixture_rounds(setting: Setting, fit: Fit | None = None) -> Rounds:
    """Yield the statistics of the private mixture, and return it.

    Parameters
    ----------
    setting : Setting
    fit : Fit, optional
        Who adds the noise. None makes one.
    """
    fit = Fit(setting) if fit is None else fit
    low, high = setting.low, setting.high
    unknown = np.flatnonzero(np.isnan(low))
    if len(unknown):
        edges = np.tile(power_edges(), (len(unknown), 1))
        told = yield from ask(Histograms(tuple(setting.numbers[i] for i in unknown), edges))
        low, high = low.copy(), high.copy()
        low[unknown], high[unknown] = told.release(fit.bounds)["bounds"]
    hist = yield from ask(Histograms(setting.numbers, inner_edges(low, high)))
    now = hist.release(lambda one: fit.marginals(one, low, high))
    d = len(low)
    space = Space(setting.numbers, low, high, now["middle"], now["unit"])
    laws, spare = Marginals(now["edges"], now["shares"]), int(now["spare"])
    whole = BallSums(space, np.zeros((1, d)), np.array([2.0 * sqrt(d)]), products=True)
    both = yield from ask(Together([Histograms(setting.numbers, laws.middle_edges()), whole]))
    finer, ball = both.parts  # as they were asked for
    assert isinstance(finer, Histograms)
    assert isinstance(ball, BallSums)
    now = finer.release(lambda one: fit.finer(one, laws))
    laws = Marginals(now["edges"], now["shares"])
    now = ball.release(lambda one: fit.start(one, space, laws, spare))
    rows = now["rows"]
    space = Space(setting.numbers, low, high, now["middle"], now["unit"])
    for left in reversed(range(_LLOYD)):
        sums = yield from ask(BallSums(space, now["centres"], now["radii"], products=True))
        now = sums.release(_mover(fit, now, last=left == 0))
    last = yield from ask(BallSums(space, now["centres"], now["radii"], products=True, levels=setting.levels))
    made = last.release(lambda one: fit.mixture(one, space, now))
    levels = tuple(made[f"levels {i}"] for i in range(len(setting.levels)))
    return Mixture(
        setting.numbers,
        made["weights"],
        made["centres"],
        made["factors"],
        low,
        high,
        levels,
        made["seed"],
        rows,
        float(made["spent"]),
    )


def _mover(fit: Fit, now: Released, *, last: bool) -> Callable[[BallSums], Released]:
    return lambda one: fit.moved(one, now, last=last)


class Fit:
    """One fit: the accountant, and what is made of each noisy statistic."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._accountant: Accountant | None = None
        self._draw = np.random.default_rng(secrets.randbits(128))

    def _noisy(self, values: Integers, per_row: float, rho: float) -> tuple[Floats, float]:
        """Return noisy numbers and the standard deviation of their noise; `per_row` is how far one row moves them."""
        sensitivity = per_row * self._setting.rows
        if self._accountant is None:
            self._accountant = Accountant(self._setting.rho)
        return self._accountant.noisy(values, sensitivity, rho), sensitivity / sqrt(2.0 * rho)

    def bounds(self, one: Private) -> Released:
        """Return bounds of the columns that have none."""
        assert isinstance(one, Histograms)
        counts, sigma = self._noisy(one.counts, _root(len(one.counts)), self._setting.shares["bounds"])
        return {"bounds": np.array([found_bounds(column, sigma) for column in counts]).T}

    def marginals(self, one: Histograms, low: Floats, high: Floats) -> Released:
        """Return the laws of the columns, and a first middle and unit for each."""
        counts, sigma = self._noisy(one.counts, _root(len(one.counts)), self._setting.shares["histograms"])
        sure = Marginals.coarse(counts, sigma, low, high)
        middle, unit = sure.moments()
        # centres may begin where somebody is only likely to be: the rounds find out, but units must not follow noise
        laws = Marginals.coarse(counts, sigma, low, high, likely=_LIKELY)
        spare = int(((laws.shares > 0) & (sure.shares <= 0)).sum())
        return {"edges": laws.edges, "shares": laws.shares, "middle": middle, "unit": unit, "spare": min(spare, _SPARE)}

    def finer(self, one: Histograms, laws: Marginals) -> Released:
        """Return the laws of the columns once more, with finer intervals where the rows are."""
        counts, sigma = self._noisy(one.counts, _root(len(one.counts)), self._setting.shares["finer"])
        laws = laws.finer(counts, sigma)
        return {"edges": laws.edges, "shares": laws.shares}

    def start(self, one: BallSums, space: Space, laws: Marginals, spare: int) -> Released:
        """Return middle and unit once more, and where the centres begin: k-means of made-up rows."""
        rho, d = self._setting.shares["ball"], len(space.low)
        radius = 2.0 * sqrt(d)
        count, doubt = self._noisy(one.counts, 1.0, 0.4 * rho)
        sums, _ = self._noisy(one.sums, STEPS, 0.15 * rho)
        products, _ = self._noisy(one.products, STEPS, 0.45 * rho)
        people = max(float(count[0]), 10.0)
        mean = sums[:, 0] / STEPS * radius / people
        second = square(products, d)[0] / STEPS * radius**2 / people
        spread = positive(second - np.outer(mean, mean), 0.005)
        size = np.sqrt(np.clip(np.diag(spread), 0.01, 9.0))
        middle, unit = space.middle + space.unit * mean, space.unit * size
        own = np.sqrt(np.diag(spread))
        made = (laws.sample(spread / np.outer(own, own), self._draw) - middle) / unit
        # more centres where more people carry them; the more columns, the more noise each centre bears
        able = people / self._setting.rows * sqrt(self._setting.rho) / (12.0 * sqrt(d))
        wanted = int(np.clip(able, _FEWEST, _MOST)) if self._setting.centres is None else self._setting.centres
        centres, typical = first_centres(made, wanted + spare, self._draw)
        out: Released = {"middle": middle, "unit": unit, "centres": centres, "radii": 1.5 * typical, "rows": None}
        out["spare"] = spare
        if self._setting.private_count:
            out["rows"] = released_rows(float(count[0]), doubt, self._setting.delta, self._setting.rows)
        return out

    def moved(self, one: BallSums, now: Released, *, last: bool) -> Released:
        """Return the centres after a round of noisy Lloyd, balls that fit them better, and none without people."""
        rho, d = self._setting.shares["rounds"] / _LLOYD, one.sums.shape[0]
        counts, doubt = self._noisy(one.counts, 1.0, 0.25 * rho)
        sums, sigma = self._noisy(one.sums, STEPS, 0.45 * rho)
        squares, _ = self._noisy(one.squares, STEPS, 0.1 * rho)
        products, blur = self._noisy(one.products, STEPS, 0.2 * rho)
        people, radii = np.maximum(counts, 1.0), now["radii"]
        step = sums.T / STEPS / people[:, None]
        noise = (sigma / STEPS) ** 2 * step.shape[1] / people**2
        trust = np.clip(1.0 - noise / np.maximum((step**2).sum(axis=1), 1e-12), 0.0, 1.0) * (counts > _ALIVE * doubt)
        centres = now["centres"] + (radii * trust)[:, None] * step
        typical = np.sqrt(np.clip(squares / STEPS / people, 0.02, 1.0))
        spreads = shrunk(square(products, d) / STEPS, people, step * trust[:, None], blur / STEPS)
        spreads *= (radii**2)[:, None, None]
        radii = np.where(counts > doubt, radii * np.clip(1.5 * typical, 0.5, 1.6), radii)
        alive = counts > _ALIVE * doubt
        if not last:  # nobody would move those that are put elsewhere now
            # places where nobody was after all had spare centres: those go, others are put elsewhere
            stay = np.delete(np.arange(len(alive)), np.flatnonzero(~alive)[: now["spare"]])
            centres, radii = halved(centres[stay], radii[stay], people[stay], spreads[stay], alive[stay])
        return {"centres": centres, "radii": radii, "spare": 0}

    def mixture(self, one: BallSums, space: Space, now: Released) -> Released:
        """Return weights, centres, covariances and categories of what rows are drawn from."""
        rho, d = self._setting.shares["mixture"], len(space.low)
        for_levels = 0.25 * rho if one.levels else 0.0
        rho -= for_levels
        counts, doubt = self._noisy(one.counts, 1.0, 0.15 * rho)
        sums, _ = self._noisy(one.sums, STEPS, 0.4 * rho)
        products, sigma = self._noisy(one.products, STEPS, 0.45 * rho)
        somebody = counts > _THERE * doubt
        if not somebody.any():
            somebody[int(np.argmax(counts))] = True
        people, radii = np.maximum(counts[somebody], 1.0), now["radii"][somebody]
        means = np.clip(sums.T[somebody] / STEPS / people[:, None], -1.0, 1.0)
        spreads = shrunk(square(products, d)[somebody] / STEPS, people, means, sigma / STEPS)
        values, vectors = np.linalg.eigh(spreads)
        factors = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :] * radii[:, None, None]
        centres = now["centres"][somebody] + radii[:, None] * means
        out: Released = {
            "weights": people / people.sum(),
            "centres": space.middle + space.unit * centres,
            "factors": space.unit[:, None] * factors,
            "seed": secrets.token_bytes(32),
        }
        for i, table in enumerate(one.levels):
            noisy, blur = self._noisy(table, 1.0, for_levels / len(one.levels))
            out[f"levels {i}"] = _shares(noisy, blur)[somebody]
        assert self._accountant is not None
        out["spent"] = self._accountant.spent
        return out


def _root(count: int) -> float:
    """Return the square root of a count, never too small."""
    return float(np.nextafter(sqrt(count), np.inf))


def _shares(counts: Floats, sigma: float) -> Floats:
    """Return the shares of categories for each centre, drawn towards those of everybody where noise rules."""
    kept = np.maximum(counts, 0.0)
    everybody = counts.sum(axis=0)
    everybody = np.where(everybody > 3.5 * sigma * sqrt(len(counts)), everybody, 0.0)
    everybody = everybody + (1.0 if everybody.sum() <= 0 else 0.0)
    everybody = everybody / everybody.sum()
    kept = np.where((kept > 2.0 * sigma) & (everybody > 0), kept, 0.0)
    weight = sigma * sqrt(counts.shape[1])
    out: Floats = (kept + weight * everybody) / (kept.sum(axis=1, keepdims=True) + weight)
    return out
