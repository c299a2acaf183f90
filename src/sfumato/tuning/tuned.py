"""The outcome of `tune` as data: one frozen object, from which text, JSON, the page and the policy are made."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from sfumato.files.storage.outputs import write_atomically
from sfumato.report.model import Frozen, Reported
from sfumato.tuning.comparison import Grade
from sfumato.tuning.search import Score

if TYPE_CHECKING:
    from sfumato.report.blocks import Page


class Figures(Frozen):
    """What one release of a setting showed. Shares are between 0 and 1."""

    grade: Grade
    excess: float = Field(description="rows in another cluster beyond a re-run, mean over k; less is better")
    residual: float = Field(description="residual security of the median column; more is better")
    linkage: float | None = Field(description="best linkage: people whose row is found; less is better")


class Tried(Frozen):
    """A candidate that was attacked, with rough figures."""

    label: str
    settings: str
    figures: Figures


class Finalist(Frozen):
    """A setting that got a full audit, and what held-out repetitions made of it."""

    label: str
    method: str
    name: str
    settings: str
    parameters: dict[str, Any] = Field(description="what differs from the defaults; secret parameters are never shown")
    search: Figures = Field(description="with the key and the seed of the search")
    held_out: tuple[Figures, ...] = Field(description="with keys and seeds that the search never saw; may be empty")
    holds: bool = Field(description="whether every held-out repetition meets the limits")


class DialPoint(Frozen):
    """What one level of detail keeps and hides. Shares are between 0 and 1."""

    detail: str
    grade: Grade = Field(description="from eight attacks, so rough")
    residual: float = Field(description="residual security of the median column; more is better")
    linkage: float | None = Field(description="best linkage: people whose row is found; less is better")
    kept: float = Field(description="rows in another cluster beyond a re-run, for clusterings that the ladder keeps")
    not_kept: float = Field(description="the same for more clusters than it keeps")


class Tuned(Reported):
    """What a search found; see `sfumato.tune`."""

    schema_: Literal["sfumato-tuning-1"] = Field(default="sfumato-tuning-1", alias="schema")
    max_misclassification: float
    min_grade: Grade | None
    met: bool = Field(description="whether a finalist meets the limits in every held-out repetition")
    chosen: Finalist | None = Field(description="the winner; None if nothing meets the limits")
    nearest: Finalist = Field(description="the winner, or the finalist that comes nearest to the limits")
    finalists: tuple[Finalist, ...]
    tried: tuple[Tried, ...]
    looked_at: int
    attacked: int
    not_applicable: int
    repetitions: int
    n_rows: int
    rows_measured: int
    columns: tuple[str, ...]
    clusters: tuple[int, ...]
    seed: int
    policy: str = Field(description="the policy file of the winner; empty if nothing meets the limits")
    notes: tuple[str, ...]
    dial: tuple[DialPoint, ...] = Field(default=(), description="each level of detail; empty if it was not asked for")

    def to_text(self) -> str:
        """Return the outcome as plain text."""
        from sfumato.tuning.tuned_page import tuned_text

        return tuned_text(self)

    def _page(self, command: str | None = None) -> Page:
        from sfumato.tuning.tuned_page import tuned_page

        return tuned_page(self, command=command)

    def save_policy(self, path: str | os.PathLike[str]) -> None:
        """Write the policy of the winner.

        Parameters
        ----------
        path : path
            Of the file; one that stands there is replaced.
        """
        write_atomically(path, lambda file: file.write(self.policy.encode()))

    def __repr__(self) -> str:
        return f"Tuned(met={self.met}, {self.nearest.label}: {self.nearest.settings})"


def figures_of(score: Score) -> Figures:
    """Return a score as figures of the report."""
    return Figures(
        grade=score.grade,  # type: ignore[arg-type]  # one of the literals
        excess=score.excess,
        residual=score.residual,
        linkage=score.linkage,
    )
