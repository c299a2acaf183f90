"""Labels that came back from a miner: read whole, and put beside the rows they belong to."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from sfumato.files.source import Source


def read_labels(source: Source) -> pl.DataFrame:
    """Read a small table whole."""
    frames = [raw.frame for raw in source.batches()]
    return pl.concat(frames) if frames else pl.DataFrame(schema=dict.fromkeys(source.names, pl.String))


def add_labels(rows: pl.DataFrame, labels: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """Return rows with the labels that stand beside them."""
    return rows.hstack(labels.select(names))


def same_cells(rows: pl.DataFrame, labels: pl.DataFrame, names: Sequence[str]) -> bool:
    """Tell whether columns that both tables have hold the same cells (an apostrophe before a formula is ours)."""
    for name in names:
        left, right = rows[name].cast(pl.String), labels[name].cast(pl.String)
        if not left.str.strip_prefix("'").equals(right.str.strip_prefix("'"), null_equal=True):
            return False
    return True
