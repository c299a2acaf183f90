"""Is this person in the table? Shadow releases with and without people tell, where small groups follow their members.

Each shadow release is made of the table without a random half of the targets, so that all shadows serve every target.
What a release looks like around a target is a handful of figures. Shadows that were not used to learn how they differ
between members and others are then told apart by their likelihood ratio (Carlini and others, 2022). The same with
members drawn anew, after the fact, is the control: it must not tell anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sfumato.attack.engine.knowledge import BoolArray, FloatArray
from sfumato.attack.shadows.releasing import FEWEST_FAR, choose_people, lengths_of, releasing, standardised
from sfumato.core.numbers import number_table
from sfumato.exceptions import DataError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

FALSE_POSITIVES = 0.01
_SHARE, _MOST = 5, 200  # a fifth of the rows at most are targets: shadows stay nearly as large as the table
_FEWEST_ROWS, _FEWEST_SHADOWS = 50, 8
_FOLDS = 4
_NEAREST = (1, 2, 3, 5, 10)
_OWN = 0.5  # weight of what is learnt of a target alone; the rest is learnt of all targets


@dataclass(frozen=True)
class Membership:
    """How well members are told from others.

    Attributes
    ----------
    shadows, targets, exposed : int
        Releases made, people asked about, and those of them who stand farthest from the middle.
    auc, auc_exposed, auc_control : float
        Area under the curve: 0.5 is guessing. For all targets, for the exposed ones, and with members drawn anew.
    tpr, tpr_exposed, tpr_control : float
        Share of the members who are told where one in a hundred others is taken for one.
    auc_low, auc_exposed_low : float
        Mean over people less 2.6 standard errors: above 0.5 it is no chance.
    """

    shadows: int
    targets: int
    exposed: int
    auc: float
    auc_exposed: float
    auc_control: float
    tpr: float
    tpr_exposed: float
    tpr_control: float
    auc_low: float
    auc_exposed_low: float


def membership(
    method: Any, table: ArrayLike, targets: Sequence[int] | None = None, *, shadows: int = 64, seed: int = 0
) -> Membership:
    """Tell members of a table from others by shadow releases.

    Parameters
    ----------
    method : perturber or callable
        A perturber, or a function of a table and a number that returns a release. Rows may be held back.
    table : array-like of shape (n, d)
        Numbers, without missing cells.
    targets : sequence of int, optional
        Rows to ask about, at most half of the table. None (default) takes those farthest from the middle (one in a
        hundred, at least ten) and others at random, a fifth of the rows and at most 200.
    shadows : int
        Releases to make. Default: 64.
    seed : int
        Chooses people and keys. Default: 0.

    Returns
    -------
    Membership

    Examples
    --------
    >>> table = np.random.default_rng(0).normal(size=(100, 3))
    >>> membership(lambda rows, number: rows, table, shadows=8).auc > 0.95
    True
    """
    original = number_table(table, "table")
    n = len(original)
    if n < _FEWEST_ROWS:
        raise DataError(f"{n} rows are too few to ask who is in the table; it needs {_FEWEST_ROWS}")
    if shadows < _FEWEST_SHADOWS:
        raise ParameterError(f"shadows must be at least {_FEWEST_SHADOWS}, got {shadows}")
    if targets is None:
        people, far = choose_people(original, min(n // _SHARE, _MOST), seed)
    else:
        people = np.unique(np.asarray(targets, dtype=np.int64))
        if not people.size or people[0] < 0 or people[-1] >= n or len(people) > n // 2:
            raise ParameterError(f"targets must be row numbers between 0 and {n - 1}, at most half of the rows")
        far = np.argsort(-lengths_of(original)[people], kind="stable")[: max(FEWEST_FAR, n // 100)]
    generator = np.random.default_rng([seed, 67])
    members = _halves(generator, shadows, len(people))
    release, (points, unit) = releasing(method), standardised(original)
    centre = original.mean(axis=0)
    seen = []
    for number in range(shadows):
        rows = np.delete(original, people[~members[number]], axis=0)
        released = release(rows, seed + 1 + number)
        seen.append(_around(points[people], (released - centre) / unit))
    figures = np.array(seen)
    scores = _likelihood_ratios(figures, members)
    redrawn = _halves(generator, shadows, len(people))
    control = _likelihood_ratios(figures, redrawn)
    auc, auc_low = _mean_auc(scores, members)
    auc_far, auc_far_low = _mean_auc(scores[:, far], members[:, far])
    return Membership(
        shadows=shadows,
        targets=len(people),
        exposed=len(far),
        auc=auc,
        auc_exposed=auc_far,
        auc_control=_mean_auc(control, redrawn)[0],
        tpr=_true_positives(scores, members),
        tpr_exposed=_true_positives(scores[:, far], members[:, far]),
        tpr_control=_true_positives(control, redrawn),
        auc_low=auc_low,
        auc_exposed_low=auc_far_low,
    )


def _halves(generator: np.random.Generator, shadows: int, people: int) -> BoolArray:
    """Return who is in which shadow: each person in half of them, in each fold, too."""
    members = np.empty((shadows, people), dtype=bool)
    for fold in range(_FOLDS):
        rows = np.arange(fold, shadows, _FOLDS)
        half = np.arange(len(rows)) % 2 == fold % 2
        members[rows] = np.stack([generator.permutation(half) for _ in range(people)], axis=1)
    return members


def _around(people: FloatArray, rows: FloatArray) -> FloatArray:
    """Return what a release looks like around people, shape (people, figures)."""
    rows = rows[np.isfinite(rows).all(axis=1)]
    squares = (people**2).sum(axis=1)[:, None] + (rows**2).sum(axis=1) - 2 * people @ rows.T
    distances = np.sqrt(np.maximum(squares, 0.0))
    most = min(_NEAREST[-1], len(rows))
    order = np.argpartition(distances, most - 1, axis=1)[:, :most]
    near = np.sort(np.take_along_axis(distances, order, axis=1), axis=1)
    nearest = [np.log(near[:, min(k, most) - 1] + 1e-3) for k in _NEAREST]
    # radii grow with a person's distance from the middle: out there nobody is near
    length = np.linalg.norm(people, axis=1)
    density = [np.log1p((distances <= (share * (1 + length))[:, None]).sum(axis=1)) for share in (0.2, 0.4)]
    kernel = np.log(np.exp(-0.5 * (distances / (0.3 * (1 + length))[:, None]) ** 2).sum(axis=1) + 1e-6)
    middle = np.linalg.norm(rows[order].mean(axis=1) - people, axis=1)
    way = people / np.maximum(length, 1e-9)[:, None]
    along = rows @ way.T
    reach = np.sort(along, axis=0)[-min(3, len(rows)) :]
    return np.column_stack([*nearest, *density, kernel, middle, reach[-1], reach.mean(axis=0), along.mean(axis=0)])


def _likelihood_ratios(figures: FloatArray, members: BoolArray) -> FloatArray:
    """Return log-likelihood ratios of being a member, each from shadows of other folds; shape (shadows, people).

    Figures of a person are normal with one covariance for everybody (in units of the person's own scatter); how far
    members lie from others is learnt partly of the person, partly of all.
    """
    fold = np.arange(len(figures)) % _FOLDS
    scores = np.empty(members.shape)
    for number in range(_FOLDS):
        learnt, asked = figures[fold != number], figures[fold == number]
        inside = members[fold != number][:, :, None]
        scatter = learnt.std(axis=0)
        unit = np.where(scatter > 1e-9, scatter, np.inf)
        within = (learnt * inside).sum(axis=0) / inside.sum(axis=0)
        without = (learnt * ~inside).sum(axis=0) / (~inside).sum(axis=0)
        left = (learnt - np.where(inside, within, without)) / unit
        flat = left.reshape(-1, left.shape[2])
        covariance = flat.T @ flat / len(flat) + 0.05 * np.eye(flat.shape[1])
        apart = (within - without) / unit
        apart = _OWN * apart + (1 - _OWN) * apart.mean(axis=0)
        weights = np.linalg.solve(covariance, apart.T).T
        scores[fold == number] = (((asked - (within + without) / 2) / unit) * weights).sum(axis=2)
    return scores


def _mean_auc(scores: FloatArray, members: BoolArray) -> tuple[float, float]:
    """Return the mean over people of the area under the curve, and its lower bound."""
    each = []
    for score, inside in zip(scores.T, members.T, strict=True):
        apart = score[inside][:, None] - score[~inside]
        each.append(float(((apart > 0) + 0.5 * (apart == 0)).mean()))
    error = float(np.std(each) / np.sqrt(max(1, len(each) - 1)))
    return float(np.mean(each)), float(np.mean(each)) - 2.6 * error


def _true_positives(scores: FloatArray, members: BoolArray) -> float:
    """Return the share of members above all but one in a hundred of the others, all people together."""
    limit = np.quantile(scores[~members], 1 - FALSE_POSITIVES, method="higher")
    return float((scores[members] > limit).mean())
