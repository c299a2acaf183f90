"""The outcome of `tune` as data: one frozen object, from which text, JSON, the page and the policy are made."""

from __future__ import annotations

import os
from typing import Any, Literal

from pydantic import Field

from sfumato.files.storage.outputs import write_atomically
from sfumato.tuning.comparison import Frozen, Grade
from sfumato.tuning.search import Score


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


class Tuned(Frozen):
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

    def to_json(self) -> str:
        """Return the outcome as JSON, with a versioned `schema` field."""
        return self.model_dump_json(indent=2, by_alias=True) + "\n"

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """Return the JSON Schema of `to_json`."""
        return cls.model_json_schema(by_alias=True, mode="serialization")

    def to_text(self) -> str:
        """Return the outcome as plain text."""
        from sfumato.tuning.tuned_page import tuned_text

        return tuned_text(self)

    def to_html(self, path: str | os.PathLike[str] | None = None, *, command: str | None = None) -> str:
        """Return the outcome as one self-contained page without scripts; write it to a path if one is given.

        Parameters
        ----------
        path : path, optional
        command : str, optional
            What to type to repeat it; by default the call in Python.
        """
        from sfumato.report.page import render_page, write_page
        from sfumato.tuning.tuned_page import tuned_page

        page = tuned_page(self, command=command)
        return render_page(page) if path is None else write_page(page, path)

    def save_policy(self, path: str | os.PathLike[str]) -> None:
        """Write the policy of the winner."""
        write_atomically(path, lambda file: file.write(self.policy.encode()))

    def _repr_html_(self) -> str:
        from sfumato.report.page import render_fragment
        from sfumato.tuning.tuned_page import tuned_page

        return render_fragment(tuned_page(self))

    def __repr__(self) -> str:
        return f"Tuned(met={self.met}, {self.nearest.label}: {self.nearest.settings})"

    __str__ = __repr__


def figures_of(score: Score) -> Figures:
    """Return a score as figures of the report."""
    return Figures(
        grade=score.grade,  # type: ignore[arg-type]  # one of the literals
        excess=score.excess,
        residual=score.residual,
        linkage=score.linkage,
    )
