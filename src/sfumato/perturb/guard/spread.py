"""The scatter inside atoms: how much of it each column keeps, and rows drawn anew that have it.

Rows of a large atom are normal, with exactly the mean and covariance it should have; those of a small group are mixed
by a random orthogonal matrix: mean and covariance stay, rows do not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from sfumato._arrays import Flags, Floats, Integers
from sfumato.core.fast import compiled_kernels
from sfumato.core.linear import (
    LARGEST_STEPS,
    cholesky,
    exact_product,
    fixed_order_sum,
    lattice_bits,
    lower_inverse,
    product_in_order,
    to_steps,
)
from sfumato.core.rows import RowRange, Rows
from sfumato.core.secret import Hidden
from sfumato.core.stream import Streams
from sfumato.core.variates import Words, normal, table_of
from sfumato.perturb.guard.atoms import Atoms
from sfumato.perturb.guard.leverage import Leverage
from sfumato.perturb.guard.placing import Placed
from sfumato.perturb.guard.rounds import Guard
from sfumato.perturb.mechanism.underway import Underway

_DRAWN, _CLIPPED, RELEASED = 1, 2, 255  # what a pass has made of rows: draws, and rows that were clipped so often
DRAW_BITS = 16  # normal numbers are at most 8.3 in size: 2^20 steps
_LEAST_SHARE, _MOST_SHARE = 0.25, 1.1  # limits of the squared spread
_REACHING = (0.8, 1.0)  # shares of the columns that can shrink as much as all are asked to
_LEAST = 0.05  # rows that are all alike still move by so many units of the space


@dataclass(frozen=True, repr=False)
class Scatter(Hidden):
    """Turns normal numbers into deviations of an atom's rows.

    Attributes
    ----------
    matrix : array of shape (d, d)
        In whole steps.
    bits : int
    centre : array of shape (d,)
        What the mean of the draws becomes.
    """

    matrix: Floats
    bits: int
    centre: Floats

    def deviations(self, steps: Floats) -> Floats:
        """Return the deviations for normal numbers in whole steps, shape (d, rows)."""
        made: Floats = exact_product(self.matrix, steps) * 2.0 ** -(self.bits + DRAW_BITS) - self.centre[:, None]
        return made


@dataclass(frozen=True, repr=False)
class Scatters(Hidden):
    """The scatters of the atoms whose rows are drawn.

    Attributes
    ----------
    place : array of shape (a,)
        Where an atom's scatter stands; -1 where its rows are not drawn.
    of : list of Scatter
    """

    place: Integers
    of: list[Scatter]

    @cached_property
    def _stacked(self) -> tuple[Floats, Floats, Floats]:
        """Matrices, units and centres of all scatters."""
        units = np.array([2.0 ** -(one.bits + DRAW_BITS) for one in self.of])
        return np.stack([one.matrix for one in self.of]), units, np.stack([one.centre for one in self.of])

    def draw(self, steps: Floats, atoms: Integers, targets: Floats) -> Floats:
        """Return drawn rows of atoms around their targets, shape (d, rows); 0 for rows that are not drawn.

        Parameters
        ----------
        steps : array of shape (d, rows)
            Normal numbers, from `draw_steps`.
        atoms : array of shape (rows,)
        targets : array of shape (a, d)
        """
        drawn = np.zeros(steps.shape)
        fast = compiled_kernels(steps.size * len(steps))
        if fast is not None:
            fast.draw_rows(steps, atoms, self.place, *self._stacked, targets, drawn)
            return drawn
        for atom in np.unique(atoms[self.place[atoms] >= 0]):
            members = np.flatnonzero(atoms == atom)
            deviations = self.of[self.place[atom]].deviations(np.ascontiguousarray(steps[:, members]))
            drawn[:, members] = targets[atom][:, None] + deviations
        return drawn


def draw_steps(names: tuple[str, ...], rows: Rows, streams: Streams, keys: Words | None = None) -> Floats:
    """Return one normal number for each row and column, in whole steps.

    Parameters
    ----------
    keys : array of shape (d, 15, 2), optional
        See `Streams.round_keys`; None (default) where the words are not made by compiled kernels.
    """
    fast = compiled_kernels(len(rows) * len(names))
    if fast is not None and keys is not None and isinstance(rows, RowRange):
        out = np.empty((len(names), len(rows)))
        fast.normal_steps(keys, rows.start, table_of("normal"), 2.0**DRAW_BITS, LARGEST_STEPS, out)
        return out
    return np.stack([to_steps(normal(streams.words("mixing", name, rows)), DRAW_BITS) for name in names])


@dataclass(frozen=True, repr=False)
class Drawing(Hidden):
    """Rows of large atoms, drawn and brought into their regions; each pass goes on where the one before it stood.

    Attributes
    ----------
    of : callable
        (tile, rows) -> the atoms of the rows.
    place : array of shape (a,)
        Where an atom's scatter stands; -1 where its rows are not drawn.
    names : tuple of str
        The columns.
    streams : Streams
    underway : Underway or None
    guard : Guard, scatters : Scatters
        Known once the draws were looked at.
    """

    of: Callable[[Floats, Rows], Integers]
    place: Integers
    names: tuple[str, ...]
    streams: Streams
    underway: Underway | None
    guard: Guard | None = None
    scatters: Scatters | None = None

    def steps(self, rows: Rows) -> Floats:
        """Return one normal number for each row and column, in whole steps."""
        known = None if self.underway is None else self.underway.take(rows, _DRAWN)
        if known is None:
            known = draw_steps(self.names, rows, self.streams, self._keys)
            if self.underway is not None:
                self.underway.keep(rows, _DRAWN, known)
        return known

    @cached_property
    def _keys(self) -> Words | None:
        fast = compiled_kernels(0)
        return self.streams.round_keys(fast, "mixing", self.names) if fast is not None and fast.WORDS else None

    def clipped(self, tile: Floats, rows: Rows) -> tuple[Floats, Integers]:
        """Return rows after the guard's rounds so far and one more clipping, and their atoms; -1 if not drawn."""
        assert self.guard is not None
        of = self.of(tile, rows)
        atoms = np.where(self.place[of] >= 0, of, -1)
        if not (atoms >= 0).any():
            return np.zeros(tile.shape), atoms
        done, before = self._begun(rows)
        clipped = self.guard.clipped(self._drawn(of, rows) if before is None else before, atoms, done)
        if self.underway is not None:
            self.underway.keep(rows, _CLIPPED + len(self.guard.steps), clipped)
        return clipped, atoms

    def finished(self, tile: Floats, rows: Rows, *, guarded: bool) -> tuple[Floats, Integers, Flags]:
        """Return rows after all rounds of the guard, the atoms of all rows, and which are drawn.

        Parameters
        ----------
        guarded : bool
            Whether the guard holds them at all.
        """
        assert self.guard is not None
        of = self.of(tile, rows)
        drawn = self.place[of] >= 0
        if not drawn.any():
            return np.zeros(tile.shape), of, drawn
        if not guarded:
            return self._drawn(of, rows), of, drawn
        done, before = self._begun(rows)
        before = self._drawn(of, rows) if before is None else before
        return self.guard.finished(before, np.where(drawn, of, -1), done), of, drawn

    def _begun(self, rows: Rows) -> tuple[int | None, Floats | None]:
        """Return after how many rounds rows were clipped in the last pass, and the rows; None for those of no pass."""
        assert self.guard is not None
        done = len(self.guard.steps) - 1
        before = None if self.underway is None or done < 0 else self.underway.take(rows, _CLIPPED + done)
        return (None if before is None else done), before

    def _drawn(self, of: Integers, rows: Rows) -> Floats:
        assert self.guard is not None
        assert self.scatters is not None
        return self.scatters.draw(self.steps(rows), of, self.guard.targets)


def scatter_of(wanted: Floats, drawn_mean: Floats, drawn: Floats, spread: Floats) -> Scatter:
    """Return the scatter that gives draws of known moments the covariance of an atom, times the spread.

    Parameters
    ----------
    wanted : array of shape (d, d)
        Covariance of the atom.
    drawn_mean, drawn : arrays of shape (d,) and (d, d)
        Mean and covariance of the normal numbers that its rows draw.
    spread : array of shape (d,)
        Share of each column's standard deviation that is kept.
    """
    factor = cholesky(wanted) * spread[:, None]
    white = lower_inverse(cholesky(drawn, tolerance=0.0))
    matrix = product_in_order(factor, white)
    bits = lattice_bits(float(np.abs(matrix).max(initial=0.0)))
    steps = to_steps(matrix, bits)
    centre = np.zeros(len(matrix))
    for index in range(len(matrix)):
        centre += steps[:, index] * 2.0**-bits * drawn_mean[index]
    return Scatter(steps, bits, centre)


def column_spread(
    atoms: Atoms,
    small: Flags,
    variances: Floats,
    placed: Placed,
    spread: float,
    draw: int = 0,
    leverage: Leverage | None = None,
) -> Floats:
    """Return the share of the standard deviation inside atoms that each column keeps.

    Clusters are crisper when rows scatter less inside their atoms. Shrinking all columns alike would take more of the
    variance from columns that say little about the clusters, and a miner who standardises the release would blow
    these up again. So every column keeps the same share of its *whole* variance.

    Parameters
    ----------
    small : array of shape (a,), bool
    variances : array of shape (a, d)
        Inside each atom.
    spread : float
        The mean share to aim at.
    draw : int
        Draws that are tried take turns: either a few columns that hardly vary inside atoms keep a little more than the
        others, or all keep what the last of them can reach, and clusters are less crisp.
    leverage : Leverage, optional
        What rows far out would have added to the columns, and how much wider atoms may be for it.
    """
    counts = atoms.counts.astype(np.float64)
    centre = _weighted(atoms.means, counts) / counts.sum()
    inside = _weighted(variances[~small], counts[~small])
    between = _weighted((placed.targets[~small] - centre) ** 2, counts[~small])
    for row in placed.small_rows.T:
        between += (row - centre) ** 2
    whole, most = _weighted(variances + (atoms.means - centre) ** 2, counts), _MOST_SHARE
    if leverage is not None and leverage.lost is not None and leverage.vanishes:
        whole, most = whole + leverage.lost * counts.sum(), _MOST_SHARE / leverage.shrinks**2
    varies = whole > 0
    inside = np.where(varies, inside / np.where(varies, whole, 1.0), 0.0)
    between = np.where(varies, between / np.where(varies, whole, 1.0), 1.0)
    share = (between + spread * spread * inside)[varies]
    kept = float(np.cumsum(share)[-1] / len(share)) if len(share) else 1.0
    if len(share):
        least = np.sort((between + _LEAST_SHARE * inside)[varies])
        kept = max(kept, float(least[int(_REACHING[draw % len(_REACHING)] * (len(least) - 1))]))
    squared = np.divide(kept - between, inside, out=np.ones_like(inside), where=inside > 1e-9)
    kept_spread: Floats = np.sqrt(np.clip(squared, _LEAST_SHARE, most))
    return kept_spread


def _weighted(values: Floats, weights: Floats) -> Floats:
    total = np.zeros(values.shape[1])
    for row, weight in zip(values, weights, strict=True):
        total += weight * row
    return total


def haar_words(n_rows: int, n_columns: int) -> int:
    """Return how many random words `mix_rows` takes."""
    return n_rows * (n_rows - 1) // 2 if n_rows > 2 else n_columns


def mix_rows(deviations: Floats, words: NDArray[np.uint64]) -> Floats:
    """Return y = Q R Q' x, with R uniform (Haar) among the orthogonal matrices of the complement of the ones vector.

    R is a product of reflections along normal vectors (Stewart 1980), in a fixed order of sums. Two rows have no
    mixture but themselves and each other, so theirs is a random direction of the same length instead.

    Parameters
    ----------
    deviations : array of shape (d, n)
        Rows less their mean.
    words : array of shape (haar_words(n, d),)

    Examples
    --------
    >>> rows = np.array([[1.0, 2.0, -3.0, 0.0], [0.0, 1.0, 1.0, -2.0]])
    >>> mixed = mix_rows(rows, np.arange(6, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15))
    >>> bool(np.allclose(mixed @ mixed.T, rows @ rows.T)), bool(np.allclose(mixed.sum(axis=1), 0))
    (True, True)
    """
    n = deviations.shape[1]
    draws = normal(words)
    if n < 3:
        return _random_pair(deviations, draws) if n == 2 else deviations.copy()
    mixed = deviations.copy()
    fast = compiled_kernels(0)
    if fast is not None:
        fast.turn_by_chance(mixed, draws)
        return mixed
    ones = np.full(n, 1.0 / sqrt(n))
    ones[0] += 1.0  # the reflection that takes the ones vector to the first axis
    _reflect(mixed, ones)
    used = 0
    for size in range(n - 1, 1, -1):
        vector = draws[used : used + size].copy()
        used += size
        first = float(vector[0])
        vector[0] += (1.0 if first >= 0 else -1.0) * sqrt(float(fixed_order_sum(vector * vector)))
        part = mixed[:, n - size :]
        _reflect(part, vector)
        if first >= 0:
            part[:, 0] *= -1.0
    if draws[used] < 0:
        mixed[:, n - 1] *= -1.0
    _reflect(mixed, ones)
    return mixed


def _random_pair(deviations: Floats, draws: Floats) -> Floats:
    length = sqrt(float(fixed_order_sum(deviations[:, 0] * deviations[:, 0])))
    size = sqrt(float(fixed_order_sum(draws * draws)))
    way = draws * (length / size)
    return np.stack([way, -way], axis=1)


def _reflect(rows: Floats, vector: Floats) -> None:
    weight = fixed_order_sum(rows * vector) * (2.0 / float(fixed_order_sum(vector * vector)))
    rows -= weight[:, None] * vector


def mix_group(rows: Floats, streams: Streams, name: str, *, alone: bool, few: bool = False) -> Floats:
    """Return mixed deviations from the group's mean.

    Parameters
    ----------
    rows : array of shape (d, n)
    name : str
        Names the group in the stream.
    alone : bool
        Whether a single row may stay as it is.
    few : bool
        Whether the rows are too few for their scatter to be kept: they get a little noise instead.
    """
    d, n = rows.shape
    mean = np.zeros(d)
    for row in rows.T:
        mean += row
    mean /= n
    deviations = rows - mean[:, None]
    if n == 1 and alone:
        return np.zeros_like(rows)
    if n == 1 or few or float(np.abs(deviations).max()) < _LEAST:
        noise = _LEAST * normal(streams.scalars("nudge", name, d * n)).reshape(d, n)
        centre = np.zeros(d)
        for column in noise.T:
            centre += column
        return noise - (centre / n)[:, None] if n > 1 else noise
    return mix_rows(deviations, streams.scalars("haar", name, haar_words(n, d)))
