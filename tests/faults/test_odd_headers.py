"""Headers that a library takes for patterns are refused, wherever a table comes from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sfumato as sf
from sfumato.exceptions import DataError
from tests.pipeline.tables import write


@pytest.mark.parametrize("name", ["*", "^b$", "^.*$"])
@pytest.mark.parametrize("ending", [".csv", ".parquet", ".arrow"])
def test_a_pattern_is_no_name_in_files(tmp_path: Path, ending: str, name: str) -> None:
    data = write(pl.DataFrame({"b": [1.5, 2.5, 3.5], name: ["x", "y", "z"]}), tmp_path / f"in{ending}")
    with pytest.raises(DataError, match="column 2 is a pattern"):
        sf.release(data, tmp_path / "out.csv", keep=[name])


@pytest.mark.parametrize("make", [lambda t: t, lambda t: t.to_pandas(), lambda t: t.to_arrow()])
def test_a_pattern_is_no_name_in_dataframes(make: Any) -> None:
    table = make(pl.DataFrame({"b": [1.0, 5.0, 2.0, 9.0], "*": ["x", "y", "x", "y"]}))
    with pytest.raises(DataError, match="column 2 is a pattern"):
        sf.perturb.AtomExchange(key=sf.Key.generate()).fit_transform(table)


def test_stars_inside_a_name_are_letters(tmp_path: Path) -> None:
    table = pl.DataFrame({"a*": [1.5, 42.25, 83.75, 4.5], "^b": [61.5, 2.5, 30.75, 94.25]})
    sf.release(write(table, tmp_path / "in.csv"), tmp_path / "out.csv", method="adp", key=tmp_path / "k")
    assert pl.read_csv(tmp_path / "out.csv").columns == ["a*", "^b"]
