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
from sfumato.core.lattice import LARGEST_STEPS, exact_product
from sfumato.core.secret import Hidden
from sfumato.perturb.guard.named import Space


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
        cls, space: Space, sets: Sequence[Floats], labels: Integers, sizes: Sequence[int], low: Floats, high: Floats
    ) -> Self:
        """Return the regions in which all sets of centres give an atom its labels.

        Parameters
        ----------
        sets : sequence of arrays of shape (sum of sizes, d)
            Centres in whole steps.
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
        centres = np.concatenate(list(sets))
        squared = np.zeros(own.shape)
        for column in centres.T:
            difference = column[None, :] - column[own]
            squared += difference * difference
        lengths = np.where(squared > 0, np.sqrt(squared) * 2.0**-space.bits, 1.0)
        every = tuple(sizes) * len(sets)
        return cls(space, centres, own, (centres * centres).sum(axis=1) / 2, lengths, low, high, every)

    def _gaps(self, steps: Floats, atoms: Integers) -> Floats:
        """Return how much nearer the own centre is than each other one, shape (c, rows), in steps squared."""
        scores = exact_product(self.centres, steps)
        scores -= self.halves[:, None]
        return self._against_own(scores, atoms)

    def _against_own(self, scores: Floats, atoms: Integers) -> Floats:
        """Return the own score less each other one; changes `scores`."""
        columns = np.arange(len(atoms))
        for (start, stop), mine in zip(self._clusterings, self._own_by_clustering, strict=True):
            own = scores.ravel().take(mine.take(atoms) * len(atoms) + columns)
            np.subtract(own, scores[start:stop], out=scores[start:stop])
        return scores

    @cached_property
    def _own_by_clustering(self) -> tuple[Integers, ...]:
        """The own centre of every atom, of each clustering."""
        return tuple(np.ascontiguousarray(self.own[:, start]) for start, _ in self._clusterings)

    @cached_property
    def _clusterings(self) -> tuple[tuple[int, int], ...]:
        """First and last centre of every clustering."""
        ends = np.cumsum(self.sizes).tolist()
        return tuple(zip([0, *ends[:-1]], ends, strict=True))

    def _distances(self, points: Floats, atoms: Integers) -> Floats:
        """Return the distance of every point to every wall of its atom's region, shape (c, rows); negative outside."""
        gaps = self._gaps(self.space.steps(points), atoms)
        gaps *= 4.0**-self.space.bits
        gaps /= self._lengths_down.take(atoms, axis=1)
        gaps += self._no_wall.take(atoms, axis=1)
        return gaps

    @cached_property
    def _lengths_down(self) -> Floats:
        """The lengths, with a column for every atom."""
        return np.ascontiguousarray(self.lengths.T)

    @cached_property
    def _no_wall(self) -> Floats:
        """Infinite where a centre is the atom's own one, which has no wall, and 0 elsewhere; shape (c, a)."""
        return np.where(np.arange(len(self.centres))[:, None] == self.own.T, np.inf, 0.0)

    def depth(self, inside: Floats, atoms: Integers) -> Floats:
        """Return the distance of every row to the nearest wall of its atom's region; negative outside.

        A value on the bound of its column is inside: columns of yes and no have no other values.

        Parameters
        ----------
        inside : array of shape (d, rows)
            Rows in the space.
        atoms : array of shape (rows,)
        """
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
        moving = np.arange(points.shape[1])
        unit = 2.0**-self.space.bits
        for _ in range(rounds):
            wanted = np.maximum(self._lengths_down.take(atoms[moving], axis=1) * (inset[moving] / 2), least)
            missing = wanted - self._distances(points[:, moving], atoms[moving])
            wall = missing.argmax(axis=0)
            at = wall, np.arange(len(moving))
            out = missing[at] > wanted[at] / 2
            moving, wall, missing = moving[out], wall[out], missing[at][out]
            if len(moving) == 0:
                break
            own = self.own[atoms[moving], wall]
            away = (self.centres[own] - self.centres[wall]).T * unit / self.lengths[atoms[moving], wall]
            points[:, moving] += away * missing
            np.clip(points, self.low[:, None], self.high[:, None], out=points)
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
