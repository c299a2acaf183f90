"""Atom exchange: rows swap single values with their like, inside the regions of the kept clusterings."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from sfumato._arrays import Floats, Integers
from sfumato.core.keys import Key
from sfumato.core.passes import Facts, Rounds, ask, ask_both
from sfumato.core.rows import Rows
from sfumato.core.secret import Hidden
from sfumato.core.stream import Streams
from sfumato.core.summaries import Moments, Sample
from sfumato.exceptions import ParameterError
from sfumato.frames.coded import Coding, find_coding
from sfumato.frames.kinds import EXCHANGED_KINDS, guess_number
from sfumato.perturb.exchange.bound import bound_columns
from sfumato.perturb.exchange.released import Draw, Exchanged
from sfumato.perturb.exchange.space import MixedSpace, categories, find_mixed_space
from sfumato.perturb.guard.atoms import AtomMoments, Atoms, atom_codes
from sfumato.perturb.guard.named import name_clusterings
from sfumato.perturb.guard.settle import column_decimals
from sfumato.perturb.guard.shell import SAMPLE_ROWS, Collected, GuardShell, Stored
from sfumato.perturb.guard.trial import GOOD, TRIED_ROWS, Trial


@dataclass(frozen=True, repr=False)
class _Fitted(Hidden):
    space: MixedSpace
    atoms: Atoms
    stored: Stored
    singles: tuple[int, ...]
    unrepaired: tuple[int, ...]


class AtomExchange(GuardShell):
    """Let the rows of each atom exchange their values, column by column, inside its region.

    Atoms are the rows that share the labels of all kept clusterings, in the miner's space: numbers standardised,
    categories one-hot. Inside an atom any two rows may exchange the value of a column: the values of every column stay,
    and with them means, counts and centres, and every released value is one that exists. Exchanges that would take a
    row out of its region are exchanged back. Continuous numbers are smeared first: neighbours in the order of values
    move towards each other, so that nobody's exact value stands in the release.

    Rows of atoms below `min_atom` exchange values with rows of the atoms that are most alike.

    Parameters
    ----------
    clusterings : sequence of int or fitted clusterers
        What to keep: numbers of k-means clusters, or clusterers fitted in the space of `scaling`. Default: 2 to 8.
    kinds : mapping of column to str, optional
        "continuous", "count" (whole values that stay values of the column), or "category" (codes from 0 to the number
        of categories less one). Columns that are not named are looked at. Default: None.
    held : mapping of column to sequence of numbers, optional
        Values of continuous columns that mean something and are not smeared, such as a 0 that many rows have. Frequent
        values are found without it. Default: None.
    together : sequence of sequences of columns, optional
        Columns whose values belong together and are exchanged as one. None (default) takes columns of which one
        determines the other, as a town its region; an empty list takes none.
    min_atom : int
        Smallest atom, in rows, that exchanges values only in itself. Default: 5.
    exact_centres : bool
        Whether every kept centre stays exactly where it is, which publishes rows that are alone. Default: False.
    scaling : "std", "range", "gower" or None
        Space in which the clusterings are named. Default: "std".
    draws : int
        Releases that are tried on tables of up to 4,096 rows: the one is kept in which k-means with free starts agrees
        best with the original. Default: 6.
    decimals : int or mapping of column to int, optional
        Decimals of the released columns; integer columns always have none. Default: None.
    key, release, insecure_seed, columns
        See `Perturber`.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> table = np.column_stack([rng.normal(size=300), rng.integers(0, 3, 300), rng.poisson(2, 300)])
    >>> released = AtomExchange([2, 3], kinds={"x1": "category"}, insecure_seed=1).fit_transform(table)
    >>> bool((np.sort(released[:, 1]) == np.sort(table[:, 1])).all()), bool((released == table).all(axis=1).any())
    (True, False)
    """

    method_id: ClassVar[str] = "exchange"
    exchanges: ClassVar[bool] = True

    def __init__(
        self,
        clusterings: Sequence[Any] = (2, 3, 4, 5, 6, 7, 8),
        kinds: Mapping[str, str] | None = None,
        held: Mapping[str, Sequence[float]] | None = None,
        together: Sequence[Sequence[str]] | None = None,
        min_atom: int = 5,
        exact_centres: bool = False,
        scaling: str | None = "std",
        draws: int = 6,
        decimals: Mapping[str, int] | int | None = None,
        *,
        key: Key | None = None,
        release: str = "r0",
        insecure_seed: int | None = None,
        columns: Sequence[str | int] | None = None,
    ) -> None:
        self.clusterings = clusterings
        self.kinds = kinds
        self.held = held
        self.together = together
        self.min_atom = min_atom
        self.exact_centres = exact_centres
        self.scaling = scaling
        self.draws = draws
        self.decimals = decimals
        self.key = key
        self.release = release
        self.insecure_seed = insecure_seed
        self.columns = columns

    def fit(self, X: Any, y: Any = None, *, threads: int = 1) -> Self:
        """Learn which rows may exchange values; dataframes may hold text, dates and missing cells.

        Parameters
        ----------
        X : dataframe or array of shape (n, d)
        threads : int
            Workers; the result does not depend on it.
        """
        self._coding = find_coding(X, self.columns, self.kinds)
        return super().fit(X if self._coding is None else self._coding.encode(X), threads=threads)

    def fit_transform(self, X: Any, y: Any = None, *, threads: int = 1) -> Any:
        """Fit on a table and release it; dataframes may hold text, dates and missing cells.

        Parameters
        ----------
        X : dataframe or array of shape (n, d)
        threads : int
            Workers; the result does not depend on it.
        """
        self._coding = find_coding(X, self.columns, self.kinds)
        if self._coding is None:
            return super().fit_transform(X, threads=threads)
        return self._coding.decode(super().fit_transform(self._coding.encode(X), threads=threads), X)

    def transform(self, X: Any, *, row_start: int | None = None, threads: int = 1) -> Any:
        """Release the fitted table.

        Parameters
        ----------
        X : dataframe or array of shape (n, d)
            The fitted table, or with `row_start` a batch of it.
        row_start : int, optional
            Absolute number of the first row of a batch.
        threads : int
            Workers; the result does not depend on it.
        """
        coding = vars(self).get("_coding")
        if coding is None:
            return super().transform(X, row_start=row_start, threads=threads)
        return coding.decode(super().transform(coding.encode(X), row_start=row_start, threads=threads), X)

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
        return tuple(centres * 2.0**-fitted.space.bits for centres in fitted.atoms.named.centres)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        for name, kind in (self.kinds or {}).items():
            if kind not in EXCHANGED_KINDS:
                raise ParameterError(
                    f"AtomExchange: {kind!r} is no kind of column ({name!r})", hint=", ".join(EXCHANGED_KINDS)
                )

    def _rounds(self, facts: Facts, streams: Streams) -> Rounds:
        coding: Coding = vars(self).get("_coding") or Coding()
        sample = Sample(SAMPLE_ROWS, streams.subkey("clustering sample"))
        moments, sample = yield from ask_both(Moments(facts.low, facts.high, cross=False), sample)
        rows = sample.values()
        kinds, held, decimals = self._kinds(facts, rows, coding)
        space = find_mixed_space(facts, moments, categories(facts, kinds), self.scaling)
        named = name_clusterings(space, self.clusterings, rows, sample.labels(), streams, int(self.draws))

        def codes(tile: Floats, _: Rows) -> tuple[Integers, Floats]:
            return atom_codes(named.labels(space.enter(tile)), named.sizes), tile[:0]

        atoms = Atoms.from_moments(named, (yield from ask(AtomMoments(codes, cross=False))))
        labels, tile, of = yield from self._all_rows(facts, space, atoms)
        smeared = [kind == "continuous" for kind in kinds]
        exchanged = Exchanged(
            space,
            atoms,
            labels,
            tile,
            of,
            self._units(facts, rows, kinds),
            smeared,
            held,
            decimals,
            int(self.min_atom),
            exact=bool(self.exact_centres),
        )
        chosen = self._best(exchanged, space, atoms, tile, of, streams)
        as_they_are = labels[(chosen.rows == tile).all(axis=0)]
        stored = Stored(labels, chosen.rows)
        return _Fitted(space, atoms, stored, _numbers(as_they_are), _numbers(labels[chosen.outside]))

    def _best(
        self, exchanged: Exchanged, space: MixedSpace, atoms: Atoms, tile: Floats, of: Integers, streams: Streams
    ) -> Draw:
        """Return the draw in which a miner finds most of what is to be kept; large tables need one only."""
        draws = int(self.draws) if tile.shape[1] <= TRIED_ROWS else 1
        if draws == 1:
            return exchanged.draw(streams.subkey("exchange", "0"))
        trial = Trial(atoms, space.enter(tile), of, streams, standardised=self.scaling == "std")
        best, least = None, np.inf
        for number in range(draws):
            drawn = exchanged.draw(streams.subkey("exchange", str(number)))
            wrong = trial.disagreement(space.enter(drawn.rows))
            if wrong < least:
                best, least = drawn, wrong
            if wrong <= GOOD:
                break
        assert best is not None
        return best

    def _all_rows(
        self, facts: Facts, space: MixedSpace, atoms: Atoms
    ) -> Generator[Any, Any, tuple[NDArray[np.uint64], Floats, Integers]]:
        """Yield a pass that collects all rows; return their labels, values and atoms."""

        def rows_of(tile: Floats, _: Rows) -> tuple[Floats, Integers]:
            return tile, atoms.of(space.enter(tile))

        found = yield from ask(Collected(rows_of))
        collected: tuple[NDArray[np.uint64], Floats, Integers] = found.sorted(facts.n_columns)
        return collected

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

    def _units(self, facts: Facts, sample: Floats, kinds: Sequence[str]) -> list[tuple[int, ...]]:
        """Return the columns that move together, each in one unit."""
        if self.together is None:
            units = bound_columns(sample, kinds)
        else:
            units = []
            for names in self.together:
                unknown = [name for name in names if name not in facts.names]
                if unknown:
                    raise ParameterError(f"AtomExchange: together names a column {unknown[0]!r} that is not released")
                units.append(tuple(facts.names.index(name) for name in names))
        taken = [column for unit in units for column in unit]
        if len(set(taken)) < len(taken):
            raise ParameterError("AtomExchange: a column stands twice in together", hint="join the two groups")
        return [*units, *((column,) for column in range(facts.n_columns) if column not in taken)]

    def _kernel(self, fitted: _Fitted, tile: Floats, rows: Rows, streams: Streams) -> Floats:
        return fitted.stored.find(rows.labels())


def _numbers(labels: NDArray[np.uint64]) -> tuple[int, ...]:
    return tuple(int(label) for label in labels)
