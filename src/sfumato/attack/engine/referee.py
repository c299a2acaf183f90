"""The referee: alone holds the originals, hands out knowledge, bounds the work of attacks and scores them."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from sfumato.attack.atoms.kept_clusterings import Named
from sfumato.attack.atoms.regions import atoms_of, clusters_of, label_table
from sfumato.attack.catalogue import attacks, cost_of_known, default_known, load
from sfumato.attack.engine.decimals import infer_decimals
from sfumato.attack.engine.interface import WORK, Attack, Deadline, NothingFoundError, OutOfTimeError
from sfumato.attack.engine.judge import Judge, unscorable
from sfumato.attack.engine.knowledge import (
    Attributes,
    IntArray,
    Kinds,
    Knowledge,
    Marginals,
    Pairs,
    Places,
    frozen,
    frozen_rows,
)
from sfumato.attack.engine.result import Result
from sfumato.core.numbers import number_table
from sfumato.exceptions import DataError, ParameterError, SfumatoWarning

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

_LEVELS = np.linspace(0.0, 1.0, 101)
_HELPERS = 1_000  # people at most whose rows are known to somebody who looks for others


class Referee:
    """Holds the originals, builds `Knowledge` from copies, runs attacks and scores their guesses.

    Parameters
    ----------
    original : array-like of shape (n, d)
        The original table.
    released : array-like of shape (n, e)
        The released table, rows in the order of the released file.
    order : array-like of shape (n,), optional
        ``order[i]`` is the original row that stands in row i of the release. None: the same order.
    columns : sequence of str, optional
        Names of the original columns.
    method : str, optional
        Public identifier of the method.
    parameters : mapping, optional
        Public parameters of the method.
    decimals : sequence of (int or None), or 'infer', or None
        Decimals of the original columns that are public; 'infer' counts them in the original, None keeps
        them from the attacker.
    population : array-like of shape (s, d), optional
        People of the same population that are not in the table (rung 2). None: the attacker holds some of the
        table's own records without their rows, and those are not scored.
    releases : sequence of array-like of shape (n, e), optional
        Further releases, rows in the same order as `released`.
    labels : mapping of k to labels of shape (n,), or array-like of shape (n, number of clusterings), optional
        Labels of the original rows that are published with the release. None: attacks cluster what they hold.
    scaling : {'std', 'range', 'none'}, optional
        The space in which the labels were found.
    atoms : array-like of shape (n,), optional
        Original rows with the same number share all labels that the release tells, and attackers know which. None:
        those of `labels`.
    gaps : array-like of shape (n, e), optional
        Cells of the release that are missing; `released` holds what was filled in. None: no cell is.
    kinds : Kinds, optional
        Which columns hold categories and which are released as they are. None: all are perturbed numbers.
    company : array-like of shape (n,), optional
        Original rows with the same number are alike in what the release tells on purpose, as those of one cluster:
        guesses must beat those for somebody alike. None: a constant.
    likeness : array-like of shape (n, p), optional
        Where original rows lie in the space of what the release tells on purpose: guesses must fit a person better than
        the ten people most like that person. None: they need not.
    seed : int, optional
        Chooses known people and targets.
    max_targets : int, optional
        Largest number of rows that attacks are asked for.
    work : float, optional
        Cells that one attack may look at.
    seconds : float, optional
        Has no meaning any more: attacks count their work.

    Examples
    --------
    >>> import numpy as np
    >>> table = np.random.default_rng(1).normal(size=(60, 3))
    >>> referee = Referee(table, table @ np.linalg.qr(np.arange(9.0).reshape(3, 3) ** 2)[0])
    >>> referee.run("as-released").status, referee.run("affine").rate
    ('ineffective', 1.0)
    """

    def __init__(
        self,
        original: ArrayLike,
        released: ArrayLike,
        *,
        order: ArrayLike | None = None,
        columns: Sequence[str] | None = None,
        method: str | None = None,
        parameters: Mapping[str, object] | None = None,
        decimals: Sequence[int | None] | str | None = "infer",
        population: ArrayLike | None = None,
        releases: Iterable[ArrayLike] = (),
        labels: Mapping[int, ArrayLike] | ArrayLike | None = None,
        scaling: str = "std",
        atoms: ArrayLike | None = None,
        gaps: ArrayLike | None = None,
        kinds: Kinds | None = None,
        company: ArrayLike | None = None,
        likeness: ArrayLike | None = None,
        seed: int = 0,
        max_targets: int = 2000,
        work: float = WORK,
        seconds: float | None = None,
    ) -> None:
        if seconds is not None:
            warnings.warn("seconds has no meaning any more: attacks count their work", SfumatoWarning, stacklevel=2)
        table = number_table(original, "original", finite=False)
        n_rows, n_columns = table.shape
        self._released = frozen(number_table(released, "released", finite=False))
        if self._released.shape[0] != n_rows:
            raise DataError(
                f"the original has {n_rows} rows, the release {self._released.shape[0]}",
                hint="give the released rows of the same people, and their order if the release is shuffled",
            )
        self._releases = tuple(frozen(number_table(other, "releases", finite=False)) for other in releases)
        for other in self._releases:
            if other.shape != self._released.shape:
                raise DataError(f"a further release has shape {other.shape}, the first {self._released.shape}")
        positions = np.arange(n_rows) if order is None else np.asarray(order, dtype=np.int64)
        if positions.shape != (n_rows,) or not np.array_equal(np.sort(positions), np.arange(n_rows)):
            raise ParameterError(f"order must hold every row number from 0 to {n_rows - 1} once")
        # held in the order of the release: row i of both tables is the same person
        self._truth = table[positions]
        self._positions = positions
        self._columns = tuple(columns) if columns is not None else tuple(f"c{j}" for j in range(n_columns))
        if len(self._columns) != n_columns:
            raise ParameterError(f"{len(self._columns)} column names for {n_columns} columns")
        self._kinds = kinds
        self._gaps = None if gaps is None else np.array(gaps, dtype=np.bool_)
        if self._gaps is not None:
            self._gaps.setflags(write=False)
        self._method = method
        self._parameters = MappingProxyType(dict(parameters or {}))
        self._problem = unscorable(self._truth)
        alike = None if company is None else np.asarray(company, dtype=np.int64)[positions]
        space = None if likeness is None else np.asarray(likeness, dtype=np.float64)[positions]
        self._judge = Judge(self._truth, positions, seed, alike, space) if self._problem is None else None
        self._decimals = self._public_decimals(decimals)
        self._population = None if population is None else frozen(number_table(population, "population", finite=False))
        if self._population is not None and self._population.shape[1] != n_columns:
            raise DataError(f"the population has {self._population.shape[1]} columns, the original {n_columns}")
        self._work = work
        generator = np.random.default_rng(seed)
        # nested: 15 known people are the first 15 of 44 known people, so curves over the number are smooth
        self._people = generator.permutation(n_rows)
        self._targets = np.sort(generator.choice(n_rows, size=min(n_rows, max_targets), replace=False))
        self._attack_seed = int(generator.integers(2**31))
        self._labels = None if labels is None else frozen_rows(label_table(labels, n_rows)[positions])
        told = self._labels if atoms is None else np.asarray(atoms, dtype=np.int64)[positions][:, None]
        self._atoms = None if told is None else atoms_of(told)
        clusters = clusters_of(self._parameters, n_rows)
        self._named = Named(self._truth, self._labels, scaling, self._attack_seed, clusters)
        half = np.random.default_rng([seed, 5]).permutation(n_columns)[: (n_columns + 1) // 2]
        self._half = np.sort(half)  # the columns that someone knows who knows half of a record

    def _public_decimals(self, decimals: Sequence[int | None] | str | None) -> tuple[int | None, ...] | None:
        if decimals is None or self._problem is not None:
            return None
        if isinstance(decimals, str):
            if decimals != "infer":
                raise ParameterError(f"decimals must be 'infer', None or one number per column, got {decimals!r}")
            return tuple(infer_decimals(column) for column in self._truth.T)
        if len(decimals) != len(self._columns):
            raise ParameterError(f"{len(decimals)} numbers of decimals for {len(self._columns)} columns")
        return tuple(decimals)

    def knowledge(self, attack: Attack | str, known: int | Sequence[int] | None = None) -> Knowledge:
        """Return what this attack may see: read-only copies of what its catalogue row lists, nothing else.

        Parameters
        ----------
        attack : Attack or str
            The attack.
        known : int or sequence of int, optional
            Number of known people, or their rows in the release; by default the catalogue's.
        """
        return self._knowledge(_attack(attack), known)[0]

    def _known_rows(self, attack: Attack, known: int | Sequence[int] | None) -> IntArray:
        n_rows, n_columns = self._truth.shape
        if not {"records", "pairs", "attributes", "places"} & set(attack.entry.needs):
            return np.empty(0, dtype=np.int64)
        if known is None:
            known = default_known(attack.entry, n_rows, n_columns)
        if isinstance(known, int | np.integer):
            if not 0 <= known <= n_rows:
                raise ParameterError(f"known must lie between 0 and {n_rows} rows, got {known}")
            return np.array(self._people[: int(known)])
        rows = np.asarray(known, dtype=np.int64)
        if rows.size and (rows.min() < 0 or rows.max() >= n_rows or np.unique(rows).size != rows.size):
            raise ParameterError(f"known rows must be different row numbers between 0 and {n_rows - 1}")
        return np.array(rows)

    def _knowledge(self, attack: Attack, known: int | Sequence[int] | None) -> tuple[Knowledge, IntArray, IntArray]:
        """Return the knowledge, the rows of known people, and all rows that must not be scored."""
        needs = set(attack.entry.needs)
        rows = self._known_rows(attack, known)
        dropped = rows
        sample = None
        if "sample" in needs:
            sample = self._population
            if sample is None:
                size = min(len(self._people) // 4, 1000)
                dropped = np.array(self._people[len(self._people) - size :])
                sample = frozen(self._truth[dropped])
        helpers = rows  # whose rows are known
        if attack.entry.goal == "links" and {"pairs", "places"} & needs:  # others than those who are looked for
            wanted = max(3 * len(self._columns) + 10, min(len(self._people) // 10, _HELPERS))
            helpers = np.array(self._people[::-1][: min(wanted, len(self._people) // 4)])
            if known is None or isinstance(known, int | np.integer):
                rows = rows[~np.isin(rows, helpers)]
            helpers = helpers[~np.isin(helpers, rows)]
            dropped = rows
        held = Knowledge(
            released=self._released,
            columns=self._columns,
            targets=frozen_rows(self._targets),
            method=self._method,
            parameters=self._parameters,
            decimals=self._decimals,
            marginals=self._marginals if "marginals" in needs else None,
            sample=sample,
            records=frozen(self._truth[rows]) if "records" in needs and rows.size else None,
            pairs=(
                Pairs(frozen_rows(helpers), frozen(self._truth[helpers])) if "pairs" in needs and helpers.size else None
            ),
            attributes=self._attributes(rows) if "attributes" in needs and rows.size else None,
            clusterings=self._named.clusterings if "clusterings" in needs and self._problem is None else None,
            atom_moments=self._named.atom_moments if "atom_moments" in needs and self._problem is None else None,
            labels=self._labels,
            atoms=self._atoms if "attributes" in needs else None,
            releases=self._releases if "releases" in needs else (),
            kinds=self._kinds,
            gaps=self._gaps,
            places=self._places(helpers, rows) if "places" in needs and rows.size else None,
            seed=self._attack_seed,
        )
        return held, rows, dropped

    def _places(self, helpers: IntArray, rows: IntArray) -> Places:
        at = self._positions
        return Places(frozen_rows(helpers), frozen_rows(at[helpers]), frozen_rows(at[rows]))

    def _attributes(self, rows: IntArray) -> Attributes:
        told = None if self._atoms is None else frozen_rows(self._atoms.of_row[rows])
        return Attributes(frozen_rows(self._half), frozen(self._truth[np.ix_(rows, self._half)]), told)

    @cached_property
    def _marginals(self) -> Marginals:
        return Marginals(
            mean=frozen(self._truth.mean(axis=0)),
            sd=frozen(self._truth.std(axis=0)),
            levels=frozen(_LEVELS),
            quantiles=frozen(np.quantile(self._truth, _LEVELS, axis=0)),
        )

    def run(
        self, attack: Attack | str, known: int | Sequence[int] | None = None, *, work: float | None = None
    ) -> Result:
        """Run one attack and score it.

        Parameters
        ----------
        attack : Attack or str
            An attack, or its id in the catalogue.
        known : int or sequence of int, optional
            Number of known people, or their rows in the release; by default the catalogue's.
        work : float, optional
            Cells that this run may look at. None: the referee's.

        Returns
        -------
        Result
            Never raises for what an attack does; a wrong `known` is the caller's mistake and raises.
        """
        chosen = _attack(attack)
        row = chosen.entry
        n_rows, n_columns = self._truth.shape
        blank = Result(row.id, row.name, row.rung, row.cost, row.goal, "not applicable")
        if self._problem is not None or self._judge is None:
            return replace(blank, reason=self._problem or "")
        held, people, dropped = self._knowledge(chosen, known)
        blank = replace(blank, known=int(people.size), cost=cost_of_known(row, int(people.size), n_rows, n_columns))
        objection = chosen.applies(held)
        if objection is not None:
            return replace(blank, reason=objection)
        work = self._work if work is None else work
        try:
            with np.errstate(all="ignore"):  # what overflows in an attack is a bad guess, not a warning
                guess = chosen.run(held, Deadline(work))
            ran = replace(blank, status="ran", reason=guess.note)
            if row.goal == "links":
                scored = self._judge.links(ran, guess, people)
            elif "attributes" in row.needs:  # the people themselves are asked for
                scored = self._judge.values(ran, guess, people, dropped[:0], self._half)
            else:
                scored = self._judge.values(ran, guess, self._targets, dropped)
        except NothingFoundError as nothing:
            scored = replace(blank, status="ineffective", reason=str(nothing))
        except OutOfTimeError:
            scored = replace(blank, status="timed out", reason=f"no answer within {work:,.0f} cells of work")
        except Exception as error:  # noqa: BLE001 - an attack that breaks is a finding of the audit, not its end
            scored = replace(blank, status="error", reason=f"{type(error).__name__}: {error}")
        return scored

    def run_all(self, identifiers: Sequence[str] | None = None) -> tuple[Result, ...]:
        """Run all attacks of the catalogue, or the named ones.

        Parameters
        ----------
        identifiers : sequence of str, optional
            Ids of the catalogue.

        Returns
        -------
        tuple of Result
            In the order of the catalogue.
        """
        names = [row.id for row in attacks()] if identifiers is None else list(identifiers)
        return tuple(self.run(name) for name in names)


def run_attack(
    attack: Attack | str,
    original: ArrayLike,
    released: ArrayLike,
    *,
    known: int | Sequence[int] | None = None,
    seed: int = 0,
    **options: Any,
) -> Result:
    """Run one attack on one release through a referee.

    Parameters
    ----------
    attack : Attack or str
        An attack, or its id in the catalogue (`attacks()`).
    original : array-like of shape (n, d)
        The original table; the attack does not see it.
    released : array-like of shape (n, e)
        The released table.
    known : int or sequence of int, optional
        Number of known people, or their rows in the release.
    seed : int, optional
        Chooses known people and targets.
    **options
        Further parameters of `Referee`: order, columns, method, parameters, decimals, population, releases,
        max_targets, work.

    Returns
    -------
    Result
        Status, rate with interval, baseline, control, lift.

    Examples
    --------
    >>> import numpy as np
    >>> table = np.random.default_rng(1).normal(size=(80, 2))
    >>> turned = table @ np.array([[0.6, -0.8], [0.8, 0.6]])
    >>> result = run_attack("affine", table, turned)
    >>> result.status, result.rate, result.known
    ('ran', 1.0, 4)
    """
    return Referee(original, released, seed=seed, **options).run(attack, known)


def _attack(attack: Attack | str) -> Attack:
    return load(attack) if isinstance(attack, str) else attack
