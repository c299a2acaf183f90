"""The Spark engine for files: Parquet in, a folder of Parquet out, put in its place when it is complete."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sfumato.exceptions import DataError
from sfumato.files.coded import CodedSource
from sfumato.files.formats.typed_source import TypedSource
from sfumato.files.opening import file_kind
from sfumato.files.source import Source
from sfumato.files.storage.workspace import Workspace
from sfumato.pipeline.engines.engine import Watch
from sfumato.spark.coded import CodedTable
from sfumato.spark.engine import SparkEngine
from sfumato.spark.session import spark_session
from sfumato.spark.table import SparkTable, check_types


def spark_engine(source: Source, workspace: Workspace, target: Path, watch: Watch) -> SparkEngine:
    """Return the Spark engine of a release to a file; see `sfumato.release`."""
    counted = source if isinstance(source, CodedSource) else None
    source = source if counted is None else counted.stored
    if not isinstance(source, TypedSource) or source.kind != "parquet":
        raise DataError(
            f"{source.path}: the Spark engine reads Parquet, whose rows have numbers that every executor can see",
            hint="convert the file to Parquet, or leave out --engine",
        )
    if file_kind(target) != "parquet":
        raise DataError(
            f"{target}: the Spark engine writes a folder of Parquet files", hint="give a name that ends in .parquet"
        )
    session = spark_session()
    rows = session.read.parquet(*(str(file.absolute()) for file in source.files))
    table = SparkTable(rows, path=source.path)
    check_types(table, source.types, source.names)
    if counted is not None:
        table = CodedTable(table, counted.coded)
    return SparkEngine(table, watch, lambda released: _save(released, workspace.part))


def _save(released: Any, part: Path) -> None:
    released.write.parquet(str(part))
    for file in part.iterdir():  # checksums and marks of Spark: the folder is handed out
        if file.suffix != ".parquet":
            file.unlink()
    for number, file in enumerate(sorted(part.glob("*.parquet"))):
        file.rename(part / f"part-{number:05}.parquet")
