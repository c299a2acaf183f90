"""A Spark DataFrame as the source of a release: its columns, their types, and the number of every row.

A row's noise belongs to its absolute number. Spark's own row ids change when a table is partitioned otherwise, so the
number is the place in a Parquet file plus the rows of the files before it in name order, or a column that holds it. A
table without an order needs a column that names the person instead.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from sfumato.exceptions import DataError, ParameterError
from sfumato.files.coded import CodedColumns
from sfumato.files.formats.arrow_rows import polars_frame, polars_types
from sfumato.files.source import CsvStyle, check_headers, require_columns

NUMBER = "sfumato row number"
_FILE, _OFFSET = "sfumato file", "sfumato offset"


class SparkTable:
    """A DataFrame whose rows have numbers, or ids.

    Parameters
    ----------
    row_number : str, optional
        A column that numbers the rows from 0.
    record_id : str, optional
        A column that names a person; enough for tables without an order.
    path : Path, optional
        How errors call it.
    """

    style = CsvStyle()
    coded = CodedColumns()  # nothing: every column holds numbers

    def __init__(
        self, dataframe: Any, *, row_number: str | None = None, record_id: str | None = None, path: Path | None = None
    ) -> None:
        self.path = path or Path("the DataFrame")
        self._dataframe = dataframe
        names = tuple(dataframe.columns)
        check_headers(names, str(self.path))
        require_columns([name for name in (row_number, record_id) if name is not None], names, str(self.path))
        self.names = tuple(name for name in names if name != row_number)
        self._row_number = row_number
        self._in_files = row_number is None and _has_files(dataframe)
        self.numbered = self._in_files or row_number is not None
        if not self.numbered and record_id is None:
            raise ParameterError(
                f"{self.path}: its rows have no order, so their noise cannot be keyed by their number",
                hint="name a column of row numbers (row_number=) or of persons (record_id=), "
                "or read the table from Parquet files",
            )

    @property
    def session(self) -> Any:
        """The Spark session."""
        return self._dataframe.sparkSession

    @cached_property
    def types(self) -> dict[str, Any]:
        """The type of each column."""
        from pyspark.sql.pandas.types import to_arrow_schema

        return polars_types(to_arrow_schema(self._dataframe.select(*map(quoted, self.names)).schema))

    def head(self, rows: int) -> Any:
        """Return some rows as a polars DataFrame: the first ones, if there is an order.

        Parameters
        ----------
        rows : int
            How many, at most.
        """
        return polars_frame(self._dataframe.select(*map(quoted, self.names)).limit(rows).toArrow())

    @property
    def stored_types(self) -> dict[str, Any]:
        """The type of each column as it is stored and released."""
        return self.types

    @cached_property
    def n_partitions(self) -> int:
        """How many tasks a pass has."""
        return int(self._dataframe.rdd.getNumPartitions())

    def rows(self, columns: tuple[str, ...] | None = None) -> Any:
        """Return some columns, and the row number if there is one.

        Parameters
        ----------
        columns : tuple of str, optional
            None takes all.
        """
        wanted = [quoted(name) for name in self.names if columns is None or name in columns]
        return self._numbered.select(*wanted, *([quoted(NUMBER)] if self.numbered else []))

    @cached_property
    def _numbered(self) -> Any:
        from pyspark.sql import functions as sql

        if self._row_number is not None:
            number = sql.col(quoted(self._row_number)).cast("long").alias(NUMBER)
            every = self._dataframe.select(*map(quoted, self.names), number)
            # neighbours in one task: noise is drawn for runs of rows
            return every.repartitionByRange(self.n_partitions, quoted(NUMBER)).sortWithinPartitions(quoted(NUMBER))
        if not self._in_files:
            return self._dataframe
        place = sql.col("_metadata.row_index").alias(NUMBER)
        file = sql.col("_metadata.file_path").alias(_FILE)
        sizes = self._dataframe.select(file, place).groupBy(quoted(_FILE)).agg((sql.max(quoted(NUMBER)) + 1).alias("n"))
        found = sorted(((row[_FILE], row["n"]) for row in sizes.collect()), key=lambda one: unquote(one[0]))
        if len(found) < 2:
            return self._dataframe.select("*", place)
        offsets, before = [], 0
        for name, rows in found:
            offsets.append((name, before))
            before += rows
        small = self.session.createDataFrame(offsets, f"`{_FILE}` string, `{_OFFSET}` long")
        joined = self._dataframe.select("*", file, place).join(sql.broadcast(small), _FILE)
        return joined.withColumn(NUMBER, sql.col(quoted(NUMBER)) + sql.col(quoted(_OFFSET)))


def check_types(table: SparkTable, types: dict[str, Any], used: tuple[str, ...]) -> None:
    """Raise for columns that Spark does not hold as the files do.

    Parameters
    ----------
    types : dict
        The types in the files.
    used : tuple of str
        The columns that the release reads.
    """
    for name in used:
        if name in types and types[name] != table.types.get(name):
            raise DataError(
                f"{table.path}: column {name!r} holds {types[name]}, which Spark does not keep as it is",
                hint="convert the column, drop it, or leave out --engine",
            )


def _has_files(dataframe: Any) -> bool:
    from pyspark.errors import AnalysisException

    try:
        dataframe.select("_metadata.row_index", "_metadata.file_path")
    except AnalysisException:
        return False
    return True


def quoted(name: str) -> str:
    """Return a column's name as Spark's SQL wants it."""
    return "`" + name.replace("`", "``") + "`"
