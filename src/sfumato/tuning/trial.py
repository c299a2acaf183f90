"""One trial: release the table with a setting, attack the release, and hold it against the yardstick.

The keys of trials come from a seed so that a search repeats; no release of a trial ever leaves the process.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato._arrays import Floats
from sfumato.auditing.model import Audit
from sfumato.auditing.order.unordered import as_many_rows
from sfumato.auditing.run import audit
from sfumato.auditing.utility.yardstick import Usefulness, Yardstick
from sfumato.core.keys import Key
from sfumato.exceptions import SfumatoWarning
from sfumato.files.entire import number_frame
from sfumato.perturb.catalogue import method
from sfumato.tuning.settings import Setting, make_perturber
from sfumato.tuning.subject import Subject

EXCHANGE = "exchange"  # the method that takes every kind of column
_LEARNS = (
    "it learns from all rows, and released rows belong to nobody, so people go to the nearest centre that k-means "
    "finds on the release; noise is fresh in every run, so figures differ a little from run to run"
)
_CHOSEN = (
    "this page is made of the rows without noise: it is for the owner alone, it spends nothing of the budget as long "
    "as it stays in the house, and a method or parameters that are chosen by it depend on the rows, which the "
    "guarantee of the release does not cover (docs/dp.md)"
)
ABOUT_DRAWN = (_LEARNS, _CHOSEN)


@dataclass(frozen=True)
class Trial:
    """What one release of a setting showed.

    Attributes
    ----------
    setting : Setting
    useful : Usefulness
    audit : Audit
        Without utility: the yardstick has measured it.
    """

    setting: Setting
    useful: Usefulness
    audit: Audit

    @property
    def timed_out(self) -> tuple[str, ...]:
        """Ids of the attacks that ran out of time: without them the grade may be too good."""
        return tuple(dict.fromkeys(line.id for line in self.audit.attacks if line.status == "timed out"))

    @property
    def linkage(self) -> float | None:
        """Share of people whose row the best linkage finds."""
        return best_linkage(self.audit)


@contextmanager
def quiet_threads() -> Iterator[None]:
    """Silence what trials on several threads would silence each for itself: filters of warnings belong to all threads.

    What one thread puts back may be what another one has set; here it is put back when all have ended.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SfumatoWarning)
        warnings.filterwarnings("ignore", message="Number of distinct clusters")
        yield


def trial_key(seed: int, repetition: int) -> Key:
    """Return the key of a trial; repetitions have different ones."""
    return Key.from_insecure_seed(1_000_003 * seed + repetition)


def release_trial(subject: Subject, setting: Setting, key: Key) -> Floats:
    """Return the release of a setting, rounded as a file would be; raises `SfumatoError` if it does not apply."""
    table = subject.values
    if draws_rows(setting):
        # it learns from everybody: from a sample it would be worse than it is, and people without company count, too
        table, setting = subject.whole, _bounded(setting, subject)
    elif subject.kinds:
        setting = setting.given("kinds", {f"x{i}": kind for i, kind in subject.kinds.items()})
        setting = setting.given("held", {f"x{i}": values for i, values in subject.held.items()})
    else:
        setting = setting.given("decimals", {f"x{i}": n for i, n in enumerate(subject.decimals) if n is not None})
    if any(parameter.name == "exposed" for parameter in method(setting.method).parameters):
        setting = setting.given("exposed", "publish")  # people without company have been left out of the subject
    with warnings.catch_warnings():
        # constant columns and unchanged cells show in the audit's figures
        warnings.simplefilter("ignore", SfumatoWarning)
        released = np.asarray(make_perturber(setting, key).fit_transform(table), dtype=np.float64)
    return subject.rounded(released) if keeps_columns(setting) else released


def keeps_columns(setting: Setting) -> bool:
    """Tell whether released columns mean the same as the original ones."""
    inner = setting.inner is None or keeps_columns(setting.inner)
    return method(setting.method).row_preserving and inner


def draws_rows(setting: Setting) -> bool:
    """Tell whether released rows belong to nobody."""
    return method(setting.method).draws_rows


def searching_bounds(setting: Setting, subject: Subject) -> Setting:
    """Return a setting that finds the bounds privately which nobody gives, if its rows are drawn.

    Parameters
    ----------
    setting : Setting
    subject : Subject
    """
    given = setting.parameters.get("bounds")
    known = {*subject.bounds, *(given if isinstance(given, Mapping) else ())}
    if not draws_rows(setting) or isinstance(given, Sequence) or known >= set(subject.names):
        return setting
    return setting.given("search_bounds", True)


def _bounded(setting: Setting, subject: Subject) -> Setting:
    """Return a setting with the owner's bounds, under the names of the trial."""
    known = {f"x{i}": subject.bounds[name] for i, name in enumerate(subject.names) if name in subject.bounds}
    return searching_bounds(setting, subject).given("bounds", known)


def takes_every_kind(setting: Setting) -> bool:
    """Tell whether a method takes texts, flags, dates and missing cells."""
    return setting.method == EXCHANGE


def attack_release(
    subject: Subject,
    setting: Setting,
    released: Floats,
    *,
    seed: int,
    claim: bool = True,
) -> Audit:
    """Return the audit of a release, without utility.

    Parameters
    ----------
    subject, setting, released
        See `release_trial`.
    seed : int
        Chooses known people and targets.
    claim : bool
        Whether a guarantee is put to the test, too, which takes seconds. Default: True.
    """
    told = public_description(setting)
    guarantee = method(setting.method).guarantee
    if guarantee is not None and not claim:
        told = {name: value for name, value in told.items() if name not in guarantee.parameters}
    original, published, order = side_by_side(subject, setting, released, seed)
    return audit(
        original,
        published,
        method=told,
        order=order,
        kept=kept_here(subject, setting),
        utility=False,
        seed=seed,
    )


def kept_here(subject: Subject, setting: Setting) -> tuple[str, ...]:
    """Return the columns that stand beside those of a release as they are.

    Parameters
    ----------
    subject, setting
        See `attack_release`.
    """
    return () if subject.beside is None or draws_rows(setting) else tuple(subject.beside.columns)


def side_by_side(subject: Subject, setting: Setting, released: Floats, seed: int) -> tuple[Any, Any, str | None]:
    """Return as many rows of the table and of a release, with kept columns, and what an audit is told of their order.

    Parameters
    ----------
    subject, setting, released, seed
        See `attack_release`.
    """
    if kept_here(subject, setting):
        names = subject.names if keeps_columns(setting) else [f"component {i}" for i in range(released.shape[1])]
        tables = number_frame(subject.names, subject.values), number_frame(names, released)
        return tables[0].hstack(subject.beside), tables[1].hstack(subject.beside), None
    if not draws_rows(setting):
        return subject.values, released, None
    original, released, _ = as_many_rows(subject.values, released, seed=seed)
    return original, released, "not known"


def public_description(setting: Setting) -> dict[str, object]:
    """Return the method and all public parameters: what a reader of its description knows."""
    row = method(setting.method)
    shown = {p.name: p.default for p in row.parameters if not p.secret and p.kind != "perturber"}
    return {"method": setting.method, **shown, **setting.public}


def best_linkage(found: Audit) -> float | None:
    """Return the share of people whose row the strongest linkage finds, measured on people who did not choose it."""
    links = [line.rate for line in found.strongest if line.goal == "links" and line.rate is not None]
    return max(links) if links else None


def measure(yardstick: Yardstick, setting: Setting, released: Floats, *, rescaled: bool = False) -> Usefulness:
    """Return what is left of the clusters in the release of a setting.

    Parameters
    ----------
    rescaled : bool
        Whether to measure after the miner's own rescalings too.
    """
    kept, drawn = keeps_columns(setting), draws_rows(setting)
    return yardstick.measure(released, same_columns=kept, rescaled=rescaled, drawn=drawn)
