"""No error of a public function shows a value of the table: not in its message, its causes or a log."""

from __future__ import annotations

import inspect
import logging
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.exceptions import SfumatoError
from tests.test_public_docs import CALLABLES

SECRET = "Alice Smith 4111"
NAMES = ["age", "wage", "score"]


def good() -> np.ndarray:
    rng = np.random.default_rng(0)
    return rng.normal(size=(60, 3)).round(3) + 3.0 * rng.integers(0, 2, 60)[:, None]


def with_secret() -> list[list[object]]:
    rows: list[list[object]] = good().tolist()
    rows[7][1] = SECRET
    return rows


def as_text() -> dict[str, list[str]]:
    return {name: [str(row[i]) for row in with_secret()] for i, name in enumerate(NAMES)}


TABLES: dict[str, Callable[[], Any]] = {
    "lists": with_secret,
    "array of objects": lambda: np.array(with_secret(), dtype=object),
    "array of text": lambda: np.array([[str(cell) for cell in row] for row in with_secret()]),
    "pandas": lambda: pd.DataFrame(with_secret(), columns=NAMES),
    "polars": lambda: pl.DataFrame(as_text()),
    "Arrow": lambda: pa.table(as_text()),
}


def made(row: Any) -> Any:
    """Return a method of the catalogue that takes the good table."""
    more: dict[str, Any] = {"perturber": sf.perturb.AdditiveNoise()} if row.wraps else {}
    if row.guarantee is not None:
        more = {"bounds": (-10.0, 10.0), "epsilon": 20.0}
    return row.load()(insecure_seed=1, **more)


#: what can be done with a method and a table
USES: dict[str, Callable[[Any, Any], object]] = {
    "fit": lambda method, t: method.fit(t),
    "fit_transform": lambda method, t: method.fit_transform(t),
    "fit_batches": lambda method, t: method.fit_batches(lambda: [t]),
    "transform": lambda method, t: method.fit(good()).transform(t),
    "inverse_transform": lambda method, t: method.fit(good()).inverse_transform(t),
}


def public_functions() -> Iterator[tuple[str, Callable[[Any], object]]]:
    """Yield every public function that takes a table, called with it in the place of a table."""
    for row in sf.methods():
        for name, use in USES.items():
            if name != "inverse_transform" or row.invertible:
                yield f"perturb.{row.name}.{name}", lambda t, row=row, use=use: use(made(row), t)
    yield "audit, original", lambda t: sf.audit(t, good(), utility=False, attacks=["as-released"])
    yield "audit, released", lambda t: sf.audit(good(), t, utility=False, attacks=["as-released"])
    yield "audit, population", lambda t: sf.audit(good(), good(), population=t, utility=False, attacks=["sample-pca"])
    yield "audit, releases", lambda t: sf.audit(good(), good(), releases=[t], utility=False, attacks=["releases"])
    yield "compare", lambda t: sf.compare(t, methods=["tdp"], clusters=[2])
    yield "tune", lambda t: sf.tune(t, methods=["tdp"], clusters=[2], candidates=1)
    yield "attack.Referee, original", lambda t: sf.attack.Referee(t, good())
    yield "attack.Referee, released", lambda t: sf.attack.Referee(good(), t)
    yield "attack.run_attack", lambda t: sf.attack.run_attack("as-released", t, good())
    yield "attack.best_linkage", lambda t: sf.attack.best_linkage(t, good(), {2: np.arange(60) % 2})
    yield "cluster.lloyd_kmeans", lambda t: sf.cluster.lloyd_kmeans(t, good()[:2])
    yield "cluster.fuzzy_centres", lambda t: sf.cluster.fuzzy_centres(t, 2)
    yield "cluster.nearest_centre", lambda t: sf.cluster.nearest_centre(t, good()[:2])
    yield "attack.best_linkage, released", lambda t: sf.attack.best_linkage(good(), t, {2: np.arange(60) % 2})
    yield "attack.membership", lambda t: sf.attack.membership(sf.perturb.AdditiveNoise(), t, shadows=8)
    yield "attack.one_row_difference", lambda t: sf.attack.one_row_difference(sf.perturb.AdditiveNoise(), t, people=2)
    yield "cluster.fuzzy_memberships", lambda t: sf.cluster.fuzzy_memberships(t, good()[:2])
    yield "cluster.FuzzyCMeans", lambda t: sf.cluster.FuzzyCMeans(2).fit(t)
    yield "cluster.FuzzyCMeans.predict", lambda t: sf.cluster.FuzzyCMeans(2).fit(good()).predict(t)
    yield "cluster.Chameleon", lambda t: sf.cluster.Chameleon(2).fit(t)
    for name in sf.metrics.__all__:
        function = getattr(sf.metrics, name)
        if inspect.isfunction(function) and list(inspect.signature(function).parameters)[:1]:
            needed = [
                p for p in inspect.signature(function).parameters.values()
                if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD
            ]  # fmt: skip
            for place in range(len(needed)):
                yield f"metrics.{name}, argument {place}", partial(_in_place, function, len(needed), place)


def _in_place(function: Callable[..., object], arguments: int, place: int, table: object) -> object:
    return function(*[table if place == i else good() for i in range(arguments)])


FUNCTIONS = dict(public_functions())


#: public names that are given no table of rows, and those that read files, which have a test of their own below
NO_TABLE = {
    *("Key", "Policy", "CsvFile", "methods", "parse_policy", "read_policy"),
    *("release", "restore", "join", "spark.release"),
    *("perturb.method", "perturb.methods"),
    *("cluster.FuzzyCentres", "cluster.LloydResult", "datasets.demo_table", "datasets.write_demo"),
    *("metrics.Metric", "metrics.ColumnDrift", "metrics.catalogue"),
    *("attack.attacks", "attack.entry", "attack.load", "attack.wilson_interval", "attack.lift", "attack.best_of"),
    *("attack.guess_links", "attack.guess_values"),
}


def test_no_public_name_is_forgotten() -> None:
    called = {name.partition(",")[0] for name in FUNCTIONS}
    called |= {name.rpartition(".")[0] for name in called}
    results = {name for name, one in CALLABLES.items() if inspect.isclass(one) and name.startswith("attack.")}
    assert set(CALLABLES) - called - NO_TABLE - (results - {"attack.Referee"}) == set()


def said(error: BaseException | None) -> Iterator[str]:
    """Yield everything that a traceback, a log or a debugger would show of an error."""
    seen: set[int] = set()
    waiting = [error]
    while waiting:
        one = waiting.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        yield f"{one}\n{one!r}\n{one.args!r}\n{getattr(one, '__notes__', '')}"
        waiting += [one.__cause__, one.__context__]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [name for name in FUNCTIONS if not name.startswith("metrics.")])
def test_the_same_call_takes_a_table_without_the_name(name: str) -> None:
    FUNCTIONS[name](good())  # so what is said below is said of the name, and not of the call


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_error_shows_a_value_of_the_table(name: str, kind: str, caplog: pytest.LogCaptureFixture) -> None:
    caught: BaseException | None = None
    with caplog.at_level(logging.DEBUG), warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            FUNCTIONS[name](TABLES[kind]())
        except Exception as error:  # noqa: BLE001  # any error may show something
            caught = error
    for text in [*said(caught), caplog.text, *(str(one.message) for one in told)]:
        assert "Alice" not in text
        assert "4111" not in text
    if kind in ("lists", "array of objects") and "equivalence_class" not in name:  # whose columns may be categories
        assert isinstance(caught, SfumatoError), f"{name} takes a name for a number: {caught!r}"


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow"])
@pytest.mark.parametrize("method", ["mix", "adp"])
def test_no_error_about_a_file_shows_a_value(tmp_path: Path, ending: str, method: str) -> None:
    table = pl.DataFrame(as_text())
    path = tmp_path / f"in.{ending}"
    {"csv": table.write_csv, "parquet": table.write_parquet, "arrow": table.write_ipc}[ending](path)
    for call in (
        lambda: sf.release(path, tmp_path / "out.csv", key=tmp_path / "k", method=method),
        lambda: sf.compare(path, methods=["tdp"], clusters=[2]),
        lambda: sf.restore(path, tmp_path / "back.csv", sf.Key.generate()),
        lambda: sf.join(path, path, tmp_path / "joined.csv", sf.Key.generate()),
    ):
        caught: BaseException | None = None
        try:
            call()
        except SfumatoError as error:
            caught = error
        assert not any("Alice" in text or "4111" in text for text in said(caught))
