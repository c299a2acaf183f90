"""What else a release says: new columns, numbers written as text, the spaces and capitals of texts.

Attacks hold the columns of both tables against one another. A release may say the same in other places: in a column
that the original does not have, in one that has become text, in how a text is written. Whoever knows some people's rows
sees what such a carrier tells of the original columns; it is tried on everybody else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato._arrays import Flags, Floats, Integers
from sfumato.attack.engine.referee import Referee
from sfumato.attack.engine.result import lift
from sfumato.attack.known.curves import drawn_curve
from sfumato.auditing.equality import most_guess
from sfumato.frames.beside import Carrier, carriers_beside, columns_to_tell
from sfumato.frames.frame import is_dataframe
from sfumato.frames.hashed import hashes_beside

_KNOWN = 1_000  # people at most whose rows are known: a tenth of the table
_FEWEST = 24
_FEW = 8  # people through whom a line is drawn
_LEVELS = 200  # different texts beyond which they are not looked up one by one
_MOST = 60  # carriers, and columns that they may tell
TOLD = 0.5  # lift above which a carrier tells a column
_MORE = 0.2  # lift that a category of the release must have more than the same one of the original
_OF_DIGITS = ("digit-sums", "bit-sums", "congruences")  # attacks that read numbers which are no curves
OPEN = 0.05  # share of a column's variance that is left when a few known people lay it open


@dataclass(frozen=True)
class Carried:
    """One column of the original that a carrier tells.

    Attributes
    ----------
    column, carrier : str
        The column, and what tells it.
    rate, guess : float
        Share of the people of whom it is told right (their category, or in which half of the numbers they stand), and
        what guessing gets.
    lift_low : float
        Lower bound of (rate - guess) / (1 - guess).
    by_few : bool
        Whether a line through few known people tells the number itself.
    by_all : bool
        Whether nobody need be known, only values tried. Default: False.
    """

    column: str
    carrier: str
    rate: float
    guess: float
    lift_low: float
    by_few: bool
    by_all: bool = False

    @property
    def words(self) -> str:
        """One sentence."""
        if self.by_all:
            return f"Whoever tries values reads {self.column} from {self.carrier}."
        if self.by_few:
            return f"Whoever knows {_FEW} people reads {self.column} from {self.carrier}."
        share = f"{self.rate:.0%} of the people (guessing: {self.guess:.0%})"
        return f"{self.column} is told, at least roughly, by {self.carrier}: right for {share}."


def measure_carriers(
    original: Any,
    released: Any,
    *,
    order: Any = None,
    kept: Sequence[str] = (),
    company: Integers | None = None,
    seed: int = 0,
) -> tuple[Carried, ...]:
    """Return the original columns that carriers tell, each with what tells it best.

    Parameters
    ----------
    original, released : dataframes
        Nothing is carried by arrays, which have no names, or where rows cannot correspond.
    order : sequence of int, optional
        `order[i]` is the original row that stands in row i of the release.
    kept : sequence of str
        Columns that are released on purpose, or not looked at. Default: none.
    company : array of shape (n,) or (n, groupings), optional
        Rows with the same number share all clusters that the release keeps, or some of them; what these tell is no
        news.
    seed : int
        Draws the people who are known. Default: 0.
    """
    if not (is_dataframe(original) and is_dataframe(released)) or len(original) != len(released):
        return ()
    carriers = carriers_beside(original, released, kept)[:_MOST]
    n = len(original)
    hashed = {
        name: Carried(name, f"hashes in {carrier}", 1.0, 0.0, 1.0, by_few=False, by_all=True)
        for names, carrier in hashes_beside(original, released, kept)
        for name in names
    }
    if not carriers or n < 2 * _FEWEST:
        return tuple(hashed.values())
    back = np.arange(n) if order is None else np.argsort(np.asarray(order, dtype=np.int64))
    mixed = np.random.default_rng([seed, 67]).permutation(n)
    known, others = np.split(mixed, [min(_KNOWN, max(_FEWEST, n // 10))])
    found = []
    for name, truth, names in columns_to_tell(original, kept)[:_MOST]:
        told = []
        for one in carriers:
            if one.own is not None and names:
                continue  # of a category of both tables numbers are asked: look-ups ask for categories

            def tell(values: Floats, one: Carrier = one) -> Carried | None:
                return _told(name, one.what, one.named, values, truth, names, known, others, company)  # noqa: B023

            tells = tell(one.values[back])
            usual = None if one.own is None else tell(one.own)
            if tells is None or (usual is not None and tells.lift_low <= usual.lift_low + _MORE):
                continue  # what it told before it was released is no news
            told.append(tells)
        best = max(told, key=lambda one: (one.by_few, one.lift_low), default=None)
        if best is not None and (best.by_few or best.lift_low > TOLD):
            found.append(best)
    told_by = {one.column for one in found} | set(hashed)
    found += [one for one in _by_digits(original, carriers, back, kept, seed) if one.column not in told_by]
    return (*hashed.values(), *(one for one in found if one.column not in hashed))


def _by_digits(
    original: Any, carriers: Sequence[Carrier], back: Integers, kept: Sequence[str], seed: int
) -> Iterator[Carried]:
    """Yield the numbers of an original that attacks on digits and bits read from the numbers in carriers."""
    seen = [one.values[back] for one in carriers if not one.named]
    hidden = [(name, truth) for name, truth, names in columns_to_tell(original, kept)[:_MOST] if not names]
    if not seen or not hidden:
        return
    table, names = np.column_stack([truth for _, truth in hidden]), [name for name, _ in hidden]
    referee = Referee(table, np.column_stack(seen), columns=names, seed=seed, max_targets=_KNOWN)
    told: set[str] = set()
    for attack in _OF_DIGITS:
        lifts = referee.run(attack).column_lifts or ()
        for name, low in zip(names, lifts, strict=False):
            if low > TOLD and name not in told:
                told.add(name)
                yield Carried(name, "digits and bits beside the columns", low, 0.0, low, by_few=attack == "congruences")


def _told(
    column: str,
    what: str,
    named: bool,
    values: Floats,
    truth: Floats,
    names: bool,
    known: Integers,
    others: Integers,
    company: Integers | None,
) -> Carried | None:
    """Return how well known people's rows tell a column from a carrier; None for one that names nearly everybody."""
    if named and len(np.unique(values)) > max(_LEVELS, len(values) // 2):
        return None
    if names:
        levels = np.unique(truth)
        shares = np.stack([_says(named, values, truth == level, known, others) for level in levels])
        right: Flags = levels[shares.argmax(axis=0)] == truth[others]
        guess = most_guess(truth, company)
    else:
        middle = np.median(truth)
        right = (_says(named, values, truth > middle, known, others) > 0.5) == (truth[others] > middle)
        guess = most_guess((truth > middle).astype(np.float64), company)
    low = lift(float(right.sum()), len(right), baseline=guess).lower
    by_few = not (names or named) and low > 0 and _on_a_line(values, truth, known[:_FEW], others)
    return Carried(column, what, float(right.mean()), guess, low, by_few)


def _says(named: bool, values: Floats, truth: Flags, known: Integers, others: Integers) -> Floats:
    """Return how likely a statement is of others, as known people with the same carrier, or around it, have it."""
    held = truth[known].astype(np.float64)
    if not named:
        return drawn_curve(values[others], values[known], held)
    codes = np.unique(values, return_inverse=True)[1].reshape(-1)
    counts = np.bincount(codes[known], minlength=codes.max() + 1)
    sums = np.bincount(codes[known], held, minlength=codes.max() + 1)
    return np.asarray(((sums + held.mean()) / (counts + 1))[codes[others]])


def _on_a_line(values: Floats, truth: Floats, few: Integers, others: Integers) -> bool:
    if np.ptp(values[few]) == 0:
        return False
    slope, start = np.polyfit(values[few], truth[few], 1)
    left = truth[others] - slope * values[others] - start
    return bool((left**2).mean() < OPEN * truth.var())
