"""Texts of a release that are plain hashes of what stands in the original: whoever tries values reads them."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Iterator, Sequence
from itertools import permutations
from typing import Any

import polars as pl

from sfumato.frames.frame import as_polars

_ROWS, _GLANCE = 40, 6  # rows whose hashes are made, and how many at first
_SHARE = 0.6  # of them that must stand in the release
_SHORTEST = 6  # signs of a hash: fewer come by chance
_BETWEEN = ("", "|", ",", "-", "_", ":", ";", " ")
_MOST = 12  # columns of which each two are tried together
_HASHES: tuple[Callable[[bytes], str], ...] = (
    *(lambda text, name=name: hashlib.new(name, text).hexdigest() for name in ("md5", "sha1", "sha256", "sha512")),
    lambda text: hashlib.blake2b(text).hexdigest(),
    lambda text: f"{zlib.crc32(text):08x}",
)


def hashes_beside(original: Any, released: Any, kept: Sequence[str] = ()) -> list[tuple[tuple[str, ...], str]]:
    """Return for each released text that is a plain hash of a record the columns that it is made of, and its name.

    Parameters
    ----------
    original, released : dataframes
    kept : sequence of str
        Columns that are not looked at. Default: none.

    Examples
    --------
    >>> people = pl.DataFrame({"age": [31, 42, 53], "town": ["A", "B", "A"]})
    >>> told = pl.DataFrame({"id": [hashlib.md5(text).hexdigest() for text in (b"42|B", b"31|A", b"53|A")]})
    >>> hashes_beside(people, told)
    [(('age', 'town'), 'id')]
    """
    before, after = (as_polars(table).drop(kept, strict=False) for table in (original, released))
    found = []
    for name in after.columns:
        if after[name].dtype != pl.String:
            continue
        tokens = after[name].drop_nulls().str.to_lowercase()
        sizes = tokens.str.len_chars().unique().to_list()
        if not len(tokens) or len(sizes) != 1 or sizes[0] < _SHORTEST or not tokens.str.contains("^[0-9a-f]+$").all():
            continue
        parts = _parts(before, set(tokens.to_list()), sizes[0])
        if parts is not None:
            found.append((parts, name))
    return found


def _parts(table: pl.DataFrame, tokens: set[str], size: int) -> tuple[str, ...] | None:
    some = table.sample(min(_ROWS, len(table)), seed=0) if len(table) else table
    for names, texts in _texts(some):
        for made in _HASHES:
            hits = [made(text)[:size] in tokens for text in texts[:_GLANCE]]
            if sum(hits) < _SHARE * len(hits):
                continue
            hits = [made(text)[:size] in tokens for text in texts]
            if sum(hits) >= _SHARE * len(hits):
                return names
    return None


def _texts(table: pl.DataFrame) -> Iterator[tuple[tuple[str, ...], list[bytes]]]:
    """Yield columns, and what each row holds in them, in the ways in which it is usually written."""
    cells: dict[str, list[list[str]]] = {}
    for name in table.columns:
        if table[name].dtype.is_nested() or table[name].dtype == pl.Binary:
            continue
        text = table[name].cast(pl.String).fill_null("")
        cells[name] = [text.to_list()]
        if table[name].dtype.is_float():
            cells[name].append(text.str.strip_suffix(".0").to_list())
    for name, several in cells.items():
        for written in several:
            yield (name,), [text.encode() for text in written]
    groups = [*permutations(list(cells)[:_MOST], 2), tuple(cells)]
    for names in groups if len(cells) > 1 else ():
        for way in sorted({len(cells[name]) - 1 for name in names} | {0}):
            columns = [cells[name][min(way, len(cells[name]) - 1)] for name in names]
            for sign in _BETWEEN:
                yield names, [sign.join(row).encode() for row in zip(*columns, strict=True)]
