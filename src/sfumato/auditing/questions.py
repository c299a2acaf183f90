"""The regulators' three questions: singling out, linkability, inference, each against a control group.

The people are split in two. The attacker holds the release of the first half; the second half is not in it. What
works as well on the second half is knowledge about people in general, not about someone in the release.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from sfumato._arrays import Flags, Floats
from sfumato.attack.engine.result import lift, wilson_interval
from sfumato.auditing.boosted import QUESTION, infer_by_trees
from sfumato.core.sharing import share
from sfumato.core.tiles import spans
from sfumato.exceptions import DataError

FEWEST_ROWS = 8  # of a table about which an audit says anything
_WIDTH = 0.05  # standard deviations: what counts as the same value
_NOTHING = 1e-7  # standard deviations
_PEOPLE = 1000
_ROWS = 100_000
_TOGETHER = 50  # people who are asked about by one thread


@dataclass(frozen=True)
class Answer:
    """The answer to one question.

    Attributes
    ----------
    question : str
        "singling out", "linkability", "inference" or "inference by trees".
    rate, control : float
        Success on people in the release, and on people who are not in it.
    lift, lift_low : float
        (rate - control) / (1 - control), and its lower bound.
    attempts : int
    """

    question: str
    rate: float
    control: float
    lift: float
    lift_low: float
    attempts: int


def require_enough(rows: Floats) -> None:
    """Raise for tables that no audit can say anything about.

    Parameters
    ----------
    rows : array of shape (n, d)
        The original.
    """
    if len(rows) < FEWEST_ROWS:
        raise DataError(
            f"{len(rows)} rows are too few for an audit; it needs {FEWEST_ROWS}",
            hint="with so few people every release singles someone out: do not hand it out",
        )
    if not (rows.max(axis=0) > rows.min(axis=0)).any():
        raise DataError("every column of the original is constant: there is nothing to protect and nothing to attack")


def answer_questions(original: Floats, released: Floats, *, seed: int = 0) -> tuple[Answer, ...]:
    """Ask the three questions of a release with the columns of the original.

    Larger tables than 100,000 rows are sampled, which makes everybody easier to tell apart: the answers err on the
    side of caution.

    Parameters
    ----------
    original, released : arrays of shape (n, d)
        With fewer than two columns or eight rows no question can be asked.
    """
    if original.shape[1] < 2 or len(original) < FEWEST_ROWS:
        return ()
    generator = np.random.default_rng([seed, 7])
    spread = original.std(axis=0)
    deviation = np.where(spread > 0, spread, 1.0)
    order = generator.permutation(len(original))[:_ROWS]
    half = len(order) // 2
    inside, outside = (original[rows] / deviation for rows in (order[:half], order[half : 2 * half]))
    view = released[order[:half]] / deviation
    people = generator.permutation(half)[:_PEOPLE]
    columns = generator.permutation(original.shape[1])
    return (
        _answer("singling out", *single_out(inside, outside, view, people, generator)),
        _answer("linkability", *link(inside, outside, view, people, columns)),
        _answer("inference", *infer(inside, outside, view, people, generator)),
        sure_answer(QUESTION, *infer_by_trees(inside, outside, view, people, columns)),
    )


def sure_answer(question: str, hits: Flags, control: Flags) -> Answer:
    """Return an answer whose bound allows for a control that was measured on as few people.

    Parameters
    ----------
    question : str
    hits, control : arrays of shape (people,)
    """
    rate, other = float(hits.mean()), float(control.mean())
    gained = lift(float(hits.sum()), len(hits), baseline=0.0, control=other)
    most = wilson_interval(float(control.sum()), len(control))[1]
    sure = lift(float(hits.sum()), len(hits), baseline=0.0, control=most)
    return Answer(question, rate, other, gained.value, sure.lower, len(hits))


def least_answer(question: str, turns: Sequence[tuple[Flags, Flags]]) -> Answer:
    """Return an answer that holds for several samples: the least rate of all against the most of any control.

    Parameters
    ----------
    question : str
    turns : sequence of pairs of arrays of shape (people,)
        Hits and control on each sample.
    """
    hits, control = min((one[0] for one in turns), key=np.mean), max((one[1] for one in turns), key=np.mean)
    return sure_answer(question, hits, control)


def _answer(question: str, hits: Flags, control: Flags) -> Answer:
    found = lift(float(hits.sum()), len(hits), baseline=0.0, control=float(control.mean()))
    return Answer(question, float(hits.mean()), float(control.mean()), found.value, found.lower, len(hits))


def single_out(
    inside: Floats, outside: Floats, view: Floats, people: NDArray[np.intp], generator: np.random.Generator
) -> tuple[Flags, Flags]:
    """Tell whether "within 5 % of these released values in three columns" describes exactly one person."""
    d = inside.shape[1]
    chosen = [generator.permutation(d)[: min(3, d)] for _ in people]
    hits, control = np.zeros(len(people), dtype=np.bool_), np.zeros(len(people), dtype=np.bool_)

    def ask(span: tuple[int, int]) -> None:
        for i in range(*span):
            for group, target in ((inside, hits), (outside, control)):
                near = (np.abs(group[:, chosen[i]] - view[people[i], chosen[i]]) <= _WIDTH).all(axis=1)
                target[i] = np.count_nonzero(near) == 1

    share(ask, list(spans(len(people), _TOGETHER)))
    return hits, control


def _told_apart(rows: Floats) -> Floats:
    """Return rows moved by next to nothing: of many equally near rows everybody finds another one.

    Otherwise all would find the same row, and be right or wrong together.
    """
    return np.asarray(rows + _NOTHING * np.random.default_rng(len(rows)).normal(size=rows.shape))


def link(
    inside: Floats, outside: Floats, view: Floats, people: NDArray[np.intp], columns: NDArray[np.intp]
) -> tuple[Flags, Flags]:
    """Tell whether two halves of a person's columns lead to the same released row."""
    first, second = columns[: len(columns) // 2], columns[len(columns) // 2 :]
    apart = _told_apart(view)
    persons = [_told_apart(group[people]) for group in (inside, outside)]

    def nearest(part: NDArray[np.intp]) -> list[NDArray[np.intp]]:
        tree = cKDTree(apart[:, part])
        return [np.asarray(tree.query(group[:, part])[1]) for group in persons]

    one, other = share(nearest, [first, second])
    return one[0] == other[0], one[1] == other[1]


def infer(
    inside: Floats, outside: Floats, view: Floats, people: NDArray[np.intp], generator: np.random.Generator
) -> tuple[Flags, Flags]:
    """Tell whether the released row nearest in all other columns gives away the last one."""
    d = inside.shape[1]
    secrets = generator.integers(0, d, len(people))
    apart = _told_apart(view)
    hits, control = np.zeros(len(people), dtype=np.bool_), np.zeros(len(people), dtype=np.bool_)

    def ask(secret: int) -> None:
        asked = np.flatnonzero(secrets == secret)
        known = np.delete(np.arange(d), secret)
        tree = cKDTree(apart[:, known])
        for group, target in ((inside, hits), (outside, control)):
            persons = group[people[asked]]
            guess = view[tree.query(_told_apart(persons)[:, known])[1], secret]
            target[asked] = np.abs(guess - persons[:, secret]) <= _WIDTH

    share(ask, np.unique(secrets).tolist())
    return hits, control
