"""An audit, step by step: prepare, attack, score, utility, grade. Whoever attacks a release drives this.

Each step can be used alone, in any order that its needs allow, and gives the same result as in a whole audit with the
same seed: the studio sends attack after attack to its page, tuning asks a few quick ones, `sfumato.audit` runs all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from sfumato._arrays import Floats, Integers
from sfumato.attack.catalogue import Entry
from sfumato.attack.catalogue import attacks as attack_catalogue
from sfumato.attack.engine.elsewhere import Referees
from sfumato.attack.engine.knowledge import Kinds
from sfumato.attack.engine.referee import Referee
from sfumato.attack.engine.result import Result
from sfumato.auditing.aligned import align_tables
from sfumato.auditing.carriers import Carried
from sfumato.auditing.claimed import claims_drawn_rows
from sfumato.auditing.copies import Copies, TwinFinder, measure_copies
from sfumato.auditing.curve import measure_curve
from sfumato.auditing.effort import effort_named
from sfumato.auditing.equality import ColumnEquality, measure_equality
from sfumato.auditing.exposed import ExposedGroup, measure_exposed
from sfumato.auditing.grading import Judgement, judge
from sfumato.auditing.inversion import measure_inversion
from sfumato.auditing.method import KeptClusters, describe_method
from sfumato.auditing.model import Inverted
from sfumato.auditing.order.correspondence import find_out_order, stands_in_order
from sfumato.auditing.order.unordered import ask_without_order
from sfumato.auditing.privacy import (
    Privacy,
    any_open,
    find_verbatim,
    find_whole_verbatim,
    left_inside,
    measure_privacy,
    open_columns,
)
from sfumato.auditing.questions import Answer, answer_questions, require_enough
from sfumato.auditing.shadowed import Shadowed, measure_shadows
from sfumato.auditing.small_traces import measure_beside
from sfumato.auditing.spread import how_long, side_by_side
from sfumato.auditing.utility.measure import measure_utility
from sfumato.auditing.whole.company import in_miners_space
from sfumato.auditing.whole.looked_up import categories_in_order
from sfumato.auditing.whole.model import Whole, measure_whole
from sfumato.core.errands.processes import Errands
from sfumato.core.secret import Hidden
from sfumato.core.tiles import in_order
from sfumato.exceptions import ParameterError
from sfumato.frames.whole import read_whole

Known = int | Sequence[int] | None
NUMBERS, WHOLE = "numbers", "whole rows"  # what attacks look at: the columns of numbers, or every column

_TELLS = 0.05  # lift at which an attack in place shows that rows stand in their places


class AuditSession(Hidden):
    """An original and its release, put side by side; making one is the step *prepare*.

    Parameters
    ----------
    original, released : dataframes or arrays
        The same people.
    method : perturber, str or mapping, optional
        What the attacker may read about the method; see `sfumato.audit`.
    order : sequence of int, optional
        `order[i]` is the original row that stands in row i of the release. None (default) is the same order.
    columns : sequence of str, optional
        The columns to audit. None (default) takes all that are numeric in both tables.
    leave_out : sequence of str
        Columns that are not audited. Default: none.
    population : dataframe or array, optional
        People of the same population who are not in the table.
    releases : iterable of tables
        Further releases of the same table. Default: none.
    categories : sequence of str
        Columns that hold codes of categories, 0, 1, ... Default: none.
    kept : sequence of str
        Columns that are released as they are on purpose: attackers join on them, and nobody need guess them. Columns
        that are equal in every row are joined on without being named. Default: none.
    seed : int
        Chooses known people, targets and starts. Default: 0.
    effort : str
        How hard attacks and utility try: "quick", "normal" or "thorough". Default: "normal".
    max_targets : int, optional
        Most rows that an attack is asked for. None (default) is what the effort says.
    shadows : int
        Shadow releases to make with a method that is a perturber. Default: 0, none.
    as_read : tuple of two tables, optional
        Both before texts were counted. None (default): these two.

    Attributes
    ----------
    tables : AlignedTables
    results : list of Result
        Of the attacks so far.
    """

    def __init__(
        self,
        original: Any,
        released: Any,
        *,
        method: Any = None,
        order: Any = None,
        columns: Sequence[str] | None = None,
        leave_out: Sequence[str] = (),
        population: Any = None,
        releases: Iterable[Any] = (),
        categories: Sequence[str] = (),
        kept: Sequence[str] = (),
        seed: int = 0,
        effort: str = "normal",
        max_targets: int | None = None,
        shadows: int = 0,
        as_read: tuple[Any, Any] | None = None,
    ) -> None:
        chosen: dict[str, Any] = {"columns": columns, "leave_out": leave_out}
        self._finder = TwinFinder(seed)
        self.order, order, found = find_out_order(original, released, order, seed=seed, finder=self._finder, **chosen)
        whole = read_whole(original, released, order=order, categories=categories, kept=kept, **chosen)
        if whole is not None and whole.telling:
            joined = [name for name, stays in zip(whole.names, whole.kept, strict=True) if stays]
            given = [name for name in joined if name in kept or name in categories]
            chosen |= {"given": given, "counted": whole.names}
        self.tables = align_tables(original, released, order=order, **chosen)
        self.tables = replace(self.tables, notes=(*self.tables.notes, *([found] if found else [])))
        self._only_looks = self.order == "not known" and bool(found)  # nobody said that the rows were moved
        self.whole = whole if whole is not None and whole.telling else None
        self.seed, self.effort = seed, effort_named(effort)
        self._categories = [i for i, name in enumerate(self.tables.names) if name in categories]
        self.results: list[Result] = []
        self.errands: Errands | None = None  # while attacks run in other processes, too
        self._by_known: dict[tuple[str, int], Result] = {}  # of the referee's own choice of known people
        self.parameters, self.insecure_seed = describe_method(method)
        self.method: str | None = self.parameters.pop("method", None)
        self._kept = KeptClusters(self.tables, method, self._categories, seed)
        self._population = None if population is None else align_tables(population, population, **chosen).original
        self._releases = [align_tables(original, other, order=order, **chosen).released for other in releases]
        self._max_targets = self.effort.targets if max_targets is None else max_targets
        self._shadows, self._trying, self._said_kept = shadows, method, tuple(kept)
        self._as_read, self._order, self._aside = as_read or (original, released), order, (*kept, *leave_out)
        self.order = "assumed" if self.order == "not known" and self.carried else self.order  # it shows

    @property
    def attacks(self) -> tuple[Entry, ...]:
        """The attacks that this table is open to: some ask for categories or kept columns."""
        every = attack_catalogue()
        return every if self.whole is not None else tuple(row for row in every if "kinds" not in row.needs)

    @cached_property
    def referees(self) -> Referees:
        """Who alone hold the originals, hand out knowledge and score the guesses: of numbers, and of whole rows."""
        every = {"seed": self.seed, "work": self.effort.work, "max_targets": self._max_targets}
        tables, whole, company = self.tables, self.whole, self._company
        told = {
            NUMBERS: {
                "original": tables.original,
                "released": tables.released,
                "columns": tables.names,
                "gaps": tables.gaps,
                "method": self.method,
                "parameters": self.parameters,
                "population": self._population,
                "releases": self._releases,
                "atoms": self._kept.atoms(),
                "company": None if company is None else company[:, 0],
                "likeness": None if company is None else in_miners_space(tables.original, self._categories),
                **every,
            }
        }
        if whole is not None:  # every column that leaves the house, of whatever kind
            kinds = Kinds(categories=np.array(whole.categories), kept=np.array(whole.kept))
            names: Any = {"columns": whole.names, "kinds": kinds}
            told[WHOLE] = {"original": whole.original, "released": whole.released, **names, **every}
        return Referees(told)

    @property
    def referee(self) -> Referee:
        """Of the columns of numbers."""
        return self.referees.of(NUMBERS)

    def require_enough(self) -> None:
        """Raise for tables that no audit can say anything about."""
        require_enough(self.tables.original)

    def attack(self, names: Sequence[str] | None = None, known: Known = None) -> Iterator[tuple[Any, Result]]:
        """Run attacks, several at a time, and yield the catalogue's row and the result of each, in its order.

        Parameters
        ----------
        names : sequence of str, optional
            Ids of attacks. None (default) runs all.
        known : int or sequence of int, optional
            How many people the attacker knows, or which rows; asked beside each attack's own number, because knowing
            more must never look safer.
        """
        jobs: list[tuple[Any, tuple[Any, ...]]] = []
        for row in attack_catalogue() if names is not None else self.attacks:
            if names is not None and row.id not in names:
                continue
            jobs.append((row, ()))
            if known is not None and row.goal == "values" and {"records", "pairs"} & set(row.needs):
                jobs.append((row, (known,)))

        def run(job: tuple[Any, tuple[Any, ...]]) -> Result:
            return self._run(WHOLE if job[0].whole and self.whole is not None else NUMBERS, job[0].id, job[1])

        threads = side_by_side(self.tables.original.size)
        ran = in_order(jobs, run, threads, largest_first=lambda job: how_long(job[0].id))
        for (row, more), result in zip(jobs, ran, strict=True):
            self.results.append(result)
            if not more:
                self._by_known[row.id, result.known] = result
            yield row, result

    def _run(self, *asked: Any) -> Result:
        """Return the result of an attack, run here or wherever there is a process for it."""
        result: Result = (self.errands or self.referees)(asked)
        return result

    @cached_property
    def curve(self) -> Any:
        """What is recovered against the number of known people."""
        return measure_curve(partial(self._run, NUMBERS), *self.tables.original.shape, done=self._by_known)

    @cached_property
    def verbatim(self) -> Any:
        """Rows and cells that stand as they are, against chance; None if the columns are new ones."""
        tables = self.tables
        if not tables.same_columns:
            return None
        if self.whole is not None and not all(self.whole.kept):
            return find_whole_verbatim(self.whole.original, self.whole.released, seed=self.seed)
        return find_verbatim(tables.original, tables.released, seed=self.seed)

    @cached_property
    def copies(self) -> Copies | None:
        """Who stands in the release as they are or nearly so, wherever; None where it may be chance."""
        tables = self.tables
        if not tables.same_columns:
            return None
        # kept clusters say where people of a kind stand
        placed = self.order == "given" or self._company is not None
        return measure_copies(tables.original, tables.released, seed=self.seed, placed=placed, finder=self._finder)

    @cached_property
    def order_is_known(self) -> bool:
        """Whether who is who was told, was found, or shows: in the rows themselves, or in what attacks so far got."""
        if self.order != "assumed" and not self._only_looks:
            return self.order != "not known"
        got = max((result.lift_low or 0.0 for result in self.results), default=0.0)
        exposed, tables = max((group.lift_low for group in self.exposed), default=0.0), self.tables
        if (
            self.open_columns
            or self.carried
            or got > _TELLS
            or exposed > 0.0
            or stands_in_order(tables.original, tables.released, seed=self.seed)
            or (self.whole is not None and categories_in_order(self.whole, seed=self.seed))
        ):
            return True
        return any(point.lift_low > _TELLS for point in self.curve.points)

    @property
    def open_columns(self) -> tuple[tuple[str, str], ...]:
        """The columns that the attacks so far lay open, and what that takes."""
        return open_columns(self.tables.names, self.results, self.left_by_clusters)

    @property
    def _company(self) -> Integers | None:
        """Rows with the same number share all clusters that the release keeps, or those of one number; None: none."""
        return None if self._kept.company is None else self._kept.company.groupings

    @cached_property
    def left_by_clusters(self) -> Floats:
        """Return the share of each column's variance that is left inside the clusters that a release keeps."""
        return left_inside(self.tables.original, self._company)

    @cached_property
    def carried(self) -> tuple[Carried, ...]:
        """What the release says beside its columns, in new ones, in how texts are written, in last digits and gaps."""
        told = {"order": self._order, "company": self._company, "kept": self._said_kept, "seed": self.seed}
        return measure_beside(self._as_read, self.tables, self.whole, self._aside, **told)

    @cached_property
    def whole_figures(self) -> Whole | None:
        """Who is alone, and what is told of whom, by whole rows; None for tables of plain numbers."""
        if self.whole is None:
            return None
        return measure_whole(self.whole, company=self._company, kept=self._said_kept, seed=self.seed)

    @cached_property
    def exposed(self) -> tuple[ExposedGroup, ...]:
        """What the attacks so far get of the people who stand alone, the worst group first."""
        return measure_exposed(
            self.referee,
            self.tables.original,
            self.results,
            company=self._kept.company,
            fewest=int(self.parameters.get("min_atom") or 0),
            seed=self.seed,
        )

    @cached_property
    def equality(self) -> tuple[ColumnEquality, ...]:
        """How often the cells of each column stand as they are; nothing if the columns are new ones."""
        tables, whole = self.tables, self.whole
        if not tables.same_columns:
            return ()
        kept = () if whole is None else [name for name, stays in zip(whole.names, whole.kept, strict=True) if stays]
        return measure_equality(tables.names, tables.original, tables.released, company=self._company, kept=kept)

    @cached_property
    def shadowed(self) -> Shadowed | None:
        """What shadow releases tell; None where none were asked for."""
        if not self._shadows:
            return None
        if self.whole is not None:
            raise ParameterError("shadow releases are made of tables of numbers", hint="leave shadows out")
        return measure_shadows(self._trying, self.tables.original, self._shadows, seed=self.seed)

    def grade(self, *, curve: bool = True, verbatim: bool = True, whole: bool = True) -> Judgement:
        """Return the grade and the verdict on the attacks so far.

        Parameters
        ----------
        curve : bool
            Whether the curve of known people counts, which takes its time. Default: True.
        verbatim : bool
            Whether rows that stand as they are count, beyond what attacks say of them. Default: True.
        whole : bool
            Whether uniqueness and inference over categories count. Default: True.
        """
        found = judge(
            self.results,
            *self.tables.original.shape,
            curve=self.curve if curve else None,
            verbatim=self.verbatim if verbatim else None,
            whole=self.whole_figures if whole else None,
            exposed=self.exposed,
            equality=self.equality if verbatim else (),
            shadowed=self.shadowed,
            copies=self.copies if verbatim else None,
            open_columns=self.open_columns,
            carried=self.carried,
            order_is_known=self.order_is_known,
            asked=() if self.order_is_known else self.questions(),
            seed=self.seed,
        )
        laid_open = found.grade == "A" and any_open(self.results, self.left_by_clusters)
        return replace(found, grade="B") if laid_open else found  # the verdict names the columns

    def privacy(self) -> Privacy:
        """Return what is left to hide of each column after the attacks so far."""
        tables = self.tables
        both = tables.original, tables.released
        return measure_privacy(tables.names, *both, self.results, same_columns=tables.same_columns)

    def utility(self, **options: Any) -> Any:
        """Return what the release is still good for; options go to `measure_utility`."""
        tables = self.tables
        drawn = tables.same_columns and (self.order == "not known" or claims_drawn_rows(self.method))
        told = {"seed": self.seed, "same_columns": tables.same_columns, "categories": self._categories, "drawn": drawn}
        usual = {**told, **self.effort.utility, "clusters": self.effort.clusters}
        return measure_utility(tables.original, tables.released, **{**usual, **options})

    def inversion(self) -> Inverted:
        """Return linkage and disclosure before and after the strongest inversion, on the same rows and people."""
        return measure_inversion(
            self.referee,
            self.results,
            self.tables,
            work=self.effort.work,
            seed=self.seed,
            asked=lambda: self._answers if self.order_is_known else None,
        )

    def questions(self) -> tuple[Answer, ...]:
        """Return what the three questions of the European regulators come to, without inversion."""
        return self._answers

    @cached_property
    def _answers(self) -> tuple[Answer, ...]:
        tables = self.tables
        if not tables.same_columns:
            return ()
        ask = answer_questions if self.order_is_known else ask_without_order
        return ask(tables.original, tables.released, seed=self.seed)
