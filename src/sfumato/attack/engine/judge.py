"""The judge: holds the truth against an attack's guess, beside a constant guess and broken correspondence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.spatial import cKDTree

from sfumato.attack.engine import scoring
from sfumato.attack.engine.alike import Alike
from sfumato.attack.engine.interface import OutOfTimeError
from sfumato.attack.engine.knowledge import BoolArray, FloatArray, Guess, IntArray
from sfumato.attack.engine.result import Result, Scores, lift, summarise
from sfumato.exceptions import DataError

CONTROL_ROUNDS = 5
#: share of a column's variance that is left when the column counts as laid open
OPEN = 0.05
#: lift of a column's cells above which it counts so, too, however far off the others are
READ = 0.9


class Judge:
    """Scores guesses against one original.

    Parameters
    ----------
    truth : array of shape (n, d)
        The original, rows in the order of the release.
    positions : array of shape (n,)
        Row numbers in the original file.
    seed : int
        Draws who is held against whom in the control.
    company : array of shape (n,), optional
        Rows with the same number are alike in what a release tells on purpose: a guess must be better than the one for
        somebody in the same company. None: better than a constant.
    likeness : array of shape (n, p), optional
        Where rows lie in the space of what a release tells on purpose: a guess must fit a person better than the ten
        people most like that person. None: they need not.
    """

    def __init__(
        self,
        truth: FloatArray,
        positions: IntArray,
        seed: int,
        company: IntArray | None = None,
        likeness: FloatArray | None = None,
    ) -> None:
        self._truth = truth
        self._company = company
        self._likes = None if likeness is None else Alike(likeness, seed)
        self._positions = positions
        self._seed = seed
        self._tolerance = scoring.tolerances(truth)
        self._typical: FloatArray | None = None  # the first guess pays for the sorting

    def values(
        self, ran: Result, guess: Guess, targets: IntArray, dropped: IntArray, given: IntArray | None = None
    ) -> Result:
        """Return the result of a guess of values.

        Parameters
        ----------
        ran : Result
            With everything but scores.
        guess : Guess
            Values of the target rows.
        targets : array of shape (t,)
            Rows that were asked for.
        dropped : array of integers
            Rows that are known to the attacker and do not count.
        given : array of integers, optional
            Columns that are known to the attacker and do not count.
        """
        values = guess.values
        shape = (targets.size, self._truth.shape[1])
        if values is None or values.ndim not in {2, 3} or values.shape[-2:] != shape:
            raise DataError(f"the attack must answer with values of shape {shape}")
        keep = ~np.isin(targets, dropped)
        rows = targets[keep]
        if rows.size == 0:
            return replace(ran, status="not applicable", reason="no row is left to be guessed")
        if self._typical is None:
            self._typical = scoring.typical_record(self._truth, self._tolerance)
        guessed, truth = values[..., keep, :], self._truth[rows]
        tolerance = self._tolerance.copy()
        tolerance[np.empty(0, dtype=np.int64) if given is None else given] = 0.0  # 0 marks a column that is not scored
        if not tolerance.any():
            return replace(ran, status="not applicable", reason="no column is left to be guessed")
        constant = np.broadcast_to(self._typical, truth.shape)

        def against(other: IntArray) -> FloatArray:
            return scoring.record_scores(guessed, truth[other], tolerance)

        baseline = scoring.record_scores(constant, truth, tolerance)
        if self._company is not None:
            alike = self._alike(self._company[rows], guessed, truth, tolerance, baseline)
            baseline = alike if alike.mean() > baseline.mean() else baseline
        if self._likes is not None:
            people = self._likes.of(rows).T
            alike = np.mean([scoring.record_scores(guessed, self._truth[one], tolerance) for one in people], axis=0)
            baseline = alike if alike.mean() > baseline.mean() else baseline
        if given is not None:
            # whatever other people tell of somebody, by a line or by the nearest of them, is no leak
            for guess_by in (self._regressed, self._nearest):
                baseline = np.maximum(baseline, scoring.record_scores(guess_by(rows, given), truth, tolerance))
        answers: BoolArray = np.asarray(np.isfinite(guessed).any(axis=-1))
        scores = Scores(
            rows=self._positions[rows],
            attack=scoring.record_scores(guessed, truth, tolerance),
            baseline=baseline,
            control=self._control(rows.size, against),
            answered=None if given is None else np.asarray(answers.reshape(-1, rows.size).any(axis=0)),
        )
        hits = scoring.cell_hits(guessed, truth, tolerance)
        usual = scoring.cell_hits(constant, truth, tolerance).mean(axis=0)
        lifts = np.zeros(len(tolerance))
        lifts[tolerance > 0] = [
            lift(float(h.sum()), rows.size, baseline=u).lower for h, u in zip(hits.T, usual, strict=True)
        ]
        scored = replace(
            summarise(ran, scores),
            cell_rate=float(hits.mean()),
            residual=scoring.residual_security(guessed, truth, tolerance),
            column_lifts=tuple(lifts.tolist()),
        )
        return _settle(scored, guess)

    def _regressed(self, rows: IntArray, given: IntArray) -> FloatArray:
        """Return what a regression on other people makes of the columns that are known of somebody.

        Nobody's own record is in it: each half of the table is told from the other half.
        """
        n, d = self._truth.shape
        half = np.random.default_rng([self._seed, 4]).permutation(n) < n // 2
        spread = np.where(self._tolerance > 0, self._truth.std(axis=0), 1.0)
        points = (self._truth - self._truth.mean(axis=0)) / spread
        known = np.column_stack([np.ones(n), points[:, given]])
        guess = np.empty((rows.size, d))
        for side in (False, True):
            fitted = known[half == side]
            weights = np.linalg.solve(fitted.T @ fitted + np.eye(len(given) + 1), fitted.T @ points[half == side])
            asked = half[rows] != side
            guess[asked] = known[rows[asked]] @ weights
        return np.asarray(guess * spread + self._truth.mean(axis=0))

    def _nearest(self, rows: IntArray, given: IntArray) -> FloatArray:
        """Return the record of whoever else is nearest in the columns that are known.

        Of all others: half of a table tells less of somebody than a release of as many rows does.
        """
        spread = np.where(self._tolerance > 0, self._truth.std(axis=0), 1.0)
        known = self._truth[:, given] / spread[given]
        near = cKDTree(known).query(known[rows], k=2)[1]
        others = np.where(near[:, 0] == rows, near[:, 1], near[:, 0])
        guess: FloatArray = self._truth[others]
        return guess

    def links(self, ran: Result, guess: Guess, people: IntArray) -> Result:
        """Return the result of a guess of rows.

        Parameters
        ----------
        ran : Result
            With everything but scores.
        guess : Guess
            Rows named for each person.
        people : array of shape (m,)
            The right rows.
        """
        if guess.candidates is None or len(guess.candidates) != people.size:
            raise DataError(f"the attack must name rows for {people.size} people")
        named = guess.candidates
        if not guess.complete:  # people come in random order: those the time sufficed for are a fair sample
            answered = [person for person, rows in enumerate(named) if rows.size]
            if not answered:
                raise OutOfTimeError
            named, people = tuple(named[person] for person in answered), people[answered]
        scores = Scores(
            rows=self._positions[people],
            attack=scoring.link_scores(named, people),
            baseline=np.full(people.size, 1.0 / self._truth.shape[0]),
            control=self._control(people.size, lambda other: scoring.link_scores(named, people[other])),
        )
        return _settle(summarise(ran, scores), guess)

    def _alike(
        self, company: IntArray, guessed: FloatArray, truth: FloatArray, tolerance: FloatArray, alone: FloatArray
    ) -> FloatArray:
        """Return the mean score of the guesses for others in the same company; of a constant for who has none."""
        generator = np.random.default_rng([self._seed, 2])
        total = np.zeros(len(company))
        for _ in range(CONTROL_ROUNDS):
            order = np.lexsort((generator.permutation(len(company)), company))
            begins = np.flatnonzero(np.r_[True, company[order][1:] != company[order][:-1]])
            ends = np.r_[begins[1:], len(order)]
            after = np.arange(1, len(order) + 1)
            after[ends - 1] = begins  # a ring through each company
            other = np.empty(len(order), dtype=np.int64)
            other[order] = order[after]
            found = scoring.record_scores(guessed[..., other, :], truth, tolerance)
            total += np.where(other == np.arange(len(other)), alone, found)
        mean: FloatArray = total / CONTROL_ROUNDS
        return mean

    def _control(self, size: int, score: Callable[[IntArray], FloatArray]) -> FloatArray:
        """Return the mean score when every answer is held against somebody else."""
        if size < 2:
            return np.zeros(size)
        generator = np.random.default_rng([self._seed, 1])
        total = np.zeros(size)
        for _ in range(CONTROL_ROUNDS):
            ring = generator.permutation(size)
            other = np.empty(size, dtype=np.int64)
            other[ring] = np.roll(ring, 1)  # one ring through all: nobody meets the own record
            total += score(other)
        return total / CONTROL_ROUNDS


def _settle(scored: Result, guess: Guess) -> Result:
    """Return the result with its final status."""
    if not guess.complete:
        return replace(scored, status="timed out")
    # a column that is laid open counts, even when the other columns keep whole records from being recovered
    open_column = scored.residual is not None and min(scored.residual) < OPEN
    open_column |= max(scored.column_lifts or (0.0,)) > READ
    if open_column or (scored.lift_low is not None and scored.lift_low > 0):
        return scored
    reason = scored.reason or "recovers no more than can be guessed without the release"
    return replace(scored, status="ineffective", reason=reason)


def unscorable(table: FloatArray) -> str | None:
    """Return why nothing can be scored on an original, or None.

    Parameters
    ----------
    table : array of shape (n, d)
        The original.

    Returns
    -------
    str or None
        A reason in plain words.

    Examples
    --------
    >>> unscorable(np.array([[1.0, np.nan]]))
    'the original has 1 missing or infinite cells (first: row 0, column 1)'
    """
    bad = ~np.isfinite(table)
    if bad.any():
        row, column = (int(index) for index in np.argwhere(bad)[0])
        return f"the original has {int(bad.sum())} missing or infinite cells (first: row {row}, column {column})"
    if (np.ptp(table, axis=0) == 0).all():
        return "all columns of the original are constant: there is nothing to recover"
    return None
