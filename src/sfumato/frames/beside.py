"""What a release says beside its columns, a number for each row: new columns, numbers in texts, spaces, capitals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from sfumato._arrays import Floats
from sfumato.core.secret import Hidden
from sfumato.frames.frame import as_polars

_TEXTS = (pl.String, pl.Categorical, pl.Enum)
_LEVELS = 200  # different texts beyond which nobody guesses them
_SIGNS = 12  # digits that are read


@dataclass(frozen=True, eq=False, repr=False)
class Carrier(Hidden):
    """Something that a release says of every row.

    Attributes
    ----------
    what : str
        In words.
    named : bool
        Whether its values are names.
    values : array of shape (n,)
        In the order of the release.
    own : array of shape (n,), or None
        The same of the original, for categories that both tables have.
    """

    what: str
    named: bool
    values: Floats
    own: Floats | None = None


def carriers_beside(original: Any, released: Any, kept: Sequence[str] = ()) -> list[Carrier]:
    """Return what a release says beside its columns, and its categories, which may say numbers.

    Parameters
    ----------
    original, released : dataframes
    kept : sequence of str
        Columns that are not looked at. Default: none.
    """
    before, after = (as_polars(table).drop(kept, strict=False) for table in (original, released))
    found = [Carrier(*one) for one in _find(before, after)]
    for name in after.columns:
        if name in before.columns and before[name].dtype in _TEXTS and after[name].dtype in _TEXTS:
            cells = [_codes(table[name].cast(pl.String)) for table in (after, before)]
            found.append(Carrier(name, True, *cells))
    return [one for one in found if np.ptp(one.values) > 0]


def columns_to_tell(table: Any, kept: Sequence[str] = ()) -> list[tuple[str, Floats, bool]]:
    """Return the columns of an original as numbers, and whether they are names; not those that nobody can guess.

    Parameters
    ----------
    table : dataframe
    kept : sequence of str
        Columns that are not looked at. Default: none.
    """
    frame = as_polars(table).drop(kept, strict=False)
    told = [(name, _target(frame[name])) for name in frame.columns]
    return [(name, *found) for name, found in told if found is not None]


def _find(original: pl.DataFrame, released: pl.DataFrame) -> Iterator[tuple[str, bool, Floats]]:
    """Yield in words what a release says, whether its values are names, and one for each row."""
    for name in released.columns:
        cells = released[name]
        if cells.dtype.is_nested() or cells.dtype == pl.Binary:
            continue
        before = original[name].dtype if name in original.columns else None
        as_text = cells.dtype in _TEXTS
        if before is not None and (before in _TEXTS) == as_text:
            if as_text and not _known_words(original[name], cells):
                yield from _as_written(f"how {name} is written", cells)
            continue
        what = f"{name} as text" if before is not None else f"{name}, which the original does not have"
        if not as_text:
            number = cells.to_physical().cast(pl.Float64, strict=False).fill_null(np.nan).fill_nan(None)
            yield what, False, number.fill_null(number.min() if number.count() else 0.0).to_numpy()
            yield what, True, _codes(cells.cast(pl.String))
            continue
        texts = cells.cast(pl.String)
        yield what, True, _codes(texts)
        read = texts.str.replace_all(",", "").str.extract(r"(-?\d+(?:\.\d+)?)").cast(pl.Float64, strict=False)
        if read.count() > len(read) // 2:
            yield f"the numbers in {what}", False, read.fill_null(read.median()).to_numpy()
        for how, digits in _digits(texts):
            yield f"{how} {what}", False, digits
        yield from _as_written(f"how {what} is written", texts)


def _digits(texts: pl.Series) -> Iterator[tuple[str, Floats]]:
    """Yield what signs of texts are as whole numbers: digits backwards, and digits of larger bases with letters."""
    signs = texts.str.replace_all(r"[^0-9A-Za-z]", "").str.to_lowercase()
    backwards = signs.str.replace_all(r"[^0-9]", "").str.reverse().str.head(_SIGNS).cast(pl.Float64, strict=False)
    if backwards.count() > len(texts) // 2:
        yield "the digits, read backwards, in", backwards.fill_null(backwards.median()).to_numpy()
    for base, pattern, most in ((16, r"^[0-9a-f]+$", 9), (36, r"^[0-9a-z]+$", 7)):
        fit = signs.str.contains(pattern).all() and bool((signs.str.len_chars() <= most).all())
        if fit and signs.str.contains("[a-z]").any():
            read = signs.str.to_integer(base=base, strict=False).cast(pl.Float64)
            if read.count() == len(texts):
                yield f"the digits of base {base} in", read.to_numpy()


def _known_words(before: pl.Series, after: pl.Series) -> bool:
    words = before.cast(pl.String).unique().implode()
    texts = after.cast(pl.String)
    return bool((texts.is_null() | texts.is_in(words) | texts.str.strip_prefix("'").is_in(words)).all())


def _as_written(what: str, cells: pl.Series) -> Iterator[tuple[str, bool, Floats]]:
    texts = cells.cast(pl.String).fill_null("")
    for number in (
        texts.str.len_chars(),
        texts.str.len_chars() - texts.str.strip_chars().str.len_chars(),
        texts.str.count_matches(r"\p{Lu}"),
        texts.str.count_matches(r"[^\p{L}\p{N}]"),
    ):
        yield what, False, number.cast(pl.Float64).to_numpy()


def _codes(texts: pl.Series) -> Floats:
    return texts.fill_null("").rank("dense").cast(pl.Float64).to_numpy()


def _target(cells: pl.Series) -> tuple[Floats, bool] | None:
    """Return a column as numbers, and whether they are names; None for what nobody can guess."""
    if cells.dtype.is_nested() or cells.dtype == pl.Binary:
        return None
    names = cells.dtype in _TEXTS or cells.dtype == pl.Boolean
    if names:
        values = _codes(cells.cast(pl.String))
    else:
        number = cells.to_physical().cast(pl.Float64, strict=False).fill_nan(None)
        values = number.fill_null(number.median() if number.count() else 0.0).to_numpy()
    few = len(np.unique(values)) if names else 2
    return None if np.ptp(values) == 0 or few > _LEVELS else (values, names)
