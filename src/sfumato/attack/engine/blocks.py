"""Wide tables in blocks of columns: what looks at all pairs of columns looks at those of a block."""

from __future__ import annotations

#: columns whose covariances are looked at together, of one table and of each of its atoms
WIDE, WIDE_ATOM = 1024, 256


def blocks_of(columns: int, most: int = WIDE) -> tuple[slice, ...]:
    """Return the blocks of columns of a table.

    Parameters
    ----------
    most : int
        Columns of a block.

    Examples
    --------
    >>> blocks_of(300, 256)
    (slice(0, 256, None), slice(256, 300, None))
    """
    return tuple(slice(start, min(start + most, columns)) for start in range(0, columns, most))


def followers(place: int, columns: int, most: int = WIDE_ATOM) -> list[int]:
    """Return the columns with which one is compared: all, or in a wide table itself and those that follow it.

    Examples
    --------
    >>> followers(2, 4), followers(3, 5, 3)
    ([0, 1, 2, 3], [3, 4, 0])
    """
    return list(range(columns)) if columns <= most else [(place + step) % columns for step in range(most)]
