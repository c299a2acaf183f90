"""A linear map after, or before, a function of the cells: every word of the language is tried on the known rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato.attack.catalogue import entry
from sfumato.attack.engine.decimals import snap
from sfumato.attack.engine.interface import Attack, Deadline, NothingFoundError
from sfumato.attack.engine.knowledge import FloatArray, Guess, IntArray, Knowledge, guess_values
from sfumato.attack.engine.transforms import Word, own_scale, words_of_originals, words_of_releases
from sfumato.attack.known.affine import apply_affine, fit_affine
from sfumato.attack.public.quantile_mapping import rank_levels

_ONE = 0.8  # share of the variance that one known row may have
_EXACT = 1e-20  # what rounding leaves
_SPARE = 6  # known rows beyond those that the map needs, from which on each column may have a word of its own
_LUCK = 2.0  # how much less a word must leave than no word


@dataclass(frozen=True, eq=False)
class Fitted:
    """Words that known rows agree with.

    Parameters
    ----------
    release : str
        What was done to the release before the linear step.
    words : tuple of Word
        What was done to each column of the original.
    left : float
        Share of the variance that the linear step leaves.
    """

    release: str
    words: tuple[Word, ...]
    left: float


def _left_over(design: FloatArray, targets: FloatArray) -> FloatArray:
    """Return the share of each target's variance that no linear map of the design explains."""
    basis = np.linalg.svd(np.column_stack([design, np.ones(len(design))]), full_matrices=False)
    rank = basis[1] > 1e-9 * basis[1][0]
    inside = basis[0][:, rank]
    rest = targets - inside @ (inside.T @ targets)
    apart = (targets - targets.mean(axis=0)) ** 2
    spread = apart.sum(axis=0)
    left = (rest**2).sum(axis=0) / np.where(spread > 0, spread, 1.0)
    # one huge value is explained by anything, if not exactly: a word that leaves hardly more than that says nothing
    told = (spread > 0) & ((apart.max(axis=0) <= _ONE * spread) | (left < _EXACT))
    return np.asarray(np.where(told, left, np.inf))


def choose_words(tables: dict[str, FloatArray], rows: IntArray, values: FloatArray, words: tuple[Word, ...]) -> Fitted:
    """Return the words under which known rows come nearest to one linear map.

    Parameters
    ----------
    tables : dict of arrays of shape (n, e)
        The release in every way of writing it.
    rows : array of shape (m,)
        Known rows.
    values : array of shape (m, d)
        Their originals.
    words : tuple of Word
        What may have been done to the original.
    """
    m, d = values.shape
    written = np.stack([np.column_stack([word.there(values[:, j], j) for j in range(d)]) for word in words], axis=1)
    usable = np.isfinite(written).all(axis=0)
    written = np.where(usable, written, 0.0).reshape(m, -1)
    best: Fitted | None = None
    for name, table in tables.items():
        chosen = table[rows]
        left = np.nan_to_num(_left_over(own_scale(chosen), written).reshape(len(words), d), nan=np.inf)
        left = np.where(usable, left, np.inf)  # what overflows fits nobody
        # the best of many words fits few rows by luck: without words less is explained, but believed sooner
        left[1:] *= _LUCK
        left *= 1.0 if name == "as it is" else _LUCK
        varies = values.max(axis=0) > values.min(axis=0)
        left[:, ~varies] = 0.0
        each = left.argmin(axis=0)
        if m < min(table.shape[1], d) + 1 + _SPARE:  # too few to let every column choose
            each[:] = left.mean(axis=1).argmin()
        total = float(left[each, np.arange(d)].mean())
        if best is None or total < best.left:
            best = Fitted(name, tuple(words[i] for i in each), total)
    if best is None or not np.isfinite(best.left):
        raise NothingFoundError("no function of the cells fits the known rows")
    return best


class ShapedAffine(Attack):
    """Try functions of the cells on both sides of a linear map, and keep what the known rows agree with.

    Examples
    --------
    >>> from sfumato.attack import run_attack
    >>> table = np.random.default_rng(0).gamma(2.0, size=(200, 2)) + 1
    >>> run_attack(ShapedAffine(), table, np.log(table) @ [[0.6, -0.8], [0.8, 0.6]]).rate
    1.0
    """

    entry = entry("shaped-affine")

    def objection(self, knowledge: Knowledge) -> str | None:
        """Return a reason when there are too few known rows to choose."""
        assert knowledge.pairs is not None
        needed = min(knowledge.released.shape[1], knowledge.n_columns) + 2
        held = len(knowledge.pairs.rows)
        return None if held >= needed else f"needs {needed} known rows, {held} are known"

    def run(self, knowledge: Knowledge, deadline: Deadline) -> Guess:
        """Return all target rows mapped back through the best words."""
        assert knowledge.pairs is not None
        deadline.check()
        rows, values = knowledge.pairs.rows, knowledge.pairs.values
        tables = words_of_releases(knowledge.released)
        found = choose_words(tables, rows, values, words_of_originals(knowledge.marginals))
        table = tables[found.release]
        written = np.column_stack([word.there(values[:, j], j) for j, word in enumerate(found.words)])
        guessed = apply_affine(fit_affine(table[rows], written), table)
        back = np.column_stack([word.back(guessed[:, j], j) for j, word in enumerate(found.words)])
        for j, word in enumerate(found.words):
            if word.ranked and knowledge.marginals is not None:  # the order of all rows tells ranks better than scores
                public = knowledge.marginals
                back[:, j] = np.interp(rank_levels(guessed[:, j]), public.levels, public.quantiles[:, j])
        if knowledge.marginals is not None:  # nobody is believed to stand far outside the public range
            low, high = knowledge.marginals.quantiles[0], knowledge.marginals.quantiles[-1]
            back = np.clip(back, 2 * low - high, 2 * high - low)
        names = sorted({word.name for word in found.words})
        note = f"{', '.join(names)} of the original, {found.release} of the release, {found.left:.1e} left"
        return guess_values(snap(back[knowledge.targets], knowledge.decimals), note=note)
