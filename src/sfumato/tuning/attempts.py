"""Settings of a comparison, released and attacked one by one: in this process, or in others beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sfumato.auditing.utility.known import known_optima, learn_optima
from sfumato.auditing.utility.yardstick import Yardstick
from sfumato.exceptions import SfumatoError
from sfumato.tuning.comparison import Compared, LeftOut, compared
from sfumato.tuning.settings import Setting
from sfumato.tuning.subject import Subject, subject_again, subject_told
from sfumato.tuning.trial import Trial, attack_release, measure, release_trial, trial_key

ELSEWHERE = "sfumato.tuning.attempts:attempts_elsewhere"


class Attempts:
    """What settings come to on one table.

    Parameters
    ----------
    subject : Subject
    clusters : sequence of int
    seed : int
    """

    def __init__(self, subject: Subject, clusters: Sequence[int], seed: int) -> None:
        self._subject, self._seed, self._asked = subject, seed, tuple(clusters)
        told: dict[str, Any] = {"clusters": clusters, "categories": subject.categories}
        self._yardstick = Yardstick(subject.values, **told, n_init=10, repetitions=3, seed=seed)
        self.clusters = self._yardstick.clusters

    def prepare(self) -> None:
        """Cluster the original now; see `Yardstick.prepare`."""
        self._yardstick.prepare(rescaled=True)

    def __call__(self, setting: Setting) -> Compared | LeftOut:
        """Return the line of a setting, or why it has none."""
        try:
            released = release_trial(self._subject, setting, trial_key(self._seed, 0))
            useful = measure(self._yardstick, setting, released, rescaled=True)
            found = attack_release(self._subject, setting, released, seed=self._seed)
        except SfumatoError as error:
            return LeftOut(label=setting.label, reason=error.message)
        return compared(Trial(setting, useful, found))

    def told(self) -> Any:
        """Return what another process must know to do the same."""
        told = {"subject": subject_told(self._subject), "clusters": self._asked, "seed": self._seed}
        return {**told, "known": known_optima()}


def attempts_elsewhere(told: dict[str, Any]) -> Attempts:
    """Return the attempts of another process.

    Parameters
    ----------
    told : dict
        Of `Attempts.told`.
    """
    learn_optima(told["known"])
    return Attempts(subject_again(told["subject"]), told["clusters"], told["seed"])
