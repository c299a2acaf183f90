"""The cluster guard around another method: its rows are drawn back into the regions of the named clusterings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from sfumato._arrays import Flags, Floats, Integers
from sfumato.core.keys import Key
from sfumato.core.passes import Facts, Rounds, ask, fill, run_rounds
from sfumato.core.rows import RowRange, Rows
from sfumato.core.secret import Hidden
from sfumato.core.stream import Streams
from sfumato.core.summaries import Gathered
from sfumato.exceptions import ParameterError
from sfumato.perturb.guard.influence import mean_noise
from sfumato.perturb.guard.placing import place_atoms, pools
from sfumato.perturb.guard.rounds import ROUNDS, Displacement, Guard
from sfumato.perturb.guard.settle import Settling
from sfumato.perturb.guard.shell import Found, GuardShell
from sfumato.perturb.mechanism.base import Perturber
from sfumato.perturb.mechanism.checks import check_columns
from sfumato.perturb.mechanism.collected import Collected, Stored, WholeTable


@dataclass(frozen=True, repr=False)
class _Fitted(Hidden):
    inner: Any
    found: Found
    guard: Guard
    small: Flags
    stored: Stored
    settling: Settling
    unrepaired: tuple[int, ...] = ()


class Guarded(GuardShell):
    """Keep the named clusterings through any method that keeps the columns.

    A row that another method has moved out of the region of its clusters is drawn back along the line to a point inside
    (the mean of its atom, never the row itself), and the mean of every atom is put back. k-means from the named
    centres finds the same clusters however strong the noise. A miner with starts of its own may find others, because
    noise widens the clusters: `AtomMixing` does not.

    Parameters
    ----------
    perturber : perturber
        The method to guard; its own key, release and columns are not used. Default: None.
    clusterings : sequence of int or fitted clusterers
        What to keep: numbers of k-means clusters, or clusterers fitted in the space of `scaling`. Default: 2 to 8.
    scaling : "std", "range" or None
        Space in which the clusterings are named.
    min_atom : int
        Smallest atom, in rows, whose mean is kept. Default: 5.
    decimals : int or mapping of column to int, optional
        Decimals of the released columns; integer columns always have none.
    bounds : mapping of column to (low, high), optional
        Lowest and highest value of columns that the release must keep. Default: None.
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
    >>> from sfumato.perturb import AdditiveNoise
    >>> table = np.concatenate([np.random.default_rng(0).normal(size=(50, 2)) + c for c in (0.0, 3.0, 6.0)])
    >>> method = Guarded(AdditiveNoise(scale=1.0), clusterings=[3], insecure_seed=1)
    >>> released = method.fit_transform(table)
    >>> distance = lambda rows: ((rows[:, None] - method.named_centres()[0]) ** 2).sum(axis=2)
    >>> bool((distance(table).argmin(axis=1) == distance(released).argmin(axis=1)).all())
    True
    """

    method_id: ClassVar[str] = "guard"
    mixes: ClassVar[bool] = False

    def __init__(
        self,
        perturber: Perturber | None = None,
        clusterings: Sequence[Any] = (2, 3, 4, 5, 6, 7, 8),
        scaling: str | None = "std",
        min_atom: int = 5,
        decimals: Mapping[str, int] | int | None = None,
        bounds: Mapping[str, Sequence[float]] | None = None,
        exposed: str = "hold back",
        most_held_back: float | None = None,
        *,
        key: Key | None = None,
        release: str = "r0",
        insecure_seed: int | None = None,
        columns: Sequence[str | int] | None = None,
    ) -> None:
        self.perturber = perturber
        self.clusterings = clusterings
        self.scaling = scaling
        self.min_atom = min_atom
        self.decimals = decimals
        self.bounds = bounds
        self.exposed = exposed
        self.most_held_back = most_held_back
        self.key = key
        self.release = release
        self.insecure_seed = insecure_seed
        self.columns = columns

    def _check_parameters(self) -> None:
        super()._check_parameters()
        assert self.perturber is not None
        if isinstance(self.perturber, GuardShell):
            raise ParameterError(
                f"Guarded: {type(self.perturber).__name__} has a guard already", hint="name its clusterings there"
            )
        self.perturber._check_parameters()

    def _rounds(self, facts: Facts, streams: Streams) -> Rounds:
        assert self.perturber is not None
        check_columns(facts, type(self.perturber).__name__, self.perturber.min_columns)
        if self.perturber._names_out(facts.names) is not None:
            raise ParameterError(
                f"Guarded: {type(self.perturber).__name__} releases other columns than it gets, "
                "so there are no clusters to hold its rows in",
                hint="guard a method that keeps the columns",
            )
        inner = yield from self.perturber._rounds(facts, streams.child("inner"))
        found = yield from self._find(facts, streams)
        atoms = found.atoms
        small = atoms.counts < int(self.min_atom)

        def propose(tile: Floats, rows: Rows) -> tuple[Floats, Integers]:
            return self._proposed(inner, found, tile, rows, streams)

        def propose_small(tile: Floats, rows: Rows) -> tuple[Floats, Integers]:
            proposed, of = propose(tile, rows)
            return proposed, np.where(small[of], of, -1)

        def propose_large(tile: Floats, rows: Rows) -> tuple[Floats, Integers]:
            proposed, of = propose(tile, rows)
            return proposed, np.where(small[of], -1, of)

        # a method that looks at neighbours must see the whole table at once
        whole = (yield from ask(Gathered())).values() if self.tier == "table" else None
        collected = Collected(propose_small)
        if whole is None:
            collected = yield from ask(collected)
        else:
            collected.add(whole, RowRange(0, facts.n_rows))
        numbers, rows, of = collected.sorted(facts.n_columns)
        least = int(self.min_atom)
        around, pool = rows - atoms.means[of].T, pools(atoms, small, least)
        noise = mean_noise(
            atoms, found.variances(), small, found.regions, facts.names, streams, self._people, found.settling.ends
        )
        placed = place_atoms(atoms, pool, around, of, found.regions, joining=found.shift, noise=noise, min_rows=least)
        guard = Guard(placed.regions, placed.targets, atoms.counts)
        everything = None if whole is None else propose_large(whole, RowRange(0, facts.n_rows))
        for _ in range(ROUNDS):
            seen = Displacement(guard, guard.clips(propose_large))
            if everything is None:
                seen = yield from ask(seen)
            else:
                seen.add_rows(guard.clipped(*everything), everything[1])
            guard.learn(seen)
        fitted = _Fitted(inner, found, guard, small, Stored(numbers, placed.small_rows), found.settling)

        if whole is None:

            def release(settling: Settling, tile: Floats, rows: Rows) -> tuple[Floats, Flags]:
                return self._released(replace(fitted, settling=settling), tile, rows, streams)

            settling, unrepaired = yield from self._settle(found, guard, placed, small, release)
        else:
            inside, atoms_of = self._inside(fitted, whole, RowRange(0, facts.n_rows), streams)

            def finish(settling: Settling, tile: Floats, rows: Rows) -> tuple[Floats, Flags]:
                part = rows.labels().astype(np.int64)
                return settling.finish(inside[:, part], guard.targets, atoms_of[part], tile, rows, streams)

            passes = self._settle(found, guard, placed, small, finish)
            settling, unrepaired = run_rounds(passes, lambda wanted: fill(wanted, [WholeTable(whole)]), facts.n_rows)
        return replace(fitted, found=replace(found, seen=None), settling=settling, unrepaired=unrepaired)

    def _proposed(
        self, inner: Any, found: Found, tile: Floats, rows: Rows, streams: Streams
    ) -> tuple[Floats, Integers]:
        """Return what the method inside makes of a tile, in the space of the clusterings, and the rows' atoms."""
        assert self.perturber is not None
        of = found.of(tile, rows)
        made = self.perturber._kernel(inner, tile.copy(), rows, streams.child("inner"))
        return found.space.enter(made), of

    def _kernel(self, fitted: _Fitted, tile: Floats, rows: Rows, streams: Streams) -> Floats:
        return self._released(fitted, tile, rows, streams)[0]

    def _released(self, fitted: _Fitted, tile: Floats, rows: Rows, streams: Streams) -> tuple[Floats, Flags]:
        """Return the released tile, and which rows could not be kept in their regions."""
        inside, of = self._inside(fitted, tile, rows, streams)
        return fitted.settling.finish(inside, fitted.guard.targets, of, tile, rows, streams)

    def _inside(self, fitted: _Fitted, tile: Floats, rows: Rows, streams: Streams) -> tuple[Floats, Integers]:
        """Return the guarded rows of a tile in the space of the clusterings, before rounding, and their atoms."""
        proposed, of = self._proposed(fitted.inner, fitted.found, tile, rows, streams)
        is_small = fitted.small[of]
        released = np.empty_like(proposed)
        released[:, ~is_small] = fitted.guard.finished(proposed[:, ~is_small], of[~is_small])
        released[:, is_small] = fitted.stored.find(rows.labels()[is_small])
        return released, of
