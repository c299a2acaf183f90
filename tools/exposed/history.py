"""The history of releases: which overlaps warn, and what a million people cost."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl

import sfumato as sf
from sfumato.core.people import PeopleSketch
from sfumato.exceptions import RepeatedReleaseWarning
from tests.pipeline.test_history import OVERLAPS, table

__all__ = ["history_of_many", "overlaps"]

_OTHERS: dict[str, dict[str, Any]] = {
    "another name": {"name": "another"},
    "other strength of the noise": {"parameters": {"scale": 0.5}},
    "another method": {"method": "cov"},
    "another key beside the first": {"key": "other.key"},
    "another folder of keys, which is named": {"key": "elsewhere/my.key"},
}


def _release(folder: Path, frame: pl.DataFrame, options: dict[str, Any]) -> bool:
    """Release a table; tell whether an earlier release of its people was warned of."""
    frame.write_csv(folder / "in.csv")
    given = {"identifier": ["id"], "key": "my.key", "method": "adp", "force": True, "name": "r0", **options}
    given["key"] = folder / given["key"]
    given["key"].parent.mkdir(exist_ok=True)
    if given["key"].parent != folder:
        given["history"] = [folder]
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", RepeatedReleaseWarning)
        sf.release(folder / "in.csv", folder / "out.csv", **given)
    return any(one.category is RepeatedReleaseWarning for one in told)


def overlaps() -> list[list[str]]:
    """Return a line for each way in which people of an earlier release come back, and one for other people."""
    changes: dict[str, tuple[Callable[[pl.DataFrame], pl.DataFrame], dict[str, Any]]] = {
        **{what: (change, {"name": "again"}) for what, (change, _) in OVERLAPS.items()},
        **{what: (lambda frame: frame, options) for what, options in _OTHERS.items()},
        "*nobody: a table of other people*": (lambda _: table(seed=9), {"name": "again"}),
    }
    lines = []
    for what, (change, options) in changes.items():
        with TemporaryDirectory() as place:
            folder = Path(place)
            _release(folder, table(), {})
            lines.append([what, "warns" if _release(folder, change(table()), options) else "is silent"])
    return lines


def history_of_many(rows: int) -> list[str]:
    """Return what the history of a large release costs: rows, its size, and how often people are hashed."""
    seen, add = [0], PeopleSketch.add

    def counted(self: PeopleSketch, tile: Any, numbers: Any) -> None:
        add(self, tile, numbers)
        seen[0] += tile.shape[1]

    with TemporaryDirectory() as place:
        folder = Path(place)
        values = np.random.default_rng(0).normal(size=(rows, 6)).round(3)
        pl.DataFrame({f"c{i}": column for i, column in enumerate(values.T)}).write_csv(folder / "in.csv")
        PeopleSketch.add = counted  # type: ignore[method-assign]
        try:
            sf.release(folder / "in.csv", folder / "out.csv", key=folder / "my.key", method="adp", threads=1)
        finally:
            PeopleSketch.add = add  # type: ignore[method-assign]
        size = sum(path.stat().st_size for path in folder.glob("*.people")) + (folder / "history").stat().st_size
    return [f"{rows:,}", f"{size / 1e6:.1f} MB", f"{seen[0] / rows:g}"]
