"""Random ids of released rows, by which labels find their way back whatever a miner does with the order.

An id is a word of a keyed stream at the row's number, as text. Without the key it says nothing: neither the place of
the row in the original, nor that two releases hold the same person.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.exceptions import DataError

ROW_ID = "row_id"  # the column
_LETTER = "r"  # so that no reader takes an id for a number
_DIGITS = 16


def id_series(words: NDArray[np.uint64]) -> pl.Series:
    """Return the column of ids of some rows.

    Parameters
    ----------
    words : array of shape (n,)
        Of the keyed stream of ids.

    Examples
    --------
    >>> id_series(np.array([1, 2**63], dtype=np.uint64)).to_list()
    ['r0000000000000001', 'r8000000000000000']
    """
    digits = np.frombuffer(words.astype(">u8").tobytes().hex().encode(), dtype=f"S{_DIGITS}").astype(f"U{_DIGITS}")
    return pl.Series(ROW_ID, np.char.add(_LETTER, digits) if len(digits) else [], dtype=pl.String)


def with_row_ids(rows: pl.DataFrame, words: NDArray[np.uint64]) -> pl.DataFrame:
    """Return rows with their ids in a last column."""
    return rows.hstack([id_series(words)])


def knows_ids(labels: pl.DataFrame, words: NDArray[np.uint64]) -> bool:
    """Tell whether most ids beside some labels are of a release: all of its ids are random, so few are by accident."""
    ids = labels[ROW_ID].cast(pl.String).drop_nulls()
    return len(ids) > 0 and bool(2 * ids.is_in(id_series(words).to_list()).sum() > len(ids))


def by_row_id(labels: pl.DataFrame, words: NDArray[np.uint64], what: str) -> tuple[pl.DataFrame, int]:
    """Return labels in the order of the rows they belong to, with gaps where there is none, and how many there are.

    Parameters
    ----------
    labels : polars.DataFrame
        With a column of row ids, in any order.
    words : array of shape (n,)
        Of every row of the release.
    what : str
        How errors call the labels.

    Examples
    --------
    >>> words = np.array([7, 8, 9], dtype=np.uint64)
    >>> labels = pl.DataFrame({"row_id": ["r0000000000000009", "r0000000000000007"], "cluster": [2, 1]})
    >>> by_row_id(labels, words, "labels.csv")[0]["cluster"].to_list()
    [1, None, 2]
    """
    ids = labels.with_columns(pl.col(ROW_ID).cast(pl.String).str.strip_chars())
    everyone = id_series(words).to_frame()
    problems = {
        "without a row id": ids[ROW_ID].null_count(),
        "with a row id that stands twice": ids.height - ids[ROW_ID].n_unique(),
        "with a row id that is not of this release": ids.height - ids.join(everyone, on=ROW_ID, how="semi").height,
    }
    wrong = [f"{count:,} label(s) {text}" for text, count in problems.items() if count]
    if wrong:
        raise DataError(f"{what}: {'; '.join(wrong)}", hint="give each label the row_id of its released row, unchanged")
    if everyone[ROW_ID].n_unique() < everyone.height:  # one chance in ten million for a million rows
        raise DataError(
            f"{what}: two rows of the release share their id", hint="join labels in the order of the release"
        )
    return everyone.join(ids, on=ROW_ID, how="left", maintain_order="left"), ids.height
