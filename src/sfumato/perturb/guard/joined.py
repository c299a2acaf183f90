"""Atoms that share most of their labels become one, so that many clusterings can be kept and nobody is alone.

Walls of two clusterings that nearly coincide leave slivers with a few rows between them. To keep the rows of a sliver
apart from their neighbours tells much about them, and hardly anybody who clusters the release would miss it: they join
the atom that shares most labels with theirs, and keep all labels but one or two. How far that goes is the dial between
detail and privacy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from heapq import heapify, heappop, heappush
from typing import Any

import numpy as np

from sfumato._arrays import Flags, Floats, Integers
from sfumato.core.linear import sum_in_order
from sfumato.exceptions import ParameterError
from sfumato.perturb.guard.atoms import Atoms
from sfumato.perturb.guard.named import Named

_MOST = 2048  # atoms that are looked at one by one; smaller ones join these at once
_BLOCK = 512
_USUAL_ROWS = 5000  # smaller tables may have more atoms for their rows, or they would keep nothing
_SURE = (0.08, 0.03, 0.01)  # doubts below which a clustering counts once more
_MARKED = 1000  # what a label is worth that a tree gives: a few rows of another cluster change its scatter too much
_SMALL = 3  # times the fewest rows of an atom: labels of clusters that have fewer are worth more
_LEAST_ROWS = 10  # people of a small cluster that may stay by themselves
_OF_FEW: Mapping[str, int] = {"coarse": 20, "medium": 10, "fine": 6}  # fewest rows of an atom of a small table
_IN_ROWS = 250  # and of a larger one, up to what the level says: one in so many of all
_STEP = 0.85  # atoms that are left when too little residual security is


@dataclass(frozen=True)
class Detail:
    """How finely the kept clusterings may cut a table.

    Parameters
    ----------
    atoms : float
        Most atoms, as a share of the rows: about the chance to link a person who is known in full. Tables of less than
        5,000 rows may have more, by the square root of what is missing.
    rows : int
        Fewest rows of an atom. The levels take half as many as an atom has on average in a large table, for nobody
        should be linked much more easily than the others are; in tables of less than 4,000 rows fewer, ten at least.
    residual : float
        Share of the median column's variance that must be left inside atoms. Where that would cost more labels than
        `loss` allows it is given up, and the release says so.
    loss : float
        Share of the labels that atoms may give up to leave more variance inside.
    people : float
        Standard deviations of an atom by which its sum is moved: a few times what the farthest of its people makes.
    """

    atoms: float
    rows: int
    residual: float
    loss: float
    people: float


DETAILS: Mapping[str, Detail] = {
    "coarse": Detail(0.01, 50, 0.25, 0.04, 24.0),
    "medium": Detail(0.03, 16, 0.15, 0.02, 18.0),
    "fine": Detail(0.08, 6, 0.05, 0.01, 6.0),
}


def detail_of(wanted: str | Mapping[str, Any], n_rows: int | None = None) -> Detail:
    """Return the limits of "coarse", "medium" or "fine", or those of a level ("medium") with some numbers changed.

    Parameters
    ----------
    n_rows : int, optional
        Rows of the table: levels ask for fewer rows of an atom where the table has few itself.

    Examples
    --------
    >>> detail_of({"atoms": 0.02}).atoms, detail_of({"level": "coarse", "atoms": 0.02}).rows
    (0.02, 50)
    """
    given = {"level": wanted} if isinstance(wanted, str) else dict(wanted)
    level = given.pop("level", "medium")
    if level not in DETAILS:
        raise ParameterError(f"there is no detail {level!r}", hint=", ".join(DETAILS))
    usual = asdict(DETAILS[level])
    if n_rows is not None:
        usual["rows"] = min(usual["rows"], max(_OF_FEW[level], n_rows // _IN_ROWS))
    for name, value in given.items():
        if name not in usual or isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
            raise ParameterError(
                f"detail cannot take {name!r} so",
                hint="atoms, residual and loss are shares, rows and people are numbers",
            )
    return Detail(**(usual | given))


@dataclass(frozen=True)
class Joined:
    """What became of the atoms, in figures that say nothing of single rows.

    Attributes
    ----------
    clusterings : int
        Kept clusterings.
    before, after : int
        Atoms.
    loss : float
        Share of the labels that rows give up, mean over the clusterings.
    residual : float
        Share of the median column's variance inside atoms.
    enough : bool
        Whether that is as much as was asked for.
    """

    clusterings: int
    before: int
    after: int
    loss: float
    residual: float
    enough: bool

    def __str__(self) -> str:
        kept = f"{self.clusterings} clusterings are kept"
        if self.after < self.before:
            kept += (
                f": {self.before:,} groups of rows that share all labels have joined to {self.after:,}, for which "
                f"{100 * self.loss:.1f} % of the labels are given up"
            )
        left = f"{self.residual:.2f} of the median column's variance is left inside groups"
        return f"{kept}; {left}" + ("" if self.enough else ", less than asked for: more would cost too many labels")


def join_atoms(atoms: Atoms, detail: Detail, residual: Callable[[Integers], float]) -> tuple[Atoms, Joined]:
    """Return the atoms after small ones have joined others, and the figures.

    Atoms of a cluster that has fewer rows than an atom must have join one another only: who joins another cluster would
    take theirs away, and with it one of the centres that k-means has to give.

    Parameters
    ----------
    atoms : Atoms
    residual : callable
        The new atom of each old one -> share of the median column's variance inside atoms.
    """
    n = int(atoms.counts.sum())
    most = max(1, int(detail.atoms * n * max(1.0, (_USUAL_ROWS / n) ** 0.5)))
    least = detail.rows
    labels, lonely = atoms.clusters, _lonely(atoms, least)
    apart: Flags = np.logical_or.reduce(lonely, axis=1)
    worth = _worth(atoms, least)
    company = _Joining(labels, atoms.counts, worth, apart).in_company(lonely, least)
    # what is left over of a small cluster joins others after all: nobody is alone for the sake of a centre
    together = np.bincount(company, weights=atoms.counts, minlength=len(atoms))[company]
    apart &= together >= np.minimum(min(least, _LEAST_ROWS), _smallest(atoms))
    joining = _Joining(labels, atoms.counts, worth, apart)

    def ends() -> Integers:
        home: Integers = np.where(apart, company, joining.home(least))
        return home

    joining.run(most, least)
    home = tried = ends()
    while _loss(atoms, tried) <= detail.loss and residual(tried) < detail.residual and len(joining) > 1:
        joining.run(int(len(joining) * _STEP), least)
        tried = ends()
    if _loss(atoms, tried) <= detail.loss:  # otherwise labels would be given up in vain
        home = tried
    left = residual(home)
    loss, after = _loss(atoms, home), len(np.unique(home))
    return joined(atoms, home), Joined(labels.shape[1], len(atoms), after, loss, left, left >= detail.residual)


def joined(atoms: Atoms, home: Integers) -> Atoms:
    """Return atoms of which some have become one; their means are not known any more.

    Parameters
    ----------
    home : array of shape (a,)
        For each atom the one it has joined, itself where it has not.
    """
    kept, index = np.unique(home, return_inverse=True)
    counts = np.bincount(index, weights=atoms.counts).astype(np.int64)
    return replace(
        atoms,
        home=index.astype(np.int64)[atoms.home],
        names=atoms.names[kept],
        labels=atoms.labels[kept],
        marks=None if atoms.marks is None else atoms.marks[kept],
        counts=counts,
        means=np.empty((len(kept), 0)),
    )


def _lonely(atoms: Atoms, least: int) -> Flags:
    """Return in which clusterings an atom lies in a cluster of fewer rows than some, shape (a, clusterings)."""
    lonely = np.zeros(atoms.clusters.shape, dtype=bool)
    for index, (labels, size) in enumerate(zip(atoms.named.merged(atoms.labels).T, atoms.named.sizes, strict=True)):
        lonely[:, index] = np.bincount(labels, weights=atoms.counts, minlength=size)[labels] < least
    return lonely


def _weights(named: Named) -> list[int]:
    """Return what a label of each clustering is worth: more where everybody who asks finds the same clusters."""
    return [1 + sum(doubt < limit for limit in _SURE) for doubt in named.doubts] + [_MARKED] * len(named.marks)


def _smallest(atoms: Atoms) -> Integers:
    """Return how many rows the smallest cluster of each atom has."""
    sizes = [np.bincount(labels, weights=atoms.counts)[labels] for labels in atoms.clusters.T]
    smallest: Integers = np.min(sizes, axis=0).astype(np.int64)
    return smallest


def _worth(atoms: Atoms, least: int) -> Integers:
    """Return what each label of each atom is worth, shape (clusterings, a): more in clusters of few atoms.

    Whoever leaves a large cluster is not missed; if the few atoms of a small one leave it, a centre is gone.
    """
    worth = np.empty(atoms.clusters.T.shape, dtype=np.int64)
    for index, (weight, labels) in enumerate(zip(_weights(atoms.named), atoms.clusters.T, strict=True)):
        sizes = np.bincount(labels, weights=atoms.counts)[labels].astype(np.int64)
        worth[index] = weight * (1 + _SMALL * least // np.maximum(sizes, least))
    return worth


def _loss(atoms: Atoms, home: Integers) -> float:
    """Return the share of labels that rows give up."""
    labels = atoms.clusters
    changed = (labels != labels[home]).sum(axis=1)
    return int((changed * atoms.counts).sum()) / (int(atoms.counts.sum()) * len(labels.T))


class _Joining:
    """The smallest atom joins the one that shares most labels with it, the larger one of several, again and again.

    Parameters
    ----------
    labels : array of shape (a, clusterings)
    counts : array of shape (a,)
    worth : array of shape (clusterings, a)
        What a label is worth to an atom that has it.
    fixed : array of shape (a,)
        Atoms that neither join others nor are joined.
    """

    def __init__(self, labels: Integers, counts: Integers, worth: Integers, fixed: Flags) -> None:
        self._labels, self._worth = np.ascontiguousarray(labels.T.astype(np.int32)), worth
        self._rows, self._counts = counts, counts.copy()
        self._to = np.arange(len(counts))
        self._alive = ~fixed
        order = np.lexsort((np.arange(len(counts)), -counts))
        order = order[self._alive[order]]
        if len(order) > _MOST:
            self._join_at_once(order[_MOST:], np.sort(order[:_MOST]))
        self._heap = [(int(self._counts[atom]), int(atom)) for atom in np.flatnonzero(self._alive)]
        heapify(self._heap)

    def __len__(self) -> int:
        return int(np.count_nonzero(self._alive))

    def run(self, most: int, least: int) -> _Joining:
        """Join until there are at most so many atoms, of at least so many rows each."""
        left = len(self)
        while self._heap and left > 1:
            count, atom = self._heap[0]
            if not self._alive[atom] or count != self._counts[atom]:
                heappop(self._heap)  # it has joined another, or grown
                continue
            if left <= most and count >= least:
                break
            heappop(self._heap)
            self._alive[atom] = False
            target = self._nearest(np.array([atom]), np.flatnonzero(self._alive))[0]
            self._to[atom] = target
            self._counts[target] += count
            heappush(self._heap, (int(self._counts[target]), int(target)))
            left -= 1
        return self

    def in_company(self, lonely: Flags, least: int) -> Integers:
        """Return where atoms of small clusters end: the smallest one joins another that is in the same small clusters.

        Parameters
        ----------
        lonely : array of shape (a, clusterings), bool
            In which clusterings an atom lies in a cluster of fewer rows than an atom must have.
        least : int
        """
        home, counts = np.arange(len(self._rows)), self._rows.copy()
        left = set(np.flatnonzero(lonely.any(axis=1)).tolist())
        for atom in sorted(left, key=lambda one: (int(self._rows[one]), one)):
            own = lonely[atom]
            others = np.array(sorted(left - {atom}), dtype=np.int64)
            labels = self._labels[own]
            others = others[(labels[:, others] == labels[:, [atom]]).all(axis=0)]
            if counts[atom] >= least or not len(others):
                continue
            target = int(self._nearest(np.array([atom]), others)[0])
            left.remove(atom)
            counts[target] += counts[atom]
            home[atom] = target
        while (home[home] != home).any():
            home = home[home]
        return home

    def home(self, least: int) -> Integers:
        """Return where every atom ends: where it came with others, or where more of its labels are.

        Parameters
        ----------
        least : int
            Rows that stay with every atom that others have joined.
        """
        home = self._to
        while (home[home] != home).any():
            home = home[home]
        home, left = home.copy(), np.flatnonzero(self._alive)
        gone = np.flatnonzero(~self._alive & (home != np.arange(len(home))))
        gone = gone[np.argsort(-self._rows[gone], kind="stable")][:_MOST]
        if not len(left) or not len(gone):
            return home
        counts = self._counts.copy()
        wanted = np.concatenate([self._nearest(gone[at : at + _BLOCK], left) for at in range(0, len(gone), _BLOCK)])
        for atom, target in zip(gone.tolist(), wanted.tolist(), strict=True):
            rows, now = int(self._rows[atom]), int(home[atom])
            if counts[now] - rows >= least and self._differs(atom, target) < self._differs(atom, now):
                counts[now], counts[target] = counts[now] - rows, counts[target] + rows
                home[atom] = target
        return home

    def _differs(self, atom: int, other: int) -> int:
        return int(self._worth[self._labels[:, atom] != self._labels[:, other], atom].sum())

    def _join_at_once(self, small: Integers, large: Integers) -> None:
        self._alive[small] = False
        for start in range(0, len(small), _BLOCK):
            some = small[start : start + _BLOCK]
            self._to[some] = self._nearest(some, large)
        np.add.at(self._counts, self._to[small], self._counts[small])

    def _nearest(self, atoms: Integers, among: Integers) -> Integers:
        if len(atoms) == 1:
            differ = (self._worth[:, atoms[0]] @ (self._labels[:, atoms] != self._labels[:, among]))[None, :]
        else:
            differ = np.zeros((len(atoms), len(among)), dtype=np.int64)
            for labels, worth in zip(self._labels, self._worth, strict=True):
                differ += worth[atoms][:, None] * (labels[atoms][:, None] != labels[among])
        # fewest labels first, then most rows, then the first one
        differ = differ * (int(self._counts.sum()) + 1) - self._counts[among]
        nearest: Integers = among[differ.argmin(axis=1)]
        return nearest


class Inside:
    """How much of the columns' variance lies inside atoms, from a sample of the rows.

    Parameters
    ----------
    steps : array of shape (d, n)
        Rows on the lattice.
    of : array of shape (n,)
        Their atoms.
    """

    def __init__(self, steps: Floats, of: Integers) -> None:
        self._steps, self._of = steps, of
        self._squares = sum_in_order(steps * steps)
        self._whole = self._squares - self._between(np.zeros(len(of), dtype=np.int64))

    def residual(self, home: Integers) -> float:
        """Return the share of the median column's variance that is inside atoms.

        Parameters
        ----------
        home : array of shape (a,)
            The new atom of each old one.
        """
        varies = self._whole > 0
        if not varies.any():
            return 1.0
        inside = (self._squares - self._between(home[self._of]))[varies] / self._whole[varies]
        return float(np.sort(inside)[len(inside) // 2])

    def _between(self, groups: Integers) -> Floats:
        """Return what the squares would be if every row were the mean of its group, for each column."""
        counts = np.maximum(np.bincount(groups), 1)
        sums = np.stack([np.bincount(groups, weights=column) for column in self._steps])
        return sum_in_order(sums * sums / counts)
