"""Digests of tables, and releases to compare."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import polars as pl

import sfumato as sf

KEY = sf.Key.from_insecure_seed(7)
ROLES: dict[str, Any] = {"identifier": ["id"], "keep": ["town"]}


def digest(table: Path | pl.DataFrame) -> str:
    """SHA-256 over column names, types and values, in row order."""
    if isinstance(table, Path):
        table = pl.read_parquet(sorted(table.glob("*.parquet")) if table.is_dir() else table)
    found = hashlib.sha256(repr(list(table.schema.items())).encode())
    for column in table:
        found.update(column.is_null().to_numpy().tobytes())
        values = column.cast(pl.Binary) if column.dtype == pl.String else column.fill_null(0)
        found.update(repr(values.to_list()).encode() if column.dtype == pl.String else values.to_numpy().tobytes())
    return found.hexdigest()


def local_release(source: Path, folder: Path, **options: Any) -> Path:
    """Release a table on this machine."""
    target = folder / "local.parquet"
    sf.release(source, target, key=KEY, force=True, **{**ROLES, **options})
    return target


def spark_rows(dataframe: Any, folder: Path) -> Path:
    """Write a released DataFrame as a user would, and return its place."""
    target = folder / "spark.parquet"
    dataframe.write.mode("overwrite").parquet(str(target))
    return target
