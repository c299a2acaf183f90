"""What the guard's methods share: their parameters, the passes that find the atoms, and whom they refuse.

Some rows are held by their numbers: those of small atoms, and all of a small table.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from sfumato._arrays import Flags, Floats, Integers
from sfumato.core.linear import sum_in_order
from sfumato.core.passes import Facts, Rounds, ask, ask_both
from sfumato.core.rows import Rows
from sfumato.core.secret import Hidden
from sfumato.core.stream import Streams
from sfumato.core.summaries import Concluded, Moments, Sample
from sfumato.exceptions import DataError, ParameterError
from sfumato.frames.frame import Frame
from sfumato.perturb.guard.atoms import AtomMoments, Atoms
from sfumato.perturb.guard.exposed import (
    COMPANY,
    FEWEST_ROWS,
    SAMPLE_ROWS,
    clipped,
    exposed_rounds,
    looked_at,
    most_held_back,
    with_company,
)
from sfumato.perturb.guard.foreign import Rows as ForeignRows
from sfumato.perturb.guard.foreign import check_foreign, described, is_foreign, is_pipeline, make_foreign
from sfumato.perturb.guard.joined import Inside, Joined, detail_of, join_atoms
from sfumato.perturb.guard.leverage import NOTHING, Leverage
from sfumato.perturb.guard.named import USUAL_CARE, name_clusterings
from sfumato.perturb.guard.placing import Placed, plain_regions, released_regions
from sfumato.perturb.guard.regions import Regions
from sfumato.perturb.guard.rounds import Guard
from sfumato.perturb.guard.settle import Settling, column_bounds, column_decimals
from sfumato.perturb.guard.signs import Signs
from sfumato.perturb.guard.space import Space, find_space, other_weights
from sfumato.perturb.guard.sums import ClusterSums
from sfumato.perturb.guard.wanted import count_of_prototypes, has_ladder, is_count, rungs, spelled_out
from sfumato.perturb.mechanism.base import Perturber
from sfumato.perturb.mechanism.collected import Collected, Seen
from sfumato.perturb.mechanism.state import FittedState

# (settling, tile, rows) -> released tile, and which rows lie outside their regions
Release = Callable[[Settling, Floats, Rows], tuple[Floats, Flags]]

_STILL = 0.01  # centres that move less, in units of the space, need no second look


@dataclass(frozen=True, repr=False)
class Found(Hidden):
    """What the first passes find.

    Attributes
    ----------
    space : Space
    atoms : Atoms
    moments : AtomMoments
        Of the atoms.
    regions : Regions
    settling : Settling
        How rows are finished.
    shift : array of shape (c, d)
        How far the kept centres move because atoms have joined, in units of the space.
    joined : Joined or None
    leverage : Leverage or None
        How far rows count; None with exact centres.
    looked : rows in the space, for what is tried before it is drawn
    seen : Seen or None
        What earlier passes have found of the rows, while the table is fitted.
    """

    space: Space
    atoms: Atoms
    moments: AtomMoments
    regions: Regions
    settling: Settling
    shift: Floats
    joined: Joined | None
    leverage: Leverage | None = None
    looked: Floats | None = None
    seen: Seen | None = None

    def of(self, tile: Floats, rows: Rows) -> Integers:
        """Return the atom of every row of the fitted table."""
        if self.seen is None:
            return self.atoms.of(self.space.enter(tile))
        known = self.seen.of(rows)
        return self.seen.learn(rows, self.atoms.of(self.space.enter(tile))) if known is None else known

    def counted(self, inside: Floats, of: Integers) -> Floats:
        """Return rows as they count for their atoms."""
        return inside if self.leverage is None else self.leverage.clip(inside, of)

    @cached_property
    def covariances(self) -> list[Floats]:
        """The covariance inside each atom, in units of the space, or its variances alone."""
        return [self.moments.covariance(int(code), self.space.bits) for code in self.atoms.names]

    def variances(self) -> Floats:
        """Return the variance of every column inside each atom, shape (a, d), in units of the space."""
        return np.array([self.moments.variance(int(code), self.space.bits) for code in self.atoms.names])


def _centres(atoms: Atoms) -> Floats:
    """Return the means of the clusters of atoms, in units of the space; of a cluster without rows its named centre."""
    incidence, counts = atoms.incidence(), atoms.counts.astype(np.float64)
    sums = np.stack([sum_in_order(incidence * (counts * column)) for column in atoms.means.T], axis=1)
    sizes = (incidence * counts).sum(axis=1)[:, None]
    named = atoms.named.stacked * 2.0**-atoms.named.space.bits
    centres: Floats = np.where(sizes > 0, sums / np.maximum(sizes, 1.0), named)
    return centres


def _has_centres(wanted: Any) -> bool:
    if is_pipeline(wanted):
        last = wanted.steps[-1][1]
        return hasattr(last, "predict") or not hasattr(last, "labels_")
    return is_count(wanted) or isinstance(wanted, str) or hasattr(wanted, "cluster_centers_")


def _plain(wanted: Any) -> Any:
    """Return a clustering as plain values, by which streams differ."""
    if is_count(wanted):
        return int(wanted)
    if isinstance(wanted, str) or is_pipeline(wanted):
        return described(wanted)
    return np.asarray(wanted.cluster_centers_ if hasattr(wanted, "cluster_centers_") else wanted.labels_)


class GuardShell(Perturber):
    """Base of `AtomMixing` and `Guarded`."""

    mixes: ClassVar[bool] = True  # whether rows are mixed with others of their atom, and with nobody else
    fewest_rows: ClassVar[int] = FEWEST_ROWS  # of a table that is handed out

    clusterings: Any
    detail: Any = "medium"
    other_scalings: Any = ()
    scaling: str | None
    exposed: str = "hold back"
    most_held_back: float | None = None
    decimals: Any
    bounds: Any

    def _check_parameters(self) -> None:
        super()._check_parameters()
        detail_of(self.detail)
        for wanted in spelled_out(self.clusterings, ()):
            if is_foreign(wanted):
                check_foreign(wanted)
            elif is_count(wanted):
                if int(wanted) < 1:
                    raise ParameterError(f"{type(self).__name__}: a clustering of {wanted} clusters does not exist")
            elif count_of_prototypes(wanted) is not None and self.exchanges:
                continue
            elif not hasattr(wanted, "cluster_centers_") and not hasattr(wanted, "labels_"):
                raise ParameterError(
                    f"{type(self).__name__}: clusterings take numbers of k-means clusters, names of clusterers, fitted "
                    f"clusterers or pipelines, got {type(wanted).__name__}",
                    hint="fit the clusterer first; clone() unfits it unless it is in sklearn.frozen.FrozenEstimator",
                )

    def _own_parameters(self) -> dict[str, Any]:
        own = super()._own_parameters()
        if not self.other_scalings:
            own.pop("other_scalings", None)
        own.pop("most_held_back", None)
        if self.exposed != "clip":  # who is held back shows in the table that is left
            own.pop("exposed", None)
        if isinstance(self.clusterings, str):
            return own
        if not self._on_ladder:
            own.pop("detail", None)  # nothing joins then: releases of earlier versions come out the same
        own["clusterings"] = [_plain(wanted) for wanted in self.clusterings]
        return own

    def _streams_of(self, frame: Frame, state: FittedState, row_start: int | None, threads: int) -> Streams:
        streams = super()._streams_of(frame, state, row_start, threads)
        if streams is not state.streams:
            raise DataError(
                f"{type(self).__name__} releases the table it was fitted on: where a row goes depends on all of them",
                hint="call fit_transform on this table",
            )
        return streams

    def unrepaired_rows(self) -> tuple[int, ...]:
        """Return the numbers of the rows that rounding or bounds force out of their clusters.

        They are released in the place nearest to their region, never as they were.
        """
        rows: tuple[int, ...] = self._fitted_state().fitted.unrepaired
        return rows

    def named_centres(self) -> tuple[Floats, ...]:
        """Return the centres of the clusterings that the release keeps, in the units of the table.

        They say as much about the originals as the centres of any clustering: for the owner, not for the release.
        """
        found: Found = self._fitted_state().fitted.found
        unit = 2.0**-found.space.bits
        return tuple(found.space.leave((centres * unit).T).T for centres in found.atoms.named.centres)

    def _settle(
        self,
        found: Found,
        guard: Guard,
        placed: Placed,
        small: Flags,
        release: Release,
        keep: Callable[..., None] | None = None,
    ) -> Generator[Any, Any, tuple[Settling, tuple[int, ...]]]:
        """Yield the passes that make the finished rows keep means and regions; return how, and the rows still lost.

        Passes look at the means of the finished rows: all but the last feed the error of each atom's mean back, all
        draw the walls anew for the centres that the released table really has. A last one lists what is left, and hands
        the rows of the release to `keep`.
        """
        settling = found.settling
        if self._guards and (settling.needed or settling.signs is not None or placed.shift > _STILL):
            settling = replace(settling, regions=guard.regions)
        elif not settling.needed:
            return settling, ()
        space, atoms, rounds = found.space, found.atoms, (2 if settling.signs is None else 3) * self._guards
        for round_number in range(rounds):

            def rounded(tile: Floats, rows: Rows, settling: Settling = settling) -> tuple[Integers, Floats]:
                out = release(settling, tile, rows)[0]
                return atoms.names[found.of(tile, rows)], space.steps(space.enter(out))

            seen = yield from ask(AtomMoments(rounded, cross=False))
            means = np.array([seen.mean(int(code), space.bits) for code in atoms.names])
            settling = settling.corrected(guard.targets, means, ~small) if round_number < rounds - 1 else settling
            settling = replace(settling, regions=released_regions(atoms, means, found.regions))

        def outside(tile: Floats, rows: Rows) -> tuple[Floats, Integers]:
            released, bad = release(settling, tile, rows)
            if keep is not None:
                keep(rows, values=released)
            return tile[:0], np.where(bad, 0, -1)

        left_outside = yield from ask(Collected(outside))
        return settling, tuple(int(number) for number in left_outside.sorted(0)[0])

    def _notes(self, fitted: Any) -> tuple[str, ...]:
        found = getattr(fitted, "found", fitted)
        known = getattr(found, "joined", None), getattr(getattr(found, "settling", None), "signs", None)
        return (*(str(one) for one in known if one is not None), *found.atoms.named.told)

    def _exposed_rounds(self, facts: Facts, streams: Streams) -> Rounds | None:
        wanted = self._wanted(facts, categories=False)
        # labels that were given belong to the rows of the whole table
        movable = all(_has_centres(one) for one in wanted) and bool(looked_at(wanted, facts.n_rows))
        return self._hold_back(facts, streams) if self._holds_back(facts) and movable else None

    def _hold_back(self, facts: Facts, streams: Streams) -> Rounds:
        wanted = self._wanted(facts, categories=False)
        most = most_held_back(facts.n_rows, self.most_held_back)
        counts = looked_at(wanted, facts.n_rows)
        rows, others = yield from exposed_rounds(facts, streams, self._space, counts, most)
        if others and not self._on_ladder:
            raise DataError(
                f"{others + len(rows):,} of {facts.n_rows:,} rows are in clusters of fewer than {COMPANY} people, "
                f"and at most {most:,} may be held back",
                hint='name fewer clusters or clusterings="ladder", take logarithms of columns with far values, allow '
                'more with most_held_back=0.05, draw them nearer with exposed="clip", or publish them with '
                'exposed="publish"',
            )
        return rows

    @property
    def _fewest_rows(self) -> int:
        return self.fewest_rows if self.exposed != "publish" and not self._exact else 0

    def _holds_back(self, facts: Facts) -> bool:
        """Whether people without company are left out."""
        return self.exposed == "hold back" and self._wants_company(facts)

    def _wants_company(self, facts: Facts) -> bool:
        """Whether clusters of few people are not kept.

        In a table of few people nobody has company, and none is handed out unless the owner insists.
        """
        return self.exposed != "publish" and not self._exact and facts.n_rows >= FEWEST_ROWS

    def _wanted(self, facts: Facts, *, categories: bool) -> Sequence[Any]:
        """Return the clusterings to keep, one by one, that are k-means, k-prototypes or fitted clusterers."""
        every = spelled_out(self.clusterings, rungs(facts.n_rows, categories=categories, exact=self._exact))
        return tuple(wanted for wanted in every if not is_foreign(wanted))

    def _sampled(
        self, facts: Facts, streams: Streams, *, coded: bool = False
    ) -> Generator[Any, Any, tuple[Moments, Sample, Sequence[Any]]]:
        """Yield the pass that takes moments and a sample; return them, and what is kept of other clusterers.

        Parameters
        ----------
        coded : bool
            Whether numbers stand for texts.
        """
        key = streams.subkey("clustering sample")
        asked = (Moments(facts.low, facts.high, cross=False), Sample(SAMPLE_ROWS, key, facts.n_rows))
        foreign = [wanted for wanted in spelled_out(self.clusterings, ()) if is_foreign(wanted)]
        if not foreign:
            return (*(yield from ask_both(*asked)), ())

        def work(parts: list[Any]) -> list[dict[str, Any]]:
            rows = parts[1].values()
            space = self._space(facts, parts[0], rows)
            given = ForeignRows(space, rows, parts[1].labels(), facts.n_rows, coded, self.mixes)
            return make_foreign(foreign, given, streams)

        filled = yield from ask(Concluded(list(asked), work))
        moments, sample = filled.parts
        assert isinstance(moments, Moments)
        assert isinstance(sample, Sample)
        return moments, sample, filled.found

    def _space(self, facts: Facts, moments: Moments, sample: Floats) -> Space:
        """Return the space in which the clusterings are named."""
        return find_space(facts, moments, self.scaling)

    @property
    def _on_ladder(self) -> bool:
        """Whether the kept clusterings are those of the ladder."""
        return has_ladder(self.clusterings)

    @property
    def _people(self) -> float:
        """Deviations of an atom by which its sum is moved; clusterings of one's own take no other detail."""
        return detail_of(self.detail if self._on_ladder else "medium").people

    @property
    def _exact(self) -> bool:
        """Whether every kept centre stays exactly where it is."""
        return bool(getattr(self, "exact_centres", False))

    @property
    def _guards(self) -> bool:
        """Whether rows are held in regions at all."""
        return True

    @property
    def _care(self) -> int:
        """How much work goes into naming the clusterings: see `name_clusterings`."""
        return USUAL_CARE

    def _find(self, facts: Facts, streams: Streams) -> Generator[Any, Any, Found]:
        """Yield the passes that name the clusterings and count the atoms."""
        decimals, (low, high) = column_decimals(self.decimals, facts), column_bounds(self.bounds, facts)
        moments, sample, foreign = yield from self._sampled(facts, streams)
        rows, ladder = sample.values(), self._on_ladder
        space = self._space(facts, moments, rows)
        inside, wanted = space.enter(np.ascontiguousarray(rows.T)), self._wanted(facts, categories=False)
        weights = other_weights(facts, moments, space, self.other_scalings)
        near, numbers = clipped(space, rows) if self.exposed == "clip" else rows, sample.labels()
        named = name_clusterings(
            space, wanted, near, numbers, streams, self._care, ladder=ladder, weights=weights, foreign=foreign
        )
        if self._wants_company(facts):
            named = with_company(named, inside, facts.n_rows)
        codes = Seen(facts.n_rows, np.int64) if self._keeps else None
        sums = yield from ask(ClusterSums(space, named, seen=codes))
        atoms, joined, leverage, looked = sums.atoms(), None, None, None
        centres, shift = sums.centres(atoms), np.zeros(named.stacked.shape)
        if not self._exact:
            if ladder:
                atoms, joined = self._join(space, atoms, inside)
            looked = inside
            # of other clusterers the scatter of a few large groups is what they are found by
            vanish = NOTHING if ladder and self.mixes and not named.marks else np.inf
            leverage = Leverage.of_sample(looked, atoms.of(looked), len(atoms), nothing=vanish)

        seen = Seen(facts.n_rows)

        def values(tile: Floats, rows: Rows) -> tuple[Integers, Floats]:
            inside, known = space.enter(tile), None if codes is None else codes.of(rows)
            of = seen.learn(rows, atoms.of(inside) if known is None else atoms.of_codes(known))
            return atoms.names[of], space.steps(inside if leverage is None else leverage.clip(inside, of))

        tally = yield from ask(AtomMoments(values, full=atoms.multiplied(facts.n_columns)))
        atoms = atoms.with_means(tally)
        shift = shift if leverage is None else _centres(atoms) - centres
        regions = plain_regions(atoms, (low - space.offset) / space.unit, (high - space.offset) / space.unit)
        signs = None if self._exact or not self._guards else Signs.of(facts, self.bounds)  # exact means come first
        settling = Settling(space, facts.names, decimals, signs=signs)
        return Found(space, atoms, tally, regions, settling, shift, joined, leverage, looked, seen)

    def _join(self, space: Space, atoms: Atoms, inside: Floats) -> tuple[Atoms, Joined]:
        """Return the atoms after small ones have joined others, as far as `detail` wants it."""
        detail = detail_of(self.detail, int(atoms.counts.sum()))
        return join_atoms(atoms, detail, Inside(space.steps(inside), atoms.of(inside)).residual)
