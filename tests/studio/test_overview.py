"""The first look at a table, and the rows of a release found again without its whole order."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from sfumato.auditing.utility.measure import measure_utility
from sfumato.core.keys import Key
from sfumato.exceptions import DataError
from sfumato.files.entire import numbers_at
from sfumato.files.opening import open_source
from sfumato.pipeline.release import release
from sfumato.policy.overview import complete_columns, overview
from sfumato.receipts import body as receipts
from sfumato.studio.events import Stream
from sfumato.studio.prepared import prepare
from sfumato.studio.preview import preview
from sfumato.studio.release_audit import audit_sample
from sfumato.studio.settings import checked_settings


@pytest.fixture
def file(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    n = 3000
    table = pl.DataFrame(
        {
            "id": [f"p{i}" for i in range(n)],
            "age": rng.integers(18, 90, n),
            "wage": rng.normal(50, 9, n).round(2),
            "note": ["7"] * 2000 + ["seven"] + ["7"] * 999,
            "gap": [None if i % 10 == 0 else i for i in range(n)],
        }
    )
    table.write_csv(tmp_path / "people.csv")
    table.write_parquet(tmp_path / "people.parquet")
    return tmp_path / "people.csv"


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_the_sample_depends_on_the_key_and_on_nothing_else(file: Path, ending: str) -> None:
    key = Key.generate()
    path = file.with_suffix(ending)
    looks = [overview(open_source(path, batch_rows=rows), key, 200) for rows in (None, 70, 1999)]
    for look in looks:
        assert look.n_rows == 3000
        assert look.sample.equals(looks[0].sample)
        assert look.sample["id"].to_list() == [f"p{row}" for row in look.rows]
    assert not np.array_equal(overview(open_source(path), Key.generate(), 200).rows, looks[0].rows)


def test_columns_are_told_by_kind_gaps_and_oddities(file: Path) -> None:
    seen = {column.name: column for column in overview(open_source(file), Key.generate(), 500).columns}
    kinds = {name: column.kind for name, column in seen.items()}
    assert kinds == {"id": "text", "age": "integer", "wage": "number", "note": "text", "gap": "integer"}
    assert seen["gap"].missing == 300
    assert seen["id"].distinct == seen["id"].sampled == 500
    assert seen["note"].odd == "1 of its cells are not numbers, the first in row 2,001"


def test_missing_cells_are_filled_by_the_median_and_empty_columns_refused() -> None:
    table = pl.DataFrame({"a": [1.0, None, 4.0], "b": [None, None, None]}, schema={"a": pl.Float64, "b": pl.Int64})
    assert complete_columns(table, ["a"])["a"].to_list() == [1.0, 2.5, 4.0]
    with pytest.raises(DataError, match="'b' has no values"):
        complete_columns(table, ["b"])


@pytest.mark.filterwarnings("ignore::sfumato.exceptions.SingledOutWarning")
def test_rows_of_a_release_are_found_without_its_whole_order(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(receipts, "_BLOCK", 700)
    key = Key.generate()
    monkeypatch.setenv("SFUMATO_KEYS", str(tmp_path / "keys"))
    done = release(file, tmp_path / "out.csv", key=key, method="tdp", identifier=["id"], keep=["note"])
    rows = np.random.default_rng(1).permutation(3000)[:400]
    places = receipts.release_places(key, done.body, rows)
    order = receipts.release_order(key, done.body)
    assert np.array_equal(order[places], rows)
    before = numbers_at(open_source(file), ["age", "wage"], rows).to_numpy()
    after = numbers_at(open_source(tmp_path / "out.csv", batch_rows=100), ["age", "wage"], places).to_numpy()
    shift = after - before
    assert np.allclose(shift, shift[0]), "a translation moves every row alike, so these are the same people"


@pytest.mark.filterwarnings("ignore::sfumato.exceptions.SingledOutWarning")
@pytest.mark.parametrize("kept", [["id"], []])
def test_the_audit_of_a_release_joins_on_kept_columns(
    file: Path, tmp_path: Path, kept: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SFUMATO_KEYS", str(tmp_path / "keys"))
    monkeypatch.setattr("sfumato.auditing.session.measure_utility", partial(measure_utility, clusters=(2,)))
    dropped = [name for name in ("id", "note", "gap") if name not in kept]
    few = {"method": "mix", "parameters": {"draws": 1, "clusterings": [2, 3]}}
    done = release(file, tmp_path / "out.csv", key=tmp_path / "k", identifier=dropped, keep=kept, **few)
    rows = np.random.default_rng(1).permutation(3000)[:400]
    found = audit_sample(file, tmp_path / "out.csv", done, rows, lambda _what, _share: None)
    assert (found.grade == "F") == bool(kept)


@pytest.mark.parametrize(("kept", "grades"), [((), "AB"), (("town",), "F"), (("zip",), "D")])
def test_a_preview_joins_on_kept_columns(kept: tuple[str, ...], grades: str) -> None:
    draw = np.random.default_rng(0)
    kind = draw.integers(0, 3, 900)
    numbers = {"a": 4.0 * kind + draw.normal(size=900), "b": draw.normal(size=900) - 3 * kind}
    table = pl.DataFrame({**numbers, "town": [f"t{i}" for i in range(900)], "zip": [str(i // 3) for i in range(900)]})
    prepared = prepare(table, ("a", "b"), kept=kept)
    sent: list[dict] = []
    settings = checked_settings({"method": "mix"})
    entry = preview(prepared, settings, Key.from_insecure_seed(1), None, 3, Stream(sent.append))
    assert entry is not None
    assert entry["grade"] in grades, entry["verdict"]
    asked = {one["id"] for one in sent if one["type"] == "attack"}
    assert ("kept-columns" in asked) == bool(kept)
    assert {one["of"] for one in sent if one["type"] == "attack"} == {len(asked)}
