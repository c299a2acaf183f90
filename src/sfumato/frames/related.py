"""Relations that a table keeps in all of its rows, found in a sample: sums, orders, and values that go together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from sfumato._arrays import Flags, Floats
from sfumato.core.relations import MISSING, Relation, near_pairs, parse_relation

_LEAST_ROWS = 100  # fewer say nothing
_FIRST_LOOK = 24  # rows that tell most sums from none
_MOST_SUMMED = 40  # columns among which sums are looked for
_BY_CHANCE = 0.05  # share of random pairs of values that an order must forbid
_SPIKE, _SHARE = 0.05, 0.01  # share of the rows that a value of a continuous, and of another, column has at least
_LEAST_ROWS_EACH = 20
_MOST_VALUES = 12  # of one column
_MOST_BOUND = 4  # columns: larger groups would carry too much of a person from row to row
_ENDS = 1e-9


def find_relations(sample: Floats, names: Sequence[str], kinds: Sequence[str]) -> list[Relation]:
    """Return relations that hold in all rows of a sample and hardly hold by chance.

    Parameters
    ----------
    sample : array of shape (n, d)
        NaN where a cell is missing.
    kinds : sequence of str
        "continuous", "count" or "category": codes of categories are not summed or ordered.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.integers(0, 90, 400), rng.integers(0, 9, 400)
    >>> table = np.column_stack([a, b, a + b, np.where(b == 0, -1, rng.integers(5, 99, 400))]).astype(float)
    >>> [relation.text for relation in find_relations(table, ["a", "b", "all", "days"], ["continuous"] * 4)]
    ['"all" = "a" + "b"', '"b" = 0 exactly where "days" = -1']
    """
    if len(sample) < _LEAST_ROWS:
        return []
    numbers = [i for i, kind in enumerate(kinds) if kind != "category" and _varies(sample[:, i])]
    found: list[Relation] = []
    bound: dict[str, frozenset[str]] = {}  # of each column those that go with it
    for one in (*_sums(sample, names, numbers), *_wheres(sample, names, kinds), *_orders(sample, names, numbers)):
        new = frozenset(one.columns)
        near = [bound[name] for name in one.columns if name in bound]
        if one.kind != "sum" and any(new <= group for group in near):
            if one.kind == "where":  # they go together already, and this says how
                found.append(one)
            continue
        joined = new.union(*near)
        if len(joined) > max(_MOST_BOUND, len(new)):
            continue
        bound.update(dict.fromkeys(joined, joined))
        found.append(one)
    return found


def _varies(values: Floats) -> bool:
    present = values[~np.isnan(values)]
    return len(present) >= _LEAST_ROWS and len(np.unique(present)) > 2


def _sums(sample: Floats, names: Sequence[str], numbers: Sequence[int]) -> Iterator[Relation]:
    """Yield sums of two or three columns, with a constant."""
    complete = sample[~np.isnan(sample[:, numbers]).any(axis=1)][:, numbers]
    if len(complete) < _LEAST_ROWS or len(numbers) < 3 or len(numbers) > _MOST_SUMMED:
        return
    first = complete[:_FIRST_LOOK]
    taken: set[int] = set()
    for terms in (2, 3) if len(numbers) <= _MOST_SUMMED // 2 else (2,):
        for columns in combinations(range(len(numbers)), terms):
            if len(taken & set(columns)) > 1:
                continue
            gap = first - first[:, columns].sum(axis=1)[:, None]
            level = (np.abs(gap - gap[0]) <= _ENDS * (1.0 + np.abs(first).max(axis=0))).all(axis=0)
            for left in np.flatnonzero(level).tolist():
                if left in columns or left in taken or not _holds_everywhere(complete, left, columns):
                    continue
                taken |= {left, *columns}
                constant = float(np.round(gap[0, left], 9))
                right = " + ".join(f'"{names[numbers[one]]}"' for one in columns)
                if constant:
                    right += f" {'+' if constant > 0 else '-'} {abs(constant):.12g}"
                yield parse_relation(f'"{names[numbers[left]]}" = {right}')


def _holds_everywhere(rows: Floats, left: int, columns: Sequence[int]) -> bool:
    gap = rows[:, left] - rows[:, list(columns)].sum(axis=1)
    largest = 1.0 + np.abs(rows[:, [left, *columns]]).max()
    if (np.abs(gap - gap[0]) > _ENDS * largest).any():
        return False
    moves = [len(np.unique(rows[:, one])) for one in columns]
    return min(moves) > 2 or len(np.unique(rows[:, left])) > 3


def _orders(sample: Floats, names: Sequence[str], numbers: Sequence[int]) -> list[Relation]:
    """Return pairs of columns of which one is never above the other, though their values overlap."""
    found = []
    near = near_pairs(numbers)
    for one, other in sorted([*near, *((other, one) for one, other in near)]):
        low, high = sample[:, one], sample[:, other]
        both = ~(np.isnan(low) | np.isnan(high))
        if both.sum() < _LEAST_ROWS or not (low[both] <= high[both]).all():
            continue
        above = np.searchsorted(np.sort(high[both]), low[both], side="left").mean() / both.sum()
        if above >= _BY_CHANCE:
            found.append((float(above), parse_relation(f'"{names[one]}" <= "{names[other]}"')))
    return [relation for _, relation in sorted(found, key=lambda pair: -pair[0])]


def _wheres(sample: Floats, names: Sequence[str], kinds: Sequence[str]) -> Iterator[Relation]:
    """Yield values of two columns that stand in exactly the same rows."""
    seen: dict[bytes, tuple[str, str]] = {}
    for column, (name, kind) in enumerate(zip(names, kinds, strict=True)):
        share = _SPIKE if kind == "continuous" else _SHARE
        least = max(share * len(sample), _LEAST_ROWS_EACH)
        for value, rows in _frequent(sample[:, column]):
            if not least <= rows.sum() <= len(sample) - least:
                continue
            mask = np.packbits(rows).tobytes()
            other = np.packbits(~rows).tobytes()
            if mask in seen and seen[mask][0] != name:
                first, its = seen[mask]
                yield parse_relation(f'"{first}" = {its} exactly where "{name}" = {value}')
            elif other not in seen or seen[other][0] != name:  # of a yes and a no one is enough
                seen.setdefault(mask, (name, value))


def _frequent(values: Floats) -> Iterator[tuple[str, Flags]]:
    """Yield the most frequent values of a column, and the missing one, with their rows."""
    missing = np.isnan(values)
    if missing.any():
        yield MISSING, missing
    different, counts = np.unique(values[~missing], return_counts=True)
    for at in np.argsort(-counts, kind="stable")[:_MOST_VALUES]:
        yield f"{different[at]:.12g}", values == different[at]
