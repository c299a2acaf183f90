"""Column names: refused when they are missing, double, or written to do harm where the release is opened."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from sfumato.exceptions import DataError, ParameterError

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")  # what a spreadsheet takes for the beginning of a formula
_MOST_COLUMNS = 10_000
_LONGEST = 256


def check_headers(names: Sequence[str], what: str) -> None:
    """Raise unless every column has a harmless name of its own.

    Parameters
    ----------
    what : str
        How errors call the file.

    Examples
    --------
    >>> check_headers(["age", "=HYPERLINK(1)"], "data.csv")
    Traceback (most recent call last):
    ...
    sfumato.exceptions.DataError: data.csv: the name of column 2 begins like a spreadsheet formula
    hint: rename the column: a name may not begin with = + - @ or a tab
    """
    if len(names) > _MOST_COLUMNS:
        raise DataError(
            f"{what}: {len(names):,} columns are more than the {_MOST_COLUMNS:,} that sfumato takes",
            hint="release fewer columns at a time; is the file transposed?",
        )
    for place, name in enumerate(names, start=1):
        if not name.strip():
            raise DataError(f"{what}: column {place} has no name", hint="give every column a name in the first line")
        if name.startswith(FORMULA_STARTS):
            raise DataError(
                f"{what}: the name of column {place} begins like a spreadsheet formula",
                hint="rename the column: a name may not begin with = + - @ or a tab",
            )
        if len(name) > _LONGEST or any(letter < " " or letter == "\x7f" for letter in name):
            raise DataError(
                f"{what}: the name of column {place} holds control characters or more than {_LONGEST} letters",
                hint="rename the column",
            )
    twice = sorted({name for name in names if list(names).count(name) > 1}) if len(set(names)) < len(names) else []
    if twice:
        raise DataError(f"{what}: two columns share the name {twice[0]!r}", hint="rename one of them")
    if all(_is_number(name) for name in names):
        raise DataError(
            f"{what}: the first line holds numbers only, so the column names are missing",
            hint="put a line with the column names first",
        )


def require_columns(wanted: Sequence[str], names: Sequence[str], what: str) -> None:
    """Raise for the first wanted column that does not exist, with the nearest name."""
    for name in wanted:
        if name not in names:
            near = get_close_matches(name, names, n=1)
            asked = f"did you mean {near[0]!r}? " if near else ""
            shown = ", ".join(names[:20]) + (" ..." if len(names) > 20 else "")
            raise ParameterError(f"{what}: no column {name!r}", hint=f"{asked}columns are: {shown}")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
