"""What the tasks of the last pass have counted, each partition once however often it ran."""

from __future__ import annotations

from typing import Any

from pyspark.accumulators import AccumulatorParam

from sfumato.core.rows import Coverage
from sfumato.pipeline.engines.last_pass import Tally


class _ByPartition(AccumulatorParam[dict[int, Any]]):
    """Join what partitions tell; one that is computed again replaces what it told before."""

    def zero(self, value: Any) -> Any:  # noqa: ARG002
        return {}

    def addInPlace(self, value1: Any, value2: Any) -> Any:  # noqa: N802
        return {**value1, **value2}


class Outcomes:
    """Collect what partitions tell."""

    def __init__(self, context: Any) -> None:
        self.accumulator = context.accumulator({}, _ByPartition())

    def tally(self) -> Tally:
        """Return the tally of all rows."""
        total = Tally()
        for rows, unchanged, errors, lanes, _ in self.accumulator.value.values():
            total.merge(Tally(rows=rows, unchanged=unchanged, errors=errors, lanes=(lanes[0], lanes[1])))
        return total

    def coverage(self) -> Coverage:
        """Return which rows were written; a row in two partitions is an error."""
        seen = Coverage()
        for *_, ranges in self.accumulator.value.values():
            for start, stop in ranges:
                seen.add(start, stop)
        return seen
