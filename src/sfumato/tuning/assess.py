"""Candidates on a table: released in memory, clustered and attacked with little effort, then with more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sfumato._arrays import Floats
from sfumato.auditing.privacy import residual_security
from sfumato.auditing.session import AuditSession
from sfumato.auditing.utility.known import known_optima
from sfumato.auditing.utility.yardstick import Yardstick
from sfumato.metrics import variance_security
from sfumato.tuning.search import Score
from sfumato.tuning.settings import Setting, keeping
from sfumato.tuning.space import Candidate, setting_of
from sfumato.tuning.subject import Subject, subject_told
from sfumato.tuning.trial import (
    Trial,
    attack_release,
    draws_rows,
    keeps_columns,
    kept_here,
    measure,
    public_description,
    release_trial,
    searching_bounds,
    side_by_side,
    trial_key,
)

# the cheapest strong attack of each kind: as it is, public figures, few records, many records, linkage
QUICK_ATTACKS = (
    "as-released",
    "quantiles",
    "affine",
    "affine-columns",
    "ridge",
    "nearest",
    "fellegi-sunter",
    "likelihood",
)
QUICK_ROWS = 1_500
KEYS_OF_A_CHECK = 3
_MOST_CELLS = 1 << 23  # of releases that are kept for a second look


class TableAssessor:
    """Scores candidates on one table.

    Parameters
    ----------
    seed : int
        Of the search. Held-out repetitions use other seeds and other keys.
    limit : float
        Most excess misclassification: what keeps it in a hurry needs no second look.
    fixed : Setting, optional
        Of a policy: a candidate of its method with a guarantee has its parameters, where none is searched.
    """

    def __init__(
        self, subject: Subject, clusters: Sequence[int], seed: int, limit: float, fixed: Setting | None = None
    ) -> None:
        self._made_of = {"clusters": tuple(clusters), "seed": seed, "limit": limit, "fixed": fixed}
        self._subject, self._fixed = subject, fixed
        self._seed = seed
        self._limit = limit
        self.asked_clusters = tuple(clusters)
        rows = QUICK_ROWS
        told: dict[str, Any] = {"clusters": clusters, "categories": subject.categories}
        self._cheap = Yardstick(subject.values, **told, n_init=3, repetitions=1, max_rows=rows, seed=seed)
        self._closer = Yardstick(subject.values, **told, n_init=10, repetitions=3, seed=seed)
        # the effort of an audit: what the finalists show is what `sfumato audit` will show
        self._thorough = Yardstick(subject.values, **told, seed=seed)
        self._fresh = Yardstick(subject.values, **told, seed=seed + 7919)
        self._excess: dict[Candidate, float] = {}
        self._hurried: dict[tuple[Candidate, int], Floats] = {}
        self.clusters = self._thorough.clusters

    def prepare(self) -> None:
        """Cluster the original with every effort now; see `Yardstick.prepare`."""
        for yardstick in (self._cheap, self._closer, self._thorough, self._fresh):
            yardstick.prepare()

    def told(self) -> dict[str, Any]:
        """Return what another process must know to score the same."""
        return {"subject": subject_told(self._subject), "known": known_optima(), **self._made_of}

    def setting(self, candidate: Candidate) -> Setting:
        """Return the setting of a candidate on this table."""
        found = setting_of(candidate)
        if self._fixed is not None and self._fixed.method == found.method and draws_rows(found):
            found = replace(found, parameters={**self._fixed.parameters, **found.parameters})
        return keeping(searching_bounds(found, self._subject), self.asked_clusters)

    def cheap(self, candidate: Candidate) -> tuple[float, float]:
        """Return (excess, how far the values moved)."""
        setting = self.setting(candidate)
        released = self._first_look(candidate, 0)
        moved = 1.0
        if keeps_columns(setting) and not draws_rows(setting):
            varies = self._subject.values.std(axis=0) > 0
            moved = float(np.median(variance_security(self._subject.values[:, varies], released[:, varies])))
        self._excess[candidate] = measure(self._cheap, setting, released).excess_mean
        return self._excess[candidate], moved

    def quick(self, candidate: Candidate) -> Score:
        """Return a rough score from the strongest attack of each kind."""
        return rough_score(self._excess[candidate], self.judged(candidate))

    def judged(self, candidate: Candidate) -> Judgement:
        """Return what the strongest attack of each kind makes of a candidate."""
        return quick_judgement(self._subject, self.setting(candidate), self._first_look(candidate, 0), self._seed)

    def closer(self, candidate: Candidate) -> float:
        """Return the largest excess over several keys, from more starts and repetitions."""
        setting = self.setting(candidate)
        numbers = range(KEYS_OF_A_CHECK)
        looks = (self._first_look(candidate, number) for number in numbers)
        excess = max(measure(self._closer, setting, released).excess_mean for released in looks)
        if excess <= self._limit or setting.hurried == setting:
            return excess
        # a method that takes its time keeps more than in a hurry, never less
        releases = (release_trial(self._subject, setting, trial_key(self._seed, number)) for number in numbers)
        return max(measure(self._closer, setting, released).excess_mean for released in releases)

    def _first_look(self, candidate: Candidate, number: int) -> Floats:
        """Return the release of a candidate in a hurry, with a key of the search: several steps look at the same."""
        released = self._hurried.get((candidate, number))
        if released is None:
            released = release_trial(self._subject, self.setting(candidate).hurried, trial_key(self._seed, number))
            if (len(self._hurried) + 1) * released.size > _MOST_CELLS:
                self._hurried.clear()
            self._hurried[candidate, number] = released
        return released

    def thorough(self, candidate: Candidate) -> Score:
        """Return the score of a full audit, with the key and the seed of the search."""
        return score_of(self.trial(candidate, None))

    def repeat(self, candidate: Candidate, repetition: int) -> Score:
        """Return the score of a full audit with a key and seeds that the search never saw."""
        return score_of(self.trial(candidate, repetition))

    def trial(self, candidate: Candidate, repetition: int | None) -> Trial:
        """Release and audit a candidate; None is the search's own key and seed."""
        setting = self.setting(candidate)
        held_out = repetition is not None
        number = 1_000 + repetition if repetition is not None else 0
        released = release_trial(self._subject, setting, trial_key(self._seed, number))
        useful = measure(self._fresh if held_out else self._thorough, setting, released)
        seed = self._seed + number
        # a guarantee is the same in every repetition: the audit of the release puts it to the test
        found = attack_release(self._subject, setting, released, seed=seed, claim=False)
        return Trial(setting, useful, found)


@dataclass(frozen=True)
class Judgement:
    """What the strongest attack of each kind makes of a release; see `Score`."""

    grade: str
    residual: float
    linkage: float | None


def quick_judgement(subject: Subject, setting: Setting, released: Floats, seed: int) -> Judgement:
    """Return what the strongest attack of each kind makes of a release, in little time."""
    original, published, order = side_by_side(subject, setting, released, seed)
    told: dict[str, Any] = {"seed": seed, "order": order, "max_targets": 300, "effort": "quick"}
    told["kept"] = kept_here(subject, setting)
    session = AuditSession(original, published, method=public_description(setting), **told)
    results = [result for _, result in session.attack((*QUICK_ATTACKS, *(("kept-columns",) if told["kept"] else ())))]
    judged = session.grade(curve=False, verbatim=False)
    known = [value for value, _ in residual_security(results, len(subject.names)) if value is not None]
    links = judged.linkage.rate if judged.linkage is not None else None
    return Judgement(judged.grade, float(np.median(known)) if known else 0.0, links)


def rough_score(excess: float, judged: Judgement) -> Score:
    """Return the score of a first look.

    Parameters
    ----------
    excess : float
    judged : Judgement
    """
    return Score(excess, judged.grade, judged.residual, judged.linkage)


def score_of(trial: Trial) -> Score:
    """Return the score of a trial."""
    return Score(trial.useful.excess_mean, trial.audit.grade, trial.audit.privacy.median_residual or 0.0, trial.linkage)
