"""Keyed hashes of the people of a table: by them a later table is known to hold the same people.

One hash of a whole row would miss a person with one edited cell, and every person once other columns are chosen. So a
row is hashed over several *groups* of columns: all of them, two or three parts without a common column, and a keyed
choice of single columns, pairs and triples. Each group keeps a set of hashes by itself, without saying which of them
belong to one row. Large sets are thinned by value (hashes below 2^-level of the range stay), so that the sets of two
tables can still be compared. Of single columns, pairs and triples only a sample stays, because whoever holds the key
of the hashes can try all values of so few columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from sfumato._arrays import Floats
from sfumato.core.keys import derive
from sfumato.core.rows import Rows, WordStream
from sfumato.core.secret import Hidden
from sfumato.core.stream import RowHasher
from sfumato.core.summaries import Summary
from sfumato.core.tiles import tile_rows

Words = NDArray[np.uint64]

_WHOLE_ROWS = 1 << 20  # hashes of whole rows and of persons, 8 bytes each
_PART_ROWS = 1 << 18  # hashes of parts, 4 bytes each
_FEW_ROWS, _FEWEST_ROWS, _FEW_SHARE = 2048, 128, 16  # of single columns, pairs and triples a sixteenth, 4 bytes each
_COLUMNS = 24  # that single columns, pairs and triples are made of
_SETS = 32  # pairs, and as many triples
_LEVELS = 32  # more of them leave nothing: a few values that very many rows share tell nobody apart
GAP = -1.7976931348623157e308  # stands for a missing cell, whatever was put in its place


@dataclass(frozen=True)
class Group:
    """Columns that are hashed together.

    Attributes
    ----------
    columns : tuple of str
        Sorted.
    kind : "person", "whole", "part" or "few"
        The record id, all columns of a table, a part of them, or up to three.
    """

    columns: tuple[str, ...]
    kind: str

    @property
    def most(self) -> int:
        """How many hashes are kept while a table is read."""
        return {"person": _WHOLE_ROWS, "whole": _WHOLE_ROWS, "part": _PART_ROWS}.get(self.kind, _FEW_ROWS)

    def stored(self, n_rows: int) -> int:
        """Return how many hashes of a table are stored."""
        return min(_FEW_ROWS, max(_FEWEST_ROWS, n_rows // _FEW_SHARE)) if self.kind == "few" else self.most

    @property
    def bits(self) -> int:
        """Leading bits of a hash that are stored."""
        return 64 if self.kind in {"person", "whole"} else 32


def column_groups(subkey: bytes, names: Sequence[str], record_id: str | None = None) -> tuple[Group, ...]:
    """Return the groups of a table's columns.

    Which pairs and triples are chosen depends on the names in them alone, so that tables that share columns also share
    groups.

    Examples
    --------
    >>> [group.columns for group in column_groups(bytes(32), ["a", "b"])]
    [('a', 'b'), ('a',), ('b',)]
    """
    words = {name: int.from_bytes(derive(subkey, "rank", name)[:8], "little") for name in names}
    ranked = sorted(names, key=lambda name: (words[name], name))
    groups = [] if record_id is None else [Group((record_id,), "person")]
    groups.append(Group(tuple(sorted(names)), "whole"))
    parts = 3 if len(names) >= 6 else 2 if len(names) >= 4 else 0
    groups += [Group(tuple(sorted(ranked[i::parts])), "part") for i in range(parts)]
    first = sorted(ranked[:_COLUMNS])
    groups += [Group((name,), "few") for name in first]
    for size in (2, 3):
        sets = list(combinations(first, size))
        order = sorted(sets, key=lambda chosen: (_rank(words, chosen), chosen))
        groups += [Group(chosen, "few") for chosen in order[:_SETS]]
    once: dict[tuple[bool, tuple[str, ...]], Group] = {}
    for group in groups:
        once.setdefault((group.kind == "person", group.columns), group)
    return tuple(once.values())


def _rank(words: Mapping[str, int], columns: Sequence[str]) -> int:
    mixed = sum(words[name] for name in columns) & ((1 << 64) - 1)
    mixed ^= mixed >> 31
    return (mixed * 0x9E3779B97F4A7C15) & ((1 << 64) - 1)


@dataclass(frozen=True, repr=False)
class Kept(Hidden):
    """The hashes of one group.

    Attributes
    ----------
    level : int
        Those below 2^-level of the range are kept.
    hashes : array, uint64 or uint32
        Rising; equal rows stand there as often as they occur. 32 bits are the leading ones.
    """

    level: int
    hashes: NDArray[Any]


@dataclass(frozen=True, repr=False)
class People(Hidden):
    """What is known of the people of one table.

    Attributes
    ----------
    n_rows : int
    groups : dict from Group to Kept
    """

    n_rows: int
    groups: dict[Group, Kept]

    def plain(self) -> list[Any]:
        """Return it as plain values, thinned to what is stored."""
        out = []
        for group, kept in self.groups.items():
            level, hashes = thinned(kept.hashes, kept.level, group.stored(self.n_rows))
            stored = hashes if group.bits == 64 else (hashes >> np.uint64(32)).astype(np.uint32)
            out.append([list(group.columns), group.kind, level, stored])
        return [self.n_rows, out]

    @classmethod
    def of_plain(cls, plain: Sequence[Any]) -> People:
        """Return what `plain` has written."""
        n_rows, groups = plain
        return cls(
            int(n_rows),
            {Group(tuple(columns), kind): Kept(int(level), hashes) for columns, kind, level, hashes in groups},
        )


def thinned(hashes: Words, level: int, most: int) -> tuple[int, Words]:
    """Return hashes below the largest power of two that leaves at most so many, and its level."""
    while len(hashes) > most:
        level += 1
        hashes = hashes[hashes < np.uint64(1 << (64 - level))] if level < _LEVELS else hashes[:0]
    return level, hashes


class PeopleSketch(Summary):
    """Hash the people of a table over groups of columns; missing cells are NaN.

    Parameters
    ----------
    subkey : bytes
        32 bytes.
    names : sequence of str
        The columns of the tiles.
    groups : sequence of Group
        Those whose columns are all there.
    meanings : mapping from columns to pairs of arrays
        For columns of codes: the codes, rising, and what each stands for in every table.

    Examples
    --------
    >>> from sfumato.core.rows import RowRange
    >>> sketch = PeopleSketch(bytes(32), ["a"], column_groups(bytes(32), ["a"]))
    >>> sketch.add(np.array([[3.0, 1.0, 3.0]]), RowRange(0, 3))
    >>> [len(kept.hashes) for kept in sketch.people().groups.values()]
    [3]
    """

    learnt: ClassVar[tuple[str, ...]] = ("n_rows", "kept")

    def __init__(
        self,
        subkey: bytes,
        names: Sequence[str],
        groups: Sequence[Group],
        meanings: Mapping[str, tuple[Floats, Floats]] | None = None,
    ) -> None:
        self._subkey, self._names, self._groups = subkey, tuple(names), tuple(groups)
        self._meanings = dict(meanings or {})
        self._hasher = RowHasher(subkey, names)
        places = {name: i for i, name in enumerate(names)}
        self._columns = [[] if one.kind == "person" else [places[name] for name in one.columns] for one in groups]
        self._persons = {
            i: WordStream(derive(subkey, "person", *one.columns))
            for i, one in enumerate(groups)
            if one.kind == "person"
        }
        # the hash of a zero is zero: without something added it would stay at every level
        self._added = [np.uint64(int.from_bytes(derive(subkey, *one.columns)[:8], "little")) for one in groups]
        # shared by all twins: what one of them had to thin, none needs to keep
        self._levels = [0] * len(self._groups)
        self.n_rows = 0
        self._piles: list[list[Words]] = [[] for _ in groups]
        self._heights = [0] * len(self._groups)

    def plain(self) -> list[Any]:
        """Return the parameters as plain values: what another process needs for the same hashes."""
        groups = [[list(one.columns), one.kind] for one in self._groups]
        meanings = {name: list(pair) for name, pair in self._meanings.items()}
        return [self._subkey, list(self._names), groups, meanings]

    @classmethod
    def of_plain(cls, plain: Sequence[Any]) -> Self:
        """Return the empty sketch of plain values."""
        subkey, names, groups, meanings = plain
        made = [Group(tuple(columns), kind) for columns, kind in groups]
        return cls(subkey, names, made, {name: (pair[0], pair[1]) for name, pair in meanings.items()})

    def fresh(self) -> Self:
        twin = copy(self)  # with the same levels
        vars(twin).update(n_rows=0, _piles=[[] for _ in self._groups], _heights=[0] * len(self._groups))
        return twin

    @property
    def block_rows(self) -> int:
        return tile_rows(2 * len(self._names))

    def add(self, tile: Floats, rows: Rows) -> None:
        if tile.shape[1] == 0:
            return
        self.n_rows += tile.shape[1]
        cells = self._hasher.cells(self._said(tile))
        for i, (group, columns) in enumerate(zip(self._groups, self._columns, strict=True)):
            if group.kind == "person":
                persons: Any = getattr(rows, "persons", None)
                assert persons is not None, "a table with record ids says whose rows they are"
                hashes = self._persons[i].of_digests(persons)
            else:
                hashes = self._hasher.of_cells(cells, columns, self._added[i])
            if self._levels[i]:
                hashes = hashes[hashes < np.uint64(1 << (64 - self._levels[i]))]
            self._pile(i, hashes)

    def merge(self, other: Self) -> None:
        self.n_rows += other.n_rows
        for i, pile in enumerate(other._piles):
            for hashes in pile:
                self._pile(i, hashes)

    @property
    def kept(self) -> list[list[Any]]:
        """Level and hashes of each group."""
        for i in range(len(self._groups)):
            self._thin(i)
        return [[self._levels[i], np.sort(pile[0])] for i, pile in enumerate(self._piles)]

    @kept.setter
    def kept(self, kept: Sequence[Any]) -> None:
        for i, (level, hashes) in enumerate(kept):
            self._levels[i] = max(self._levels[i], int(level))
            self._piles[i], self._heights[i] = [hashes], len(hashes)

    def people(self) -> People:
        """Return what was learnt."""
        pairs = zip(self._groups, self.kept, strict=True)
        return People(self.n_rows, {group: Kept(level, hashes) for group, (level, hashes) in pairs})

    def _pile(self, i: int, hashes: Words) -> None:
        self._piles[i].append(hashes)
        self._heights[i] += len(hashes)
        if self._heights[i] > 2 * self._groups[i].most:
            self._thin(i)

    def _thin(self, i: int) -> None:
        hashes = np.concatenate([*self._piles[i], np.empty(0, dtype=np.uint64)])
        if self._groups[i].kind == "person":
            hashes = np.unique(hashes)  # a person counts once, however many rows it has
        if self._levels[i]:
            hashes = hashes[hashes < np.uint64(1 << (64 - self._levels[i]))]
        level, hashes = thinned(hashes, self._levels[i], self._groups[i].most)
        self._levels[i] = max(self._levels[i], level)
        self._piles[i], self._heights[i] = [hashes], len(hashes)

    def _said(self, tile: Floats) -> Floats:
        """Return the cells as they are in every table: codes by what they stand for, gaps as gaps."""
        if self._meanings:
            tile = tile.copy()
        for i, name in enumerate(self._names):
            if name in self._meanings:
                codes, said = self._meanings[name]
                known = np.minimum(np.searchsorted(codes, tile[i]), len(said) - 1)
                tile[i] = np.where(np.isnan(tile[i]), np.nan, said[known])
        missing = np.isnan(tile)
        return np.where(missing, GAP, tile) if missing.any() else tile


def said_by(subkey: bytes, texts: Sequence[str]) -> Floats:
    """Return a number for each text that depends on nothing else: its own if it is one, or a keyed one.

    Examples
    --------
    >>> said_by(bytes(32), ["7", "clerk"])[0]
    np.float64(7.0)
    """
    out = np.empty(len(texts))
    for i, text in enumerate(texts):
        try:
            out[i] = float(text)
        except ValueError:
            out[i] = np.nan
        if not np.isfinite(out[i]):
            word = int.from_bytes(derive(subkey, "text", text)[:8], "little")
            out[i] = 1.0 + (word >> 12) * 2.0**-52
    return out
