"""Atom exchange: rows swap single values with their like, inside the regions of the kept clusterings."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from sfumato._arrays import Flags, Floats, Integers
from sfumato.core.keys import Key
from sfumato.core.passes import Facts, Rounds, ask, ask_both
from sfumato.core.relations import parse_relation
from sfumato.core.rows import Rows, WordStream, without
from sfumato.core.secret import Hidden
from sfumato.core.stream import Streams
from sfumato.core.summaries import Moments
from sfumato.exceptions import ParameterError
from sfumato.frames.coded import Coding, find_coding
from sfumato.frames.frame import take_rows
from sfumato.frames.kinds import EXCHANGED_KINDS, guess_number
from sfumato.perturb.exchange.bonds import BrokenRows, find_bonds
from sfumato.perturb.exchange.bound import units_of
from sfumato.perturb.exchange.partners import Partners
from sfumato.perturb.exchange.released import release_groups
from sfumato.perturb.exchange.setting import Setting
from sfumato.perturb.exchange.small_rows import Met, meet
from sfumato.perturb.exchange.space import MixedSpace, categories, find_mixed_space, rare_levels
from sfumato.perturb.guard.atoms import Atoms
from sfumato.perturb.guard.exposed import with_company
from sfumato.perturb.guard.joined import Joined
from sfumato.perturb.guard.named import USUAL_CARE, name_clusterings
from sfumato.perturb.guard.refound import SOME_DRAWS, Refound, collect_and_ask
from sfumato.perturb.guard.settle import column_decimals
from sfumato.perturb.guard.shell import GuardShell
from sfumato.perturb.guard.space import other_weights
from sfumato.perturb.guard.sums import ClusterSums
from sfumato.perturb.guard.trial import GOOD, TRIED_ROWS, Trial
from sfumato.perturb.mechanism.collected import Collected, Stored
from sfumato.perturb.mechanism.grouping import Everyone, release_in_place


@dataclass(frozen=True, repr=False)
class _Fitted(Hidden):
    """What the rounds have learnt: with it, every group of rows can be released by itself; see `Grouping`."""

    setting: Setting
    met: Met
    subkey: bytes
    joined: Joined | None = None
    stored: Stored | None = None
    singles: tuple[int, ...] = ()
    unrepaired: tuple[int, ...] = ()

    @property
    def space(self) -> MixedSpace:
        return self.setting.space

    @property
    def atoms(self) -> Atoms:
        return self.setting.atoms

    def groups(self, tile: Floats, labels: NDArray[np.uint64]) -> Integers:
        return self.setting.groups(labels, self.atoms.of(self.space.enter(tile)), self.subkey)

    def bundles(self, rows: int) -> Integers:
        return self.setting.bundles(rows)

    def release(self, tile: Floats, labels: NDArray[np.uint64], groups: Integers) -> tuple[Floats, Flags]:
        done = release_groups(self.setting, self.met, labels, tile, groups, self.subkey)
        return done.rows, done.outside


class AtomExchange(GuardShell):
    """Let the rows of each atom exchange their values, column by column, inside its region.

    Atoms are the rows that share the labels of all kept clusterings, in the miner's space: numbers standardised,
    categories one-hot. Inside an atom any two rows may exchange the value of a column: the values of every column stay,
    and with them nearly all means, counts and centres, and every released value is one that exists. In each group a
    few rows hold another row's value instead of their own, so that two releases which differ by one person do not tell
    that person; `exact_centres` leaves that out. Exchanges that would take a row out of its region are exchanged back.
    Continuous numbers are smeared first: neighbours in the order of values move towards each other, so that nobody's
    exact value stands in the release.

    Rows of atoms below `min_atom` exchange values with rows of the atoms that are most alike.

    Parameters
    ----------
    clusterings : "ladder", or sequence of int, str, fitted clusterers or pipelines
        What to keep. "ladder" (default) is k-means with every number of clusters from 2 to 20 (to 12 below 2,000
        rows), and where there are categories k-prototypes 3 and 5. Otherwise numbers of k-means clusters,
        "k-prototypes 3" and its like (left out where a table has no categories: it is k-means there), and all that
        `AtomMixing` takes.
    detail : "coarse", "medium", "fine", or mapping of str to number
        How finely the ladder may cut the table; see `AtomMixing`. Default: "medium".
    kinds : mapping of column to str, optional
        "continuous", "count" (whole values that stay values of the column), or "category" (codes from 0 to the number
        of categories less one). Columns that are not named are looked at. Default: None.
    held : mapping of column to sequence of numbers, optional
        Values of continuous columns that mean something and are not smeared, such as a 0 that many rows have. Frequent
        values are found without it. Default: None.
    together : sequence of sequences of columns, optional
        Columns whose values belong together and are exchanged as one. None (default) takes columns of which one
        determines the other, as a town its region; an empty list takes none.
    relations : sequence of str, optional
        What holds in every row and must hold in the release: "total = a + b", "from <= to", "x = -1 exactly where
        y = 0". None (default) keeps those that all rows keep and hardly keep by chance; an empty list keeps none.
    min_atom : int
        Smallest atom, in rows, that exchanges values only in itself. Default: 5.
    exact_centres : bool
        Whether every kept centre stays exactly where it is, which publishes rows that are alone. Default: False.
    scaling : "std", "range", "round range", "gower" or None
        Space in which the clusterings are named. Default: "std".
    other_scalings : sequence of "std", "range" or "raw"
        Scalings of the numbers in which k-means is kept, too. Default: none.
    draws : int
        Releases that are tried on tables of up to 4,096 rows: the one is kept in which k-means with free starts agrees
        best with the original. Default: 12.
    decimals : int or mapping of column to int, optional
        Decimals of the released columns; integer columns always have none. Default: None.
    exposed : "hold back" or "publish"
        What becomes of people without company, who are far from ten others or for whom k-means makes a cluster of
        fewer: "hold back" leaves their rows out of the release (`held_back_rows` lists them), and no cluster of so few
        is kept. "publish" keeps every row and every cluster, however small. Default: "hold back".
    most_held_back : number, optional
        Share of the rows that may be held back. Beyond it the ladder keeps no cluster for them, and clusterings of
        one's own are refused. None (default): a hundredth, and of a small table up to 40 rows, at most 3 in 100.
    key, release, insecure_seed, columns
        See `Perturber`.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> table = np.column_stack([rng.uniform(size=300), rng.integers(0, 3, 300), rng.integers(0, 5, 300)])
    >>> released = AtomExchange([2, 3], kinds={"x1": "category"}, insecure_seed=1).fit_transform(table)
    >>> set(released[:, 1]) <= set(table[:, 1]), bool((released == table).all(axis=1).any())
    (True, False)
    """

    method_id: ClassVar[str] = "exchange"
    exchanges: ClassVar[bool] = True
    meets: ClassVar[bool] = True

    def __init__(
        self,
        clusterings: Sequence[Any] | str = "ladder",
        detail: str | Mapping[str, float] = "medium",
        kinds: Mapping[str, str] | None = None,
        held: Mapping[str, Sequence[float]] | None = None,
        together: Sequence[Sequence[str]] | None = None,
        relations: Sequence[str] | None = None,
        min_atom: int = 5,
        exact_centres: bool = False,
        scaling: str | None = "std",
        other_scalings: Sequence[str] = (),
        draws: int = 12,
        decimals: Mapping[str, int] | int | None = None,
        exposed: str = "hold back",
        most_held_back: float | None = None,
        *,
        key: Key | None = None,
        release: str = "r0",
        insecure_seed: int | None = None,
        columns: Sequence[str | int] | None = None,
    ) -> None:
        self.clusterings = clusterings
        self.detail = detail
        self.kinds = kinds
        self.held = held
        self.together = together
        self.relations = relations
        self.min_atom = min_atom
        self.exact_centres = exact_centres
        self.scaling = scaling
        self.other_scalings = other_scalings
        self.draws = draws
        self.decimals = decimals
        self.exposed = exposed
        self.most_held_back = most_held_back
        self.key = key
        self.release = release
        self.insecure_seed = insecure_seed
        self.columns = columns

    def fit(self, X: Any, y: Any = None, *, threads: int | None = None, n_jobs: int | None = None) -> Self:
        """Learn which rows may exchange values; dataframes may hold text, dates and missing cells.

        Parameters
        ----------
        X : dataframe or array of shape (n, d)
            The table, whole.
        y : ignored
            Present for scikit-learn's sake. Default: None.
        threads, n_jobs : int, optional
            Workers; the result does not depend on it. `n_jobs` is scikit-learn's name for it, and -1 means one for each
            processor. Default: one for each processor that the process may use.
        """
        self._coding = find_coding(X, self.columns, self.kinds)
        return super().fit(X if self._coding is None else self._coding.encode(X), threads=threads, n_jobs=n_jobs)

    def fit_transform(self, X: Any, y: Any = None, *, threads: int | None = None, n_jobs: int | None = None) -> Any:
        """Fit on a table and release it; dataframes may hold text, dates and missing cells.

        Parameters
        ----------
        X : dataframe or array of shape (n, d)
            The table, whole.
        y : ignored
            Present for scikit-learn's sake. Default: None.
        threads, n_jobs : int, optional
            Workers; the result does not depend on it. `n_jobs` is scikit-learn's name for it, and -1 means one for each
            processor. Default: one for each processor that the process may use.
        """
        self._coding = find_coding(X, self.columns, self.kinds)
        if self._coding is None:
            return super().fit_transform(X, threads=threads, n_jobs=n_jobs)
        released = super().fit_transform(self._coding.encode(X), threads=threads, n_jobs=n_jobs)
        return self._coding.decode(released, self._present(X, 0))

    def transform(
        self, X: Any, *, row_start: int | None = None, threads: int | None = None, n_jobs: int | None = None
    ) -> Any:
        """Release the fitted table.

        Parameters
        ----------
        X : dataframe or array of shape (n, d)
            The fitted table, or with `row_start` a batch of it.
        row_start : int, optional
            Absolute number of the first row of a batch.
        threads, n_jobs : int, optional
            Workers; the result does not depend on it. `n_jobs` is scikit-learn's name for it, and -1 means one for each
            processor. Default: one for each processor that the process may use.
        """
        coding = vars(self).get("_coding")
        if coding is None:
            return super().transform(X, row_start=row_start, threads=threads, n_jobs=n_jobs)
        released = super().transform(coding.encode(X), row_start=row_start, threads=threads, n_jobs=n_jobs)
        return coding.decode(released, self._present(X, row_start or 0))

    def _present(self, X: Any, row_start: int) -> Any:
        """Return a table, or a batch of it, without the rows that are held back."""
        left, _ = without(self._state.held_back, row_start, row_start + len(X))
        return X if left is None else take_rows(X, left)

    def disclosed_rows(self) -> tuple[int, ...]:
        """Return the numbers of the rows that are published as they are.

        With exact centres those that are alone in their atom, or in one too small to exchange anything; otherwise none,
        unless a table has so few different rows that any two of them are alike.
        """
        singles: tuple[int, ...] = self._fitted_state().fitted.singles
        return singles

    def named_centres(self) -> tuple[Floats, ...]:
        """Return the centres of the clusterings that the release keeps, in the space in which they are named.

        They say as much about the originals as the centres of any clustering: for the owner, not for the release.
        """
        fitted: _Fitted = self._fitted_state().fitted
        named = fitted.atoms.named
        own = [centres for centres, modes in zip(named.centres, named.modes, strict=True) if not modes]
        return tuple(centres * 2.0**-fitted.space.bits for centres in own)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        for text in self.relations or ():
            parse_relation(text)
        for name, kind in (self.kinds or {}).items():
            if kind not in EXCHANGED_KINDS:
                raise ParameterError(
                    f"AtomExchange: {kind!r} is no kind of column ({name!r})", hint=", ".join(EXCHANGED_KINDS)
                )

    def _rounds(self, facts: Facts, streams: Streams) -> Rounds:
        coding: Coding = vars(self).get("_coding") or Coding()
        coded = bool(coding.codes) or "category" in (self.kinds or {}).values()
        moments, sample, foreign = yield from self._sampled(facts, streams, coded=coded)
        rows = sample.values()
        kinds, held, decimals = self._kinds(facts, rows, coding)
        space = self._space(facts, moments, rows)
        inside = space.enter(np.ascontiguousarray(rows.T))
        ladder, care = self._on_ladder, min(int(self.draws), USUAL_CARE)
        wanted = self._wanted(facts, categories=bool(space.categories))
        weights = other_weights(facts, moments, space, self.other_scalings)
        named = name_clusterings(
            space, wanted, rows, sample.labels(), streams, care, ladder=ladder, weights=weights, foreign=foreign
        )
        if self._wants_company(facts):
            named = with_company(named, inside, facts.n_rows)

        gaps = {**self._gaps, **{name: held[0] for name, held in coding.held.items()}}
        codes = {name: one.by_text() for name, one in coding.codes.items()}
        bonds = find_bonds(self.relations, facts, rows, kinds, decimals, gaps, codes)
        sums, broken = yield from ask_both(ClusterSums(space, named), BrokenRows(bonds))
        atoms, bonds, joined = sums.atoms(), bonds.unbroken(broken, declared=bool(self.relations)), None
        if ladder and not self._exact:
            atoms, joined = self._join(space, atoms, inside)
        if atoms.have_joined:
            sums = yield from ask(ClusterSums(space, named, atoms))
        setting = Setting(
            space,
            atoms,
            units_of(self.together, facts.names, rows, kinds, bonds.units()),
            [kind == "continuous" for kind in kinds],
            held,
            decimals,
            int(self.min_atom),
            bonds,
            rare_levels(space, sums.sums[: named.sizes[0]].sum(axis=0), int(self.min_atom)),
            exact=bool(self.exact_centres),
        )
        some = SOME_DRAWS if Refound(named, facts.n_rows) else 1
        tried = int(self.draws) if facts.n_rows <= TRIED_ROWS else min(int(self.draws), some)
        fitted = yield from self._met(facts, setting, sums, streams, tried)
        return replace(fitted, joined=joined)

    def _space(self, facts: Facts, moments: Moments, sample: Floats) -> MixedSpace:
        kinds, _, _ = self._kinds(facts, sample, vars(self).get("_coding") or Coding())
        return find_mixed_space(facts, moments, categories(facts, kinds), self.scaling)

    def _met(
        self, facts: Facts, setting: Setting, sums: ClusterSums, streams: Streams, draws: int
    ) -> Generator[Any, Any, _Fitted]:
        """Yield a pass that collects the rows of small atoms and their partners; return what they exchange.

        Of a small table all rows are collected, and several draws are tried: the one is kept in which a miner finds
        most of what is to be kept. Large tables need one only.
        """
        partners = Partners.find(setting)
        stream = WordStream(streams.subkey("partners"))
        atoms, space = setting.atoms, setting.space

        def rows_of(tile: Floats, rows: Rows) -> tuple[Floats, Integers]:
            of = atoms.of(space.enter(tile))
            return tile, of if draws > 1 else np.where(partners.chosen(rows.labels(), of, stream), of, -1)

        def fitted(number: int, labels: NDArray[np.uint64], tile: Floats, of: Integers) -> _Fitted:
            subkey, chosen = streams.subkey("exchange", str(number)), partners.chosen(labels, of, stream)
            met = meet(setting, partners, sums, labels[chosen], tile[:, chosen], of[chosen], subkey)
            return _Fitted(setting, met, subkey)

        def released(drawn: _Fitted, labels: NDArray[np.uint64], tile: Floats) -> Floats:
            return space.enter(drawn.release(tile, labels, drawn.groups(tile, labels))[0])

        def judged(filled: Collected) -> list[float]:
            names, rows, own = filled.sorted(facts.n_columns)
            every = (released(fitted(number, names, rows, own), names, rows) for number in range(draws))
            return [refound.wrong(space.enter(rows), one) for one in every]

        refound = Refound(atoms.named, facts.n_rows)
        filled, anew = yield from collect_and_ask(Collected(rows_of), judged if refound and draws > 1 else None)
        labels, tile, of = filled.sorted(facts.n_columns)
        if draws == 1:
            return fitted(0, labels, tile, of)
        trial = None
        if facts.n_rows <= TRIED_ROWS:
            trial = Trial(atoms, space.enter(tile), of, streams, standardised=self.scaling == "std")
        best, least = None, np.inf
        for number in range(draws):
            drawn = fitted(number, labels, tile, of)
            wrong = anew[number] if anew else 0.0
            wrong += 0.0 if trial is None else trial.disagreement(released(drawn, labels, tile))
            if wrong < least:
                best, least = drawn, wrong
            if wrong <= GOOD:
                break
        assert best is not None
        return best

    def _whole_rounds(self, facts: Facts, streams: Streams) -> Rounds:
        fitted: _Fitted = yield from self._rounds(facts, streams)
        everyone = yield from ask(Everyone(fitted, facts.n_columns, facts.n_rows))
        labels, values, groups = everyone.together()
        outcome = release_in_place(fitted, labels, values, groups)
        same, outside = (tuple(int(label) for label in one) for one in (outcome.same, outcome.outside))
        return replace(fitted, stored=Stored(labels, values), singles=same, unrepaired=outside)

    def _kinds(
        self, facts: Facts, sample: Floats, coding: Coding
    ) -> tuple[list[str], list[tuple[float, ...]], list[int | None]]:
        """Return kind, held values and decimals of every column: as given, or as a sample of the rows says."""
        given = {**(self.kinds or {}), **coding.kinds}
        known = column_decimals(coding.decimals if self.decimals is None else self.decimals, facts)
        kinds, held, decimals = [], [], []
        for column, name in enumerate(facts.names):
            own = (*(self.held or {}).get(name, ()), *coding.held.get(name, ()))
            values = sample[:, column]
            guess = guess_number(values[~np.isin(values, own)], integer=known[column] == 0)
            kinds.append(given.get(name, guess.kind))
            held.append((*guess.held, *(float(one) for one in own)))
            decimals.append(guess.decimals if known[column] is None else known[column])
        return kinds, held, decimals

    def _kernel(self, fitted: _Fitted, tile: Floats, rows: Rows, streams: Streams) -> Floats:
        assert fitted.stored is not None, "rows are released in groups"
        return fitted.stored.find(rows.labels())
