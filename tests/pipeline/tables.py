"""Tables as people have them, for the tests of the pipeline."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl


def people(n: int = 600, *, seed: int = 0, missing: bool = False) -> pl.DataFrame:
    """Return a table with an identifier, a text column, integers and decimals."""
    rng = np.random.default_rng(seed)
    table = pl.DataFrame(
        {
            "id": [f"P{i:05}" for i in range(n)],
            "age": rng.integers(18, 90, n),
            "wage": (rng.normal(3000, 800, n).round(2)),
            "town": [f"town {i % 7}" for i in range(n)],
            "score": rng.normal(0, 1, n).round(3),
        }
    )
    if missing:
        table = table.with_columns(
            wage=pl.when(pl.Series(rng.random(n) < 0.1)).then(None).otherwise(pl.col("wage")),
            age=pl.when(pl.Series(rng.random(n) < 0.05)).then(None).otherwise(pl.col("age")),
        )
    return table


def write(table: pl.DataFrame, path: Path) -> Path:
    """Write a table in the format of a path."""
    if path.suffix == ".parquet":
        table.write_parquet(path, row_group_size=100)
    elif path.suffix == ".arrow":
        table.write_ipc(path)
    elif path.suffix == ".xlsx":
        table.write_excel(path)
    else:
        table.write_csv(path)
    return path


def read(path: Path) -> pl.DataFrame:
    """Read a table in the format of a path."""
    if path.suffix == ".parquet":
        return pl.read_parquet(path)
    if path.suffix == ".arrow":
        return pl.read_ipc(path)
    return pl.read_csv(path, infer_schema_length=None)
