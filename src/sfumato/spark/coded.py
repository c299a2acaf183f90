"""Texts, flags and dates on a cluster: counted as on one machine, spelled out again where rows are released."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sfumato.files.coded import CodedColumns, Seen, columns_seen
from sfumato.files.codes import MOST_CATEGORIES, MOST_DATES, Codes
from sfumato.files.formats.arrow_rows import polars_frame
from sfumato.files.source import RawBatch
from sfumato.spark.table import SparkTable, quoted


class CodedTable(SparkTable):
    """A Spark table whose coded columns are numbers to everybody but its own tasks.

    Parameters
    ----------
    table : SparkTable
    columns : CodedColumns
    """

    def __init__(self, table: SparkTable, columns: CodedColumns) -> None:
        self.__dict__.update(table.__dict__)
        self.coded, self._stored = columns, table.types
        self.types = columns.types(table.types)

    @property
    def stored_types(self) -> dict[str, Any]:
        return self._stored


def learn_spark_columns(
    table: SparkTable,
    names: Sequence[str],
    kinds: Mapping[str, str],
    orders: Mapping[str, Sequence[str]],
    rare: Mapping[str, str] | None = None,
    least: int = 5,
) -> CodedColumns:
    """Return how the columns of a Spark table become numbers; see `learn_columns`."""
    from pyspark.sql import functions as sql

    said = {name for name in names if kinds.get(name) in {"category", "ordered", "date"} or name in orders}
    counted = [name for name in names if name in said or not table.types[name].is_numeric()]
    whole = [name for name in names if name not in counted and table.types[name].is_integer()]
    rows = table.rows(tuple(names))
    asked = [sql.count(sql.lit(1)).alias("rows")]
    asked += [sql.count(_cell(table, name)).alias(f"n{at}") for at, name in enumerate(names)]
    asked += [sql.count_distinct(_cell(table, name)).alias(f"d{names.index(name)}") for name in whole]
    found = rows.agg(*asked).first()
    seen = {}
    for at, name in enumerate(names):
        one = seen[name] = Seen(gaps=found[f"n{at}"] < found["rows"], rows=found[f"n{at}"], counted=found[f"n{at}"])
        if name in whole:
            one.all_different = found[f"d{at}"] == one.rows
        if name in counted:
            cell = _cell(table, name).alias(name)
            cells = rows.select(cell).where(cell.isNotNull()).distinct().limit(MOST_DATES + 1)
            one.different = polars_frame(cells.toArrow())[name]
            one.many = len(one.different) > MOST_DATES
            if name in (rare or {}) and len(one.different) <= MOST_CATEGORIES:
                groups = rows.select(cell).where(cell.isNotNull()).groupBy(name).count().collect()
                one.people = {str(value): count for value, count in groups}
    return columns_seen(table, seen, kinds, orders, rare, least)


def coded_data(table: SparkTable) -> list[Any]:
    """Return how a table's columns become numbers, as plain values: what tasks are told."""
    return [codes.plain() for codes in table.coded.codes.values()]


def coded_of(data: Sequence[Any]) -> CodedColumns:
    """Return how columns become numbers, of plain values."""
    found = [Codes.of_plain(one) for one in data]
    return CodedColumns({codes.name: codes for codes in found})


def as_numbers(raw: RawBatch, coded: CodedColumns, what: str) -> RawBatch:
    """Return raw rows with numbers in the place of coded cells."""
    return RawBatch(coded.encode(raw.frame, what, as_text=False), raw.start, raw.share) if coded.codes else raw


def _cell(table: SparkTable, name: str) -> Any:
    from pyspark.sql import functions as sql

    column = sql.col(quoted(name))
    return sql.when(column != "", column) if str(table.types[name]) == "String" else column
