"""Which rows a summary has seen: a row counted twice is an error, a row left out too."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field

from sfumato.exceptions import DataError, DuplicateRowsError


@dataclass(slots=True)
class Coverage:
    """A set of row numbers, as sorted disjoint ranges.

    Examples
    --------
    >>> seen = Coverage()
    >>> seen.add(0, 10)
    >>> seen.add(10, 20)
    >>> seen.ranges
    [(0, 20)]
    >>> seen.add(5, 6)
    Traceback (most recent call last):
    ...
    sfumato.exceptions.DuplicateRowsError: rows 5 to 5 were already counted
    hint: each row number may arrive once; check the row_start of the batches
    """

    ranges: list[tuple[int, int]] = field(default_factory=list)

    def add(self, start: int, stop: int) -> None:
        """Add rows start..stop-1; raise if any is there already."""
        if start == stop:
            return
        place = bisect_left(self.ranges, (start, start))
        before = self.ranges[place - 1] if place > 0 else None
        after = self.ranges[place] if place < len(self.ranges) else None
        for other in (before, after):
            if other is not None and max(start, other[0]) < min(stop, other[1]):
                raise DuplicateRowsError(
                    f"rows {max(start, other[0])} to {min(stop, other[1]) - 1} were already counted",
                    hint="each row number may arrive once; check the row_start of the batches",
                )
        low, high = place, place
        if before is not None and before[1] == start:
            low, start = place - 1, before[0]
        if after is not None and after[0] == stop:
            high, stop = place + 1, after[1]
        self.ranges[low:high] = [(start, stop)]

    def merge(self, other: Coverage) -> None:
        """Add the rows of another coverage; the two must be disjoint."""
        for start, stop in other.ranges:
            self.add(start, stop)

    def require_whole(self, n_rows: int) -> None:
        """Raise unless exactly the rows 0..n_rows-1 are covered."""
        self.require(0, n_rows)

    def require(self, start: int, stop: int) -> None:
        """Raise unless exactly the rows start..stop-1 are covered."""
        expected = [(start, stop)] if stop > start else []
        if self.ranges != expected:
            raise DataError(
                f"the batches cover the rows {self.ranges}, not {start} to {stop - 1}",
                hint="the source must give the same rows each time it is read",
            )
