"""The region of an atom: where a row may lie and keep every label.

Regions of nearest centres are convex, so the largest step from a point inside (the anchor) towards any row has a closed
form: for the own centre a and another centre b of one clustering the wall is met at t = gap(anchor) / (D.(b - a)).
All products are exact (`core.lattice`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from sfumato._arrays import Flags, Floats, Integers
from sfumato.core.fast import compiled_kernels
from sfumato.core.linear import LARGEST_STEPS, exact_product
from sfumato.core.secret import Hidden
from sfumato.perturb.guard.space import Space

_MANY = 2048


@dataclass(frozen=True, repr=False)
class Regions(Hidden):
    """The regions of all atoms, for one or more sets of centres at once.

    Attributes
    ----------
    space : Space
    centres : array of shape (c, d)
        Centres in whole steps.
    own : array of shape (a, c)
        For every atom and centre, the index of the atom's own centre of the same clustering.
    halves : array of shape (c,)
        Half the squared norms of the centres.
    lengths : array of shape (a, c)
        Distance from the own centre to the other, in units of the space; 1 where they coincide.
    low, high : arrays of shape (d,)
        Bounds of the columns in units of the space; infinite where there are none.
    sizes : tuple of int
        Centres of each clustering, of all sets one after the other.
    """

    space: Space
    centres: Floats
    own: Integers
    halves: Floats
    lengths: Floats
    low: Floats
    high: Floats
    sizes: tuple[int, ...]

    @classmethod
    def build(
        cls,
        space: Space,
        sets: Sequence[tuple[Floats, Floats]],
        labels: Integers,
        sizes: Sequence[int],
        low: Floats,
        high: Floats,
    ) -> Self:
        """Return the regions in which all sets of centres give an atom its labels.

        Parameters
        ----------
        sets : sequence of pairs of arrays of shape (sum of sizes, d) and (sum of sizes,)
            What draws rows towards centres; see `Named.pulls`.
        labels : array of shape (a, clusterings)
        low, high : arrays of shape (d,)
        """
        ends = np.cumsum(sizes)
        own_one = np.concatenate(
            [
                np.repeat((labels[:, i] + end - size)[:, None], size, axis=1)
                for i, (end, size) in enumerate(zip(ends, sizes, strict=True))
            ],
            axis=1,
        )
        own = np.concatenate([own_one + i * int(ends[-1]) for i in range(len(sets))], axis=1)
        centres = np.concatenate([pulls for pulls, _ in sets])
        squared = np.zeros(own.shape)
        for column in centres.T:
            difference = column[None, :] - column[own]
            squared += difference * difference
        lengths = np.where(squared > 0, np.sqrt(squared) * 2.0**-space.bits, 1.0)
        every = tuple(sizes) * len(sets)
        return cls(space, centres, own, np.concatenate([halves for _, halves in sets]), lengths, low, high, every)

    def _gaps(self, steps: Floats, atoms: Integers) -> Floats:
        """Return how much nearer the own centre is than each other one, shape (c, rows), in steps squared."""
        scores = exact_product(self.centres, steps)
        scores -= self.halves[:, None]
        return self._against_own(scores, atoms)

    def _against_own(self, scores: Floats, atoms: Integers) -> Floats:
        """Return the own score less each other one; changes `scores`."""
        return self._against(scores, self._own_by_clustering.take(atoms, axis=1))

    def _against(self, scores: Floats, mine: Integers) -> Floats:
        """Return the score of each row's own centres, shape (clusterings, rows), less each other; changes `scores`."""
        columns = np.arange(scores.shape[1])
        if len(columns) > _MANY:  # a clustering at a time stays in the cache
            for (start, stop), own_centre in zip(self._clusterings, mine, strict=True):
                own = scores.ravel().take(own_centre * len(columns) + columns)
                np.subtract(own, scores[start:stop], out=scores[start:stop])
            return scores
        own = scores.ravel().take(mine * len(columns) + columns)
        return np.subtract(own.take(self._clustering_of, axis=0), scores, out=scores)

    @cached_property
    def _own_by_clustering(self) -> Integers:
        """The own centre of every atom, of each clustering; shape (clusterings, a)."""
        return np.ascontiguousarray(self.own[:, [start for start, _ in self._clusterings]].T)

    @cached_property
    def _clustering_of(self) -> Integers:
        """The number of every centre's clustering, shape (c,)."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @cached_property
    def _clusterings(self) -> tuple[tuple[int, int], ...]:
        """First and last centre of every clustering."""
        ends = np.cumsum(self.sizes).tolist()
        return tuple(zip([0, *ends[:-1]], ends, strict=True))

    def _distances(self, points: Floats, atoms: Integers) -> Floats:
        """Return the distance of every point to every wall of its atom's region, shape (c, rows); negative outside."""
        return self._distances_to(points, self.walls_of(atoms))

    def walls_of(self, atoms: Integers) -> tuple[Integers, Floats, Floats]:
        """Return what `_distances_to` asks of rows of these atoms: own centres, lengths, and where there is no wall."""
        mine = self._own_by_clustering.take(atoms, axis=1)
        return mine, self._lengths_down.take(atoms, axis=1), self._no_wall.take(atoms, axis=1)

    def _distances_to(self, points: Floats, walls: tuple[Integers, Floats, Floats]) -> Floats:
        return self._distances_of(exact_product(self.centres, self.space.steps(points)), walls)

    def _distances_of(self, scores: Floats, walls: tuple[Integers, Floats, Floats]) -> Floats:
        mine, lengths, no_wall = walls
        gaps = np.subtract(scores, self.halves[:, None], out=scores)
        gaps = self._against(gaps, mine)
        gaps *= 4.0**-self.space.bits
        gaps /= lengths
        gaps += no_wall
        return gaps

    @cached_property
    def _lengths_down(self) -> Floats:
        """The lengths, with a column for every atom."""
        return np.ascontiguousarray(self.lengths.T)

    @cached_property
    def _no_wall(self) -> Floats:
        """Infinite where a centre is the atom's own one, which has no wall, and 0 elsewhere; shape (c, a)."""
        return np.where(np.arange(len(self.centres))[:, None] == self.own.T, np.inf, 0.0)

    def depth_of(self, scores: Floats, walls: tuple[Integers, Floats, Floats], times: int) -> Floats:
        """Return the distance to the nearest wall of rows that stand `times` side by side; changes `scores`.

        Parameters
        ----------
        scores : array of shape (c, times * rows)
            Products of the rows with the centres.
        walls : what `walls_of` returns for the rows
        """
        own, lengths, no_wall = walls
        beside = np.tile(own, (1, times)), np.tile(lengths, (1, times)), np.tile(no_wall, (1, times))
        nearest: Floats = self._distances_of(scores, beside).min(axis=0)
        return nearest

    def depth(self, inside: Floats, atoms: Integers) -> Floats:
        """Return the distance of every row to the nearest wall of its atom's region; negative outside.

        A value on the bound of its column is inside: columns of yes and no have no other values.

        Parameters
        ----------
        inside : array of shape (d, rows)
            Rows in the space.
        atoms : array of shape (rows,)
        """
        fast = compiled_kernels(inside.size * len(self.centres))
        if fast is not None:
            found = np.empty(inside.shape[1])
            fast.depths(
                np.ascontiguousarray(inside), np.ascontiguousarray(atoms), self.space.bits, LARGEST_STEPS, self.centres,
                self.halves, self.own, self.lengths, self.low, self.high, found,
            )  # fmt: skip
            return found
        nearest: Floats = self._distances(inside, atoms).min(axis=0)
        for values, low, high in zip(inside, self.low, self.high, strict=True):
            room = np.minimum(values - low, high - values)
            np.minimum(nearest, room, out=nearest, where=room < 0)
        return nearest

    def push_inside(
        self, points: Floats, atoms: Integers, *, inset: Floats, least: float, rounds: int = 100
    ) -> tuple[Floats, Flags]:
        """Move points into their regions, a little behind each wall that they cross.

        Parameters
        ----------
        points : array of shape (d, rows)
        atoms : array of shape (rows,)
        inset : array of shape (rows,)
            How far behind each wall, as a share of the distance from the wall to the own centre.
        least : float
            How far behind each wall at least, in units of the space.

        Returns
        -------
        points, arrived : arrays of shape (d, rows) and (rows,)
        """
        points = points.copy()
        np.clip(points, self.low[:, None], self.high[:, None], out=points)
        fast = compiled_kernels(points.size * len(self.centres))
        if fast is not None:
            arrived = np.empty(points.shape[1], dtype=np.bool_)
            fast.push_inside(
                points, atoms, inset, least, rounds, self.space.bits, LARGEST_STEPS, self.centres, self.halves,
                self.own, self.lengths, self.low, self.high, arrived,
            )  # fmt: skip
            return points, arrived
        moving = np.arange(points.shape[1])
        unit = 2.0**-self.space.bits
        low, high = self.low[:, None], self.high[:, None]
        asked, walls, wanted = -1, self.walls_of(moving[:0]), np.empty((0, 0))
        for _ in range(rounds):
            of = atoms[moving]
            if len(moving) != asked:  # points only ever leave: as many as before are the same ones
                asked, walls = len(moving), self.walls_of(of)
                wanted = np.maximum(walls[1] * (inset[moving] / 2), least)
            here = points[:, moving]
            missing = wanted - self._distances_to(here, walls)
            wall = missing.argmax(axis=0)
            at = wall, np.arange(len(moving))
            farthest = missing[at]
            out = farthest > wanted[at] / 2
            if not out.all():
                moving, of, wall, farthest, here = moving[out], of[out], wall[out], farthest[out], here[:, out]
                if len(moving) == 0:
                    break
            away = (self.centres[self.own[of, wall]] - self.centres[wall]).T * unit / self.lengths[of, wall]
            here += away * farthest
            points[:, moving] = np.clip(here, low, high, out=here)
        arrived = np.ones(points.shape[1], dtype=np.bool_)
        arrived[moving] = False
        return points, arrived

    def nearness(self, points: Floats) -> Floats:
        """Return how near a point of each atom is to the walls of its region: 1 / gap, shape (c, a); 0 for no wall."""
        atoms = np.arange(len(points))
        gaps = self._gaps(self.space.steps(np.ascontiguousarray(points.T)), atoms)
        near: Floats = 1.0 / np.maximum(gaps, 0.25)  # gaps are whole or half steps squared
        near[self.lengths.T * (np.arange(len(self.centres))[:, None] != self.own.T) == 0.0] = 0.0
        return near

    def reach(self, start: Floats, way: Floats, atoms: Integers, near: Floats) -> Floats:
        """Return how many times its way a row may go from its start before it meets a wall.

        Parameters
        ----------
        start, way : arrays of shape (d, rows)
            The start lies inside the region.
        atoms : array of shape (rows,)
        near : array of shape (c, rows)
            How near the starts are to the walls, from `nearness`.
        """
        speed = self._against_own(exact_product(self.centres, self.space.steps(way)), atoms)
        # the gap shrinks by -speed each time, so the share of it that one time takes is -speed x nearness;
        # walls behind the row have a negative share and never stop it
        speed *= near
        share = -speed.min(axis=0)
        nearest: Floats = np.divide(1.0, share, out=np.full(len(share), np.inf), where=share > 0)
        for at, towards, low, high in zip(start, way, self.low, self.high, strict=True):
            for left, speed_there in ((high - at, towards), (at - low, -towards)):
                if np.isfinite(left).all():
                    met = np.full(len(left), np.inf)
                    np.divide(np.maximum(left, 0.0), speed_there, out=met, where=speed_there > 0)
                    np.minimum(nearest, met, out=nearest)
        return nearest

    def clip(
        self, rows: Floats, anchors: Floats, atoms: Integers, *, margin: float, near: Floats | None = None
    ) -> Floats:
        """Return rows drawn towards their anchors until they lie in their regions.

        Parameters
        ----------
        rows : array of shape (d, rows)
            Rows in the space.
        anchors : array of shape (a, d)
            A point inside each atom's region.
        atoms : array of shape (rows,)
        margin : float
            Share of the way to the wall that a row may go.
        near : array of shape (c, a), optional
            From `nearness(anchors)`, when rows are clipped in many pieces.
        """
        start = anchors[atoms].T
        way = rows - start
        farthest = np.abs(way).max(axis=0)
        limit = LARGEST_STEPS * 2.0**-self.space.bits
        way *= np.where(farthest > limit, limit / np.maximum(farthest, limit), 1.0)
        walls = (self.nearness(anchors) if near is None else near)[:, atoms]
        way *= np.minimum(1.0, margin * self.reach(start, way, atoms, walls))
        way += start
        return way
