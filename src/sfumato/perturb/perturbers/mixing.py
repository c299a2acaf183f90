"""Atom mixing: rows change places with their like, inside the regions of the named clusterings."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato._arrays import Flags, Floats, Integers
from sfumato.core.keys import Key
from sfumato.core.linear import sum_in_order
from sfumato.core.passes import Facts, Rounds, ask, ask_both
from sfumato.core.rows import Rows
from sfumato.core.secret import Hidden
from sfumato.core.stream import Streams
from sfumato.core.tiles import spans
from sfumato.perturb.guard.across import mix_collected, narrow_companies
from sfumato.perturb.guard.atoms import AtomMoments, Atoms, part_rows
from sfumato.perturb.guard.influence import mean_noise
from sfumato.perturb.guard.leaning import FEWEST_ROWS, LOOKED_ROWS, MORE_NOISE, Leaning
from sfumato.perturb.guard.placing import Placed, place_atoms, pools
from sfumato.perturb.guard.refound import SOME_DRAWS, Refound, collect_and_ask
from sfumato.perturb.guard.rounds import MENDED_CELLS, ROUNDS, Displacement, Guard, Mending, guarded
from sfumato.perturb.guard.settle import Settling
from sfumato.perturb.guard.shell import Found, GuardShell
from sfumato.perturb.guard.spread import DRAW_BITS, RELEASED, Drawing, Scatters, column_spread, scatter_of
from sfumato.perturb.guard.trial import GOOD, SMALL_ROWS, TRIED_ROWS, Trial
from sfumato.perturb.guard.wanted import usual_spread
from sfumato.perturb.mechanism.collected import Collected, Stored
from sfumato.perturb.mechanism.underway import Underway


@dataclass(frozen=True, repr=False)
class _Fitted(Hidden):
    found: Found
    guard: Guard
    scatters: Scatters
    stored: Stored
    singles: tuple[int, ...]
    shift: float
    settling: Settling
    unrepaired: tuple[int, ...] = ()
    draw: int = 0
    mended: Stored | None = None
    underway: Underway | None = None

    def forgotten(self) -> _Fitted:
        """Return it without what is kept of single rows while they are released."""
        return replace(self, underway=None, found=replace(self.found, seen=None))


class AtomMixing(GuardShell):
    """Replace the rows of each atom by mixtures of them that keep its mean and scatter, inside its region.

    Atoms are the rows that share the labels of all named clusterings. Rows of small atoms are mixed with their like by
    a random orthogonal matrix, rows of large ones are drawn from a normal law with the atom's own mean and covariance;
    then the guard draws each into its atom's region and puts the means back. k-means from the named centres finds the
    same clusters, and which row of an atom is whose cannot be told. The means themselves are moved by noise as large
    as what a few people of an atom make, so that two releases which differ by one person do not tell that person.

    Atoms of fewer than `min_atom` rows are not kept exactly: they are pooled, moved within their regions; the larger
    atoms make up for it. With `exact_centres` every named centre stays exactly where it is, which publishes rows that
    are alone in their atom: `disclosed_rows` lists them.

    Parameters
    ----------
    clusterings : "ladder", or sequence of int, str, fitted clusterers or pipelines
        What to keep. "ladder" (default) is k-means with every number of clusters from 2 to 20 (to 12 below 2,000
        rows). Otherwise some of "ladder", numbers of k-means clusters, other clusterers by name ("ward 5", "gaussian
        mixture 4", "hdbscan"; docs/guard.md lists them), clusterers fitted in the space of `scaling`, and pipelines of
        scikit-learn that end in a clusterer.
    detail : "coarse", "medium", "fine", or mapping of str to number
        How finely the ladder may cut the table, or limits of one's own: `atoms` (most groups of like rows, as a share
        of the rows), `rows` (fewest rows of a group), `residual` (share of the median column's variance that must be
        left inside groups), `loss` (share of the labels that may be given up for that), `people` (deviations by which
        the sum of a group is moved, against one person's influence). Default: "medium", which is 0.03, 16, 0.15, 0.02
        and 18.
    min_atom : int
        Smallest atom, in rows, whose mean is kept. Default: 5.
    exact_centres : bool
        Whether every kept centre stays exactly where it is, which publishes rows that are alone. Default: False.
    scaling : "std", "range", "round range" or None
        Space in which the clusterings are named; "round range" rounds ranges up to one digit, which may be published.
    other_scalings : sequence of "std", "range" or "raw"
        Scalings in which k-means is kept, too, for miners who scale by something else. More walls mean that more atoms
        join, and more labels are given up. Default: none.
    guard : bool
        False leaves out the guard: means and scatter are kept, labels are not. Default: True.
    spread : number
        Share of the standard deviation inside an atom that is kept. Less makes the clusters crisper, so that a miner
        with starts of its own finds them too; columns are treated so that all keep the same share of their variance.
        None (default) takes 0.8 on the ladder, 1 where mixtures or densities are named beside it, and 0.6 for
        clusterings of one's own, which are fewer.
    draws : int
        Releases that are tried on tables of up to 2,048 rows, half as many on tables of up to 4,096: the one is kept in
        which k-means with free starts agrees best with the original. The clusterings are named by 10 starts for each of
        them. More take longer. Default: 12.
    decimals : int or mapping of column to int, optional
        Decimals of the released columns; integer columns always have none.
    bounds : mapping of column to (low, high), optional
        Lowest and highest value of columns that the release must keep. Default: None.
    exposed : "hold back", "clip" or "publish"
        What becomes of people without company, who are far from ten others or for whom k-means makes a cluster of
        fewer: "hold back" leaves their rows out of the release (`held_back_rows` lists them), and no cluster of so few
        is kept. "clip" keeps no such cluster either, and releases these rows drawn nearer: the clusterings are those of
        a table whose farthest hundredth is, and many others may belong elsewhere for it. "publish" keeps every row and
        every cluster, however small. Default: "hold back".
    most_held_back : number, optional
        Share of the rows that may be held back. Beyond it the ladder keeps no cluster for them, and clusterings of
        one's own are refused. None (default): a hundredth, and of a small table up to 40 rows, at most 3 in 100.
    key, release, insecure_seed, columns
        See `Perturber`.

    Examples
    --------
    >>> import numpy as np
    >>> table = np.concatenate([np.random.default_rng(0).normal(size=(50, 2)) + c for c in (0.0, 9.0, 30.0)])
    >>> released = AtomMixing(clusterings=[3], insecure_seed=1).fit_transform(table)
    >>> bool(np.allclose(released[:50].mean(axis=0), table[:50].mean(axis=0), atol=0.5))
    True
    >>> bool((released == table).any())
    False
    """

    method_id: ClassVar[str] = "mix"

    def __init__(
        self,
        clusterings: Sequence[Any] | str = "ladder",
        detail: str | Mapping[str, float] = "medium",
        min_atom: int = 5,
        exact_centres: bool = False,
        scaling: str | None = "std",
        other_scalings: Sequence[str] = (),
        guard: bool = True,
        spread: float | None = None,
        draws: int = 12,
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
        self.clusterings = clusterings
        self.detail = detail
        self.min_atom = min_atom
        self.exact_centres = exact_centres
        self.scaling = scaling
        self.other_scalings = other_scalings
        self.guard = guard
        self.spread = spread
        self.draws = draws
        self.decimals = decimals
        self.bounds = bounds
        self.exposed = exposed
        self.most_held_back = most_held_back
        self.key = key
        self.release = release
        self.insecure_seed = insecure_seed
        self.columns = columns

    def disclosed_rows(self) -> tuple[int, ...]:
        """Return the numbers of the rows that are published as they are: alone in their atom, with exact centres."""
        singles: tuple[int, ...] = self._fitted_state().fitted.singles
        return singles

    def _rounds(self, facts: Facts, streams: Streams) -> Rounds:
        found = yield from self._find(facts, streams)
        leaning = self._leaning(found, streams)
        few, refound = facts.n_rows <= TRIED_ROWS, Refound(found.atoms.named, facts.n_rows)
        draws = int(self.draws) if facts.n_rows <= SMALL_ROWS else self._care
        draws = draws if few else min(draws, SOME_DRAWS)
        if not (few or refound) or not self._guards or (draws == 1 and not (few and found.settling.needed)):
            return (yield from self._drawn(facts, found, streams, 0, leaning))
        (numbers, original, of), _ = yield from self._all_rows(facts, found, lambda tile, _: tile)
        inside = found.space.enter(original)
        standardised = self.scaling == "std"
        trial = Trial(found.atoms, inside, of, streams, standardised=standardised) if few and draws > 1 else None

        def judged(released: Floats) -> list[float]:
            return [refound.wrong(inside, found.space.enter(released))]

        chosen, least = None, np.inf
        for draw in range(draws):
            fitted = yield from self._drawn(facts, found, streams, draw, leaning)
            kernel = partial(self._kernel, fitted, streams=streams)
            judge = judged if refound and draws > 1 else None
            (_, released, _), anew = yield from self._all_rows(facts, found, kernel, judge)
            if found.settling.needed and original.size * len(original) <= MENDED_CELLS:
                small = self._small(found.atoms)
                fitted, released = _mended(fitted, numbers, released, original, of, small)
            wrong = sum(anew) + (0.0 if trial is None else trial.disagreement(found.space.enter(released)))
            if wrong < least:
                chosen, least = fitted, wrong
            if wrong <= GOOD:
                break
        return chosen

    def _all_rows(
        self,
        facts: Facts,
        found: Found,
        values: Callable[[Floats, Rows], Floats],
        judge: Callable[[Floats], list[float]] | None = None,
    ) -> Generator[Any, Any, tuple[tuple[NDArray[np.uint64], Floats, Integers], list[float]]]:
        """Yield a pass that collects all rows; return their numbers, some values and their atoms, and a judgement."""
        d = facts.n_columns

        def rows_of(tile: Floats, rows: Rows) -> tuple[Floats, Integers]:
            return values(tile, rows), found.of(tile, rows)

        work = None if judge is None else lambda filled: judge(filled.sorted(d)[1])
        filled, judged = yield from collect_and_ask(Collected(rows_of), work)
        return filled.sorted(d), judged

    def _leaning(self, found: Found, streams: Streams) -> Leaning | None:
        """Return what leans the ladder towards its clusterings; None for other clusterings, which shrink more."""
        few = int(found.atoms.counts.sum()) < FEWEST_ROWS  # there hardly anything is left between the walls
        if found.joined is None or found.looked is None or few or not self._guards:
            return None
        of = found.atoms.of(found.looked[:, :LOOKED_ROWS])
        return Leaning(found.atoms, found.regions, of, found.covariances, streams)

    def _drawn(
        self, facts: Facts, found: Found, root: Streams, draw: int, leaning: Leaning | None
    ) -> Generator[Any, Any, _Fitted]:
        """Yield the passes of one draw; return its fitted state."""
        streams = _streams_of_draw(root, draw)
        atoms, d = found.atoms, facts.n_columns
        small = self._small(atoms)
        drawn = atoms.drawn_anew(small, d)
        place = np.where(drawn, np.cumsum(drawn) - 1, -1)
        underway = Underway(facts.n_rows, d) if self._keeps and drawn.any() else None
        drawing = Drawing(found.of, place, facts.names, streams, underway)
        collected, draws = yield from ask_both(*self._second_pass(found, drawn, drawing))
        numbers, rows, of = collected.sorted(d)
        pool = pools(atoms, small, int(self.min_atom))
        company = np.full(len(atoms), -1, dtype=np.int64)
        if not self.exact_centres:
            company = narrow_companies(atoms, small | drawn, d)
        alone, few = bool(self.exact_centres), int(self.min_atom)
        mixed = mix_collected(atoms, pool, company, rows, of, streams, alone=alone, min_rows=few)
        is_small = small[of]
        share = self._share / (1.0 if found.leverage is None else found.leverage.shrinks)
        around, own = mixed[:, is_small] * share, of[is_small]
        variances = found.variances()
        noise = np.zeros_like(atoms.means)
        if not self.exact_centres:
            ends, people = found.settling.ends, self._people * (MORE_NOISE if leaning else 1.0)
            noise = mean_noise(atoms, variances, small, found.regions, facts.names, streams, people, ends)
            if leaning is not None:
                noise = noise + leaning.shifts(noise, share, variances, draw)
        placed = place_atoms(
            atoms,
            pool,
            around,
            own,
            found.regions,
            joining=found.shift,
            noise=noise,
            min_rows=int(self.min_atom),
            draw=draw,
            spikes=variances == 0.0 if atoms.named.marks else None,
        )
        quiet = replace(placed, targets=placed.targets - noise)  # noise is not made up for inside atoms
        spread = column_spread(atoms, small, variances, quiet, share, draw, found.leverage)
        scatter = atoms.counts * sum_in_order(variances * spread * spread)
        scatters = Scatters(
            place,
            [
                scatter_of(
                    found.covariances[atom],
                    draws.mean(int(code), DRAW_BITS),
                    draws.covariance(int(code), DRAW_BITS),
                    spread,
                )
                for atom, code in zip(np.flatnonzero(drawn), atoms.names[drawn], strict=True)
            ],
        )
        out = np.empty_like(rows)
        out[:, is_small] = placed.small_rows
        whole = ~is_small
        proposed = placed.targets[of[whole]].T + mixed[:, whole] * spread[:, None]
        out[:, whole] = self._guard_in_fold(placed, atoms, scatter, proposed, of[whole])
        guard = Guard(placed.regions, placed.targets, atoms.counts, scatter)

        drawing = replace(drawing, guard=guard, scatters=scatters)
        if self.guard and drawn.any():
            for _ in range(ROUNDS):
                guard.learn((yield from ask(Displacement(guard, drawing.clipped))))
        alone = atoms.counts[of] == 1
        singles = tuple(int(number) for number in numbers[alone]) if self.exact_centres else ()
        left, stored = replace(found, looked=None), Stored(numbers, out)
        fitted = _Fitted(left, guard, scatters, stored, singles, placed.shift, found.settling, (), draw, None, underway)

        def release(settling: Settling, tile: Floats, rows: Rows) -> tuple[Floats, Flags]:
            return self._released(replace(fitted, settling=settling), tile, rows, root)

        keep = None if underway is None else partial(underway.keep, step=RELEASED)
        settling, unrepaired = yield from self._settle(found, guard, placed, small, release, keep)
        return replace(fitted, settling=settling, unrepaired=unrepaired)

    @property
    def _guards(self) -> bool:
        return bool(self.guard)

    @property
    def _share(self) -> float:
        """Share of the deviation inside atoms that is kept."""
        if self.spread is None:
            return usual_spread(self.clusterings)
        return float(self.spread)

    def _own_parameters(self) -> dict[str, Any]:
        return super()._own_parameters() | {"spread": self._share if self.spread is None else self.spread}

    @property
    def _care(self) -> int:
        return -(-int(self.draws) // 2)

    def _small(self, atoms: Atoms) -> Flags:
        """Return which atoms are too small for their means to be kept."""
        return np.zeros(len(atoms), dtype=bool) if self.exact_centres else atoms.counts < int(self.min_atom)

    def _second_pass(self, found: Found, drawn: Flags, drawing: Drawing) -> tuple[Collected, AtomMoments]:
        """Return what the second look at the rows keeps: those of smaller atoms, and the draws of the others."""
        atoms, space = found.atoms, found.space

        def small_rows(tile: Floats, rows: Rows) -> tuple[Floats, Integers]:
            of = found.of(tile, rows)
            few, values = ~drawn[of], np.empty(tile.shape)  # of the others nothing is kept
            if few.any():
                values[:, few] = found.counted(space.enter(tile[:, few]), of[few])
            return values, np.where(few, of, -1)

        def draws(tile: Floats, rows: Rows) -> tuple[Integers, Floats]:
            of = found.of(tile, rows)
            if not drawn[of].any():
                return np.full(len(of), -1, dtype=np.int64), tile
            return np.where(drawn[of], atoms.names[of], -1), drawing.steps(rows)

        return Collected(small_rows), AtomMoments(draws)

    def _guard_in_fold(self, placed: Placed, atoms: Atoms, scatter: Floats, proposed: Floats, of: Integers) -> Floats:
        if not self.guard:
            return proposed
        return guarded(placed.regions, placed.targets, atoms.counts, scatter, proposed, of)

    def _kernel(self, fitted: _Fitted, tile: Floats, rows: Rows, streams: Streams) -> Floats:
        known = None if fitted.underway is None else fitted.underway.take(rows, RELEASED)
        if known is not None:
            return known if fitted.mended is None else fitted.mended.put_in(known, rows.labels())
        parts = [
            self._released(fitted, tile[:, start:stop], rows.part(start, stop), streams)[0]
            for start, stop in spans(tile.shape[1], part_rows())
        ]
        return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)

    def _released(self, fitted: _Fitted, tile: Floats, rows: Rows, streams: Streams) -> tuple[Floats, Flags]:
        """Return the released tile, and which rows could not be kept in their regions."""
        found, guard, scatters = fitted.found, fitted.guard, fitted.scatters
        streams = _streams_of_draw(streams, fitted.draw)
        told = found.of, scatters.place, found.settling.names, streams, fitted.underway, guard, scatters
        released, of, drawn = Drawing(*told).finished(tile, rows, guarded=bool(self.guard))
        released[:, ~drawn] = fitted.stored.find(rows.labels()[~drawn])
        out, bad = fitted.settling.finish(released, guard.targets, of, tile, rows, streams)
        if fitted.singles:
            alone = np.isin(rows.labels(), np.array(fitted.singles, dtype=np.uint64))
            out[:, alone] = tile[:, alone]
            bad &= ~alone
        if fitted.mended is not None:
            out = fitted.mended.put_in(out, rows.labels())
        return out, bad


def _streams_of_draw(streams: Streams, draw: int) -> Streams:
    """Return the streams of one of the draws that are tried."""
    return streams.child(f"draw {draw}") if draw else streams


def _mended(
    fitted: _Fitted, numbers: NDArray[np.uint64], released: Floats, original: Floats, of: Integers, small: Flags
) -> tuple[_Fitted, Floats]:
    """Return the fitted state and the rows of a rounded release after single rows were put right."""
    found = fitted.found
    fixed = np.isin(numbers, np.array(fitted.singles, dtype=np.uint64))
    mending = Mending(found.settling, found.atoms, found.regions, fitted.guard.targets, original, of, fixed, ~small)
    out, wrong = mending.mend(released)
    changed = (out != released).any(axis=0)
    unrepaired = tuple(int(number) for number in numbers[wrong])
    return replace(fitted, mended=Stored(numbers[changed], out[:, changed]), unrepaired=unrepaired), out
