"""Names of columns: each its own, and none that a library would take for something else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from sfumato.exceptions import DataError


def require_own_names(names: Sequence[str], what: str) -> None:
    """Raise unless every name stands once and is a name.

    Parameters
    ----------
    what : str
        How errors call the table.

    Examples
    --------
    >>> require_own_names(["age", "^b$"], "data.csv")
    Traceback (most recent call last):
    ...
    sfumato.exceptions.DataError: data.csv: the name of column 2 is a pattern: * and ^...$ stand for other columns
    hint: rename the column
    """
    twice = sorted(name for name, count in Counter(names).items() if count > 1)
    if twice:
        raise DataError(f"{what}: two columns share the name {twice[0]!r}", hint="rename one of them")
    for place, name in enumerate(names, start=1):
        if name == "*" or (name.startswith("^") and name.endswith("$")):
            raise DataError(
                f"{what}: the name of column {place} is a pattern: * and ^...$ stand for other columns",
                hint="rename the column",
            )
