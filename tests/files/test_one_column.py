"""A file of one column has a line for every row, the missing ones included: most readers skip empty lines."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl

import sfumato as sf


def test_rows_without_a_value_are_rows_for_every_reader(tmp_path: Path) -> None:
    draw = np.random.default_rng(0)
    cells = ["" if i % 5 == 0 else f"{value:.2f}" for i, value in enumerate(draw.normal(size=60))]
    source, target, key = tmp_path / "in.csv", tmp_path / "out.csv", tmp_path / "my.key"
    source.write_text("a\n" + "".join(f"{cell}\n" for cell in cells))
    sf.release(source, target, method="adp", key=key)
    with target.open(newline="") as file:
        rows = list(csv.reader(file, strict=True))
    assert {len(row) for row in rows} == {1}
    assert len(pd.read_csv(target)) == len(pl.read_csv(target)) == len(cells)
    assert pd.read_csv(target)["a"].isna().sum() == cells.count("")
    labels, joined = tmp_path / "labels.csv", tmp_path / "joined.csv"
    labels.write_text("label\n" + "".join(f"{i}\n" for i in range(len(cells))))
    sf.join(labels, source, joined, key, released=target)
    back = pd.read_csv(joined, dtype=str, keep_default_na=False)
    assert back["a"].tolist() == cells
