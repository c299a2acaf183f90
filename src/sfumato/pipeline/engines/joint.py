"""The engine of several owners: passes that all of them have made are taken from a file, the next one is made here.

A release asks for one pass after the other. Every owner answers the next pass with a summary of its own rows, the
summaries are merged, and the merged ones are what each owner's release is fitted with: the rows of the others are not
needed, only what their summaries say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from sfumato.core.passes import Facts, Survey
from sfumato.core.summaries import Summary
from sfumato.core.travel import filled_summary, learnt_of
from sfumato.exceptions import ParameterError
from sfumato.files.schema import Look
from sfumato.files.source import RawBatch, Source
from sfumato.perturb.mechanism.grouping import Grouping
from sfumato.perturb.mechanism.keyed import Kernel, KeyedMethod
from sfumato.pipeline.engines.engine import Cells
from sfumato.pipeline.engines.last_pass import Tally, WriteJob
from sfumato.pipeline.engines.local import LocalEngine

S = TypeVar("S", bound=Summary)
Missing = Callable[[Cells, Any], Any]


class NextPassError(Exception):
    """The next pass is not among those that the owners have made; its answer stands in `learnt`."""

    def __init__(self, learnt: Any) -> None:
        super().__init__("the next pass has to be made by all owners")
        self.learnt = learnt


class OffsetSource:
    """One owner's rows, numbered as they are in the table of all owners."""

    def __init__(self, source: Source, first_row: int) -> None:
        self._source, self._first = source, first_row
        self.path, self.names, self.types, self.style = source.path, source.names, source.types, source.style

    def batches(self, columns: Sequence[str] | None = None, numbers: Sequence[str] = ()) -> Iterator[RawBatch]:
        """Read the table once; see `Source`."""
        for raw in self._source.batches(columns, numbers):
            yield raw.at(raw.start + self._first)


class JointEngine:
    """Answer passes from what the owners have learnt together.

    Parameters
    ----------
    stages : sequence
        What each pass has learnt, of all owners.
    answer : callable, optional
        (cells, empty summary) -> what a pass has learnt that is not among the stages. None raises.
    local : LocalEngine, optional
        Writes the released rows.
    """

    def __init__(self, stages: Sequence[Any], answer: Missing | None = None, local: LocalEngine | None = None) -> None:
        self.stages = list(stages)
        self._answer, self._local = answer, local
        self._next = 0

    def look(self, cells: Cells, empty: Look) -> Look:
        """Take the first look; see `Engine`. The survey waits until every owner knows the numbers of its rows."""
        plain = empty.without_survey()
        return plain.filled(self._stage(cells, plain))

    @property
    def holds_back(self) -> bool:
        """No: the numbers of everybody's rows would change; see `Engine`. Clusters of few people are not kept here."""
        return False

    def begin_rounds(self, keyed: KeyedMethod, facts: Facts, *, finding: bool = False) -> None:
        """Need not know the method; see `Engine`."""

    def fill(self, cells: Cells, empty: S) -> tuple[S, None]:
        """Fill a summary; see `Engine`. Each owner has checked its own rows."""
        return filled_summary(empty, self._stage(cells, empty)), None

    def look_again(self, cells: Cells, empty: Survey, n_rows: int) -> Survey:  # noqa: ARG002
        """Refuse: noise is added once, and here are several owners; see `Engine`."""
        raise ParameterError("this method draws its rows for one owner", hint="choose another method")

    def meet(self, cells: Cells, grouping: Grouping, facts: Facts) -> Kernel:  # noqa: ARG002
        """Refuse: the rows of a group belong to several owners; see `Engine`."""
        raise ParameterError(
            "this method lets rows meet, and here they belong to several owners", hint="choose another method"
        )

    def write(self, cells: Cells, job: WriteJob) -> Tally:
        """Write the released rows of this owner; see `Engine`."""
        assert self._local is not None
        return self._local.write(cells, job)

    def _stage(self, cells: Cells, empty: Any) -> Any:
        if self._next == len(self.stages):
            if self._answer is None:
                raise NextPassError(None)
            self.stages.append(self._answer(cells, empty))
        self._next += 1
        return self.stages[self._next - 1]


def own_answer(local: LocalEngine, rows: tuple[int, int] | None) -> Missing:
    """Return an answer from this owner's rows alone; it ends the fit.

    Parameters
    ----------
    rows : pair of int, optional
        The numbers of this owner's rows, from the first to behind the last; None before they are known.
    """

    def answer(cells: Cells, empty: Any) -> Any:
        if isinstance(empty, Look):
            raise NextPassError(local.look(cells, empty).learnt_values())
        filled, seen = local.fill(cells, empty)
        if rows is not None:
            seen.require(*rows)
        raise NextPassError(learnt_of(filled))

    return answer


def merged_learnt(empty: Any, answers: Sequence[Any]) -> Any:
    """Return what several owners have learnt together.

    Parameters
    ----------
    answers : sequence
        What each has learnt.
    """
    if isinstance(empty, Look):
        look = empty.fresh()
        for learnt in answers:
            look.merge(empty.filled(learnt))
        return look.learnt_values()
    total = empty.fresh()
    for learnt in answers:
        total.merge(filled_summary(empty, learnt))
    total.conclude()
    return learnt_of(total)
