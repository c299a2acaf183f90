"""What an audit says about whole rows, as data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sfumato._arrays import Integers
from sfumato.auditing.whole.anonymity import Anonymity, measure_anonymity
from sfumato.auditing.whole.inference import Inferred, measure_inference
from sfumato.auditing.whole.looked_up import LookedUp, measure_look_ups
from sfumato.auditing.whole.mixed_utility import MixedUtility
from sfumato.auditing.whole.uniqueness import Uniqueness, measure_uniqueness
from sfumato.frames.whole import WholeRows


@dataclass(frozen=True)
class WholeColumn:
    """One column that leaves the house.

    Attributes
    ----------
    name : str
    kind : {"number", "count", "category"}
    kept : bool
        Whether it is released as it is, so that an attacker joins on it.
    """

    name: str
    kind: str
    kept: bool


@dataclass(frozen=True)
class Whole:
    """Figures over all columns of the release, not only those that are perturbed as numbers.

    Attributes
    ----------
    columns : tuple of WholeColumn
        Everything that leaves the house.
    uniqueness : Uniqueness or None
        Who is alone with their categories and counts; None if there are none.
    inferred : tuple of Inferred
        How well each category is told from the other columns.
    anonymity : Anonymity or None
        How alike released rows are; None if there are no categories and counts.
    utility : MixedUtility or None
        What the release is still good for; None without categories, or if utility was not asked for.
    looked_up : tuple of LookedUp
        How well each category is told by a dictionary, or as it is.
    """

    columns: tuple[WholeColumn, ...]
    uniqueness: Uniqueness | None
    inferred: tuple[Inferred, ...]
    anonymity: Anonymity | None
    utility: MixedUtility | None = None
    looked_up: tuple[LookedUp, ...] = ()

    @property
    def kept(self) -> tuple[str, ...]:
        """The columns that are released as they are."""
        return tuple(column.name for column in self.columns if column.kept)


def measure_whole(
    rows: WholeRows, *, company: Integers | None = None, kept: Sequence[str] = (), seed: int = 0
) -> Whole:
    """Return the figures of whole rows.

    Parameters
    ----------
    rows : WholeRows
    company : array of shape (n,) or (n, groupings), optional
        Rows with the same number share all clusters that the release keeps, or some of them.
    kept : sequence of str
        Columns that are kept on purpose. Default: none.
    seed : int
        Splits people, and draws what is too much to look at. Default: 0.
    """
    return Whole(
        columns=tuple(map(WholeColumn, rows.names, rows.kinds, rows.kept)),
        uniqueness=measure_uniqueness(rows, seed=seed),
        inferred=measure_inference(rows, seed=seed),
        anonymity=measure_anonymity(rows),
        looked_up=measure_look_ups(rows, company=company, kept=kept, seed=seed),
    )
