"""The dial between detail and privacy, measured on one table: what coarse, medium and fine keep and hide."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from sfumato.auditing.utility.yardstick import Yardstick
from sfumato.perturb.catalogue import method
from sfumato.tuning.assess import quick_judgement
from sfumato.tuning.settings import Setting
from sfumato.tuning.subject import Subject
from sfumato.tuning.trial import measure, release_trial, trial_key
from sfumato.tuning.tuned import DialPoint

LADDER = "ladder"
_ROWS = 3_000
_LARGE = 2_000  # rows from which the ladder goes to 20
_KEPT = (3, 6, 10)  # numbers of clusters that the ladder keeps
_BEYOND, _BEYOND_SMALL = (24, 30), (16, 20)  # numbers of clusters that nobody keeps
_TRIAL = 2_000  # number of the key, which the search does not use


def measure_dial(
    subject: Subject, name: str, seed: int, tell: Callable[[str, float], None] = lambda _what, _share: None
) -> tuple[DialPoint, ...]:
    """Return what each level of detail keeps and hides, from one release each.

    Parameters
    ----------
    name : str
        Id of a method that keeps the ladder.
    seed : int
        Chooses the rows, the key and the starts.
    tell : callable
        Is told (what is being done, share done).
    """
    rows = np.random.default_rng([seed, 22]).permutation(len(subject.values))[:_ROWS]
    part = replace(subject, values=subject.values[np.sort(rows)])
    beyond = _BEYOND if len(part.values) >= _LARGE else _BEYOND_SMALL
    sticks = [
        Yardstick(part.values, clusters=ks, categories=part.categories, n_init=5, repetitions=2, seed=seed)
        for ks in (_KEPT, beyond)
    ]
    levels = next(one.choices for one in method(name).parameters if one.name == "detail")
    points = []
    for number, level in enumerate(levels):
        tell(f"the dial at {level}", number / len(levels))
        setting = Setting(name, {"clusterings": LADDER, "detail": level})
        released = release_trial(part, setting.hurried, trial_key(seed, _TRIAL))
        judged = quick_judgement(part, setting, released, seed)
        kept, lost = (measure(stick, setting, released).excess_mean for stick in sticks)
        points.append(
            DialPoint(
                detail=level,
                grade=judged.grade,  # type: ignore[arg-type]  # one of the literals
                residual=judged.residual,
                linkage=judged.linkage,
                kept=kept,
                not_kept=lost,
            )
        )
    return tuple(points)
