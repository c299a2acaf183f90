"""Nothing physical survives a release: neither the order of the rows nor what lay under missing cells."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.receipts.body import release_order
from tests.leaks.attacks import _stored, bytes_under_nulls, hints_of_order, outside_chance, tables

ROWS = 60_000
TARGETS = ["out.csv", "out.csv.gz", "out.tsv", "out.parquet", "out.arrow", "out.feather", "out.xlsx"]
pytestmark = pytest.mark.filterwarnings("ignore::sfumato.SfumatoWarning")


def masked(values: np.ndarray, gaps: np.ndarray, kind: pa.DataType) -> pa.Array:
    """Return an array whose missing cells still hold their values, as `fillna`-free libraries leave them."""
    return pa.Array.from_buffers(kind, len(values), [pa.array(~gaps).buffers()[1], pa.py_buffer(values.tobytes())])


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an Arrow file with everything that could carry its order or its masked values along."""
    rng = np.random.default_rng(0)
    gaps = rng.random(ROWS) < 0.3
    texts = [f"a text that is kept and long enough {i:06d}" for i in rng.permutation(ROWS)]
    levels = [f"level {i}" for i in rng.permutation(2_000)]
    chosen = [levels[i] for i in np.sort(rng.integers(0, 2_000, ROWS))]  # the file is sorted by it, as files are
    plain = pa.array(texts)
    hidden_text = pa.Array.from_buffers(pa.string(), ROWS, [pa.array(~gaps).buffers()[1], *plain.buffers()[1:]])
    table = pa.table(
        {
            "wage": masked(np.sort(rng.normal(3000, 800, ROWS)), gaps, pa.float64()),
            "age": pa.array(rng.integers(18, 90, ROWS)),
            "masked": masked(np.arange(ROWS, dtype=np.int64), gaps, pa.int64()),
            "day": masked(np.arange(ROWS, dtype=np.int32), gaps, pa.date32()),
            "yes": pa.Array.from_buffers(
                pa.bool_(),
                ROWS,
                [pa.array(~gaps).buffers()[1], pa.array(np.arange(ROWS) > ROWS / 2).buffers()[1]],
            ),
            "text": plain,
            "masked_text": hidden_text,
            "category": pa.array(chosen).dictionary_encode(),
            "list": pa.array([[f"an inner text of more than twelve {i}"] for i in rng.permutation(ROWS)]),
        },
        metadata={"secret": "of the original file"},
    )
    path = tmp_path_factory.mktemp("physical") / "in.arrow"
    with ipc.new_file(path, table.schema) as file:
        file.write_table(table, max_chunksize=2_777)
    return path


KEPT = ["masked", "day", "yes", "text", "masked_text", "category", "list"]


@pytest.mark.parametrize(
    ("name", "batch"),
    # a workbook is written row by row whatever the batches, and takes long
    [*((name, None) for name in TARGETS), *((name, 500) for name in TARGETS if name != "out.xlsx")],
)
def test_no_format_tells_the_order_or_what_lay_under_missing_cells(
    tmp_path: Path, original: Path, name: str, batch: int | None
) -> None:
    if batch is not None and name not in ("out.arrow", "out.parquet"):
        batch = 7_000
    typed = name.endswith((".parquet", ".arrow", ".feather"))
    keep, drop = (KEPT, []) if typed else ([k for k in KEPT if k != "list"], ["list"])
    key = sf.Key.from_insecure_seed(1)
    done = sf.release(original, tmp_path / name, key=key, keep=keep, identifier=drop, method="adp", batch_rows=batch)
    order = release_order(key, done.body)
    looks = list(hints_of_order(tmp_path / name, order.tolist()))
    assert len(looks) >= 1 + 2 * typed
    told = [what for what, hint, truth in looks if outside_chance(hint, truth, len(looks))]
    # the level itself is kept, and the file was sorted by it: what is asked is whether its *number* tells more
    assert [what for what in told if "category" not in what] == []
    under = list(bytes_under_nulls(tmp_path / name))
    assert not typed or {column for column, _, _ in under} >= {"wage", "masked", "day", "yes"}
    for column, hidden, rows in under:
        # what was masked there grows with the original row; what a decoder leaves there belongs to other rows
        assert not outside_chance(hidden, order[rows], len(under)), f"{column}: what was masked can be read"
        if not name.endswith(".parquet"):
            assert len(np.unique(hidden)) == 1, f"{column}: something lies under its missing cells"
    assert b"of the original file" not in (tmp_path / name).read_bytes()


@pytest.mark.parametrize("ending", ["arrow", "parquet"])
def test_numbers_of_categories_are_those_of_the_released_rows(tmp_path: Path, original: Path, ending: str) -> None:
    sf.release(original, tmp_path / f"out.{ending}", key=sf.Key.from_insecure_seed(1), keep=KEPT, method="adp")
    first = tables(tmp_path / f"out.{ending}")[0].column("category").combine_chunks()
    array = first.chunk(0) if isinstance(first, pa.ChunkedArray) else first
    if not pa.types.is_dictionary(array.type):
        array = array.dictionary_encode()
    used = array.indices.to_numpy()
    appearance = list(dict.fromkeys(used.tolist()))
    assert appearance == sorted(appearance), "numbered by their first appearance in the release, not in the original"


@pytest.mark.parametrize("ending", ["arrow", "parquet"])
def test_an_enum_of_many_levels_does_not_bring_its_order_along(tmp_path: Path, ending: str) -> None:
    rng = np.random.default_rng(0)
    names = [f"person {i:05d}" for i in rng.permutation(3_000)]
    table = pl.DataFrame(
        {
            "x": rng.normal(size=3_000),
            "many": pl.Series(names, dtype=pl.Enum(names)),
            "few": pl.Series(["low", "high"] * 1_500, dtype=pl.Enum(["low", "high"])),
        }
    )
    table.write_ipc(tmp_path / "in.arrow")
    out = tmp_path / f"out.{ending}"
    sf.release(tmp_path / "in.arrow", out, key=sf.Key.from_insecure_seed(1), keep=["many", "few"], method="adp")
    raw = out.read_bytes()
    places = [raw.find(name.encode()) for name in names] if ending == "arrow" else []
    assert not outside_chance(np.array(places), np.arange(len(places)), 1)
    after = pl.read_ipc(out) if ending == "arrow" else pl.read_parquet(out)
    assert sorted(after["many"].to_list()) == sorted(names)
    assert after.schema["few"] == pl.Enum(["low", "high"]), "few levels are a scale, and keep their order"


@pytest.mark.parametrize("ending", ["arrow", "parquet"])
def test_typed_files_have_the_same_bytes_whatever_the_batches_and_the_memory(
    tmp_path: Path, original: Path, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    digests = set()
    for number, (batch, piece) in enumerate([(None, 32 << 20), (500, 32 << 20), (3_333, 1 << 19), (ROWS, 1 << 16)]):
        monkeypatch.setattr("sfumato.files.formats.sinks._PIECE_BYTES", piece)
        out = tmp_path / f"{number}.{ending}"
        sf.release(original, out, key=sf.Key.from_insecure_seed(1), keep=KEPT, method="adp", batch_rows=batch)
        digests.add(hashlib.sha256(out.read_bytes()).hexdigest())
    assert len(digests) == 1


def test_parquet_says_nothing_but_its_schema(tmp_path: Path, original: Path) -> None:
    pq.write_table(ipc.open_file(original).read_all(), tmp_path / "in.parquet", row_group_size=5_000)
    sf.release(
        tmp_path / "in.parquet", tmp_path / "out.parquet", key=sf.Key.from_insecure_seed(1), keep=KEPT, method="adp"
    )
    meta = pq.ParquetFile(tmp_path / "out.parquet").metadata
    assert set(meta.metadata or {}) <= {b"ARROW:schema"}
    groups = [meta.row_group(i) for i in range(meta.num_row_groups)]
    assert sum(group.num_rows for group in groups) == ROWS
    after = pq.read_table(tmp_path / "out.parquet")
    for i, name in enumerate(meta.schema.names):
        for group in groups:
            statistics = group.column(i).statistics
            if name == "wage" and statistics is not None and statistics.has_min_max:
                present = after.column("wage").drop_null().to_numpy()
                assert present.min() <= statistics.min <= statistics.max <= present.max(), "of released values only"


def test_the_attack_finds_the_order_that_was_published_before(tmp_path: Path, original: Path) -> None:
    """The attack itself is tried on a release as it used to be written: texts as views, values under gaps."""
    rows = pl.read_ipc(original)
    words = np.random.default_rng(5).permutation(ROWS)
    order = np.argsort(words)
    rows.with_columns(word=pl.Series(words)).sort("word").drop("word").write_ipc(
        tmp_path / "old.arrow", compat_level=pl.CompatLevel.newest()
    )
    looks = list(hints_of_order(tmp_path / "old.arrow", order.tolist()))
    assert any(outside_chance(hint, truth, len(looks)) for what, hint, truth in looks if "text: view" in what)
    rows.write_ipc(tmp_path / "gaps.arrow", compat_level=pl.CompatLevel.oldest())
    assert any(len(np.unique(hidden)) > 1 for _, hidden, _ in bytes_under_nulls(tmp_path / "gaps.arrow"))


NESTED = {
    "struct": (pl.Struct({"a": pl.Int64, "b": pl.String}), lambda i: {"a": i + 1, "b": f"text number {i:05d}"}),
    "struct with gaps": (pl.Struct({"a": pl.Int64}), lambda i: {"a": None if i % 2 else i + 1}),
    "list with gaps": (pl.List(pl.Int64), lambda i: [i + 1, None]),
    "array with gaps": (pl.Array(pl.Int64, 2), lambda i: [i + 1, None]),
    "list of texts": (pl.List(pl.String), lambda i: [f"a text that is long {i:05d}", None]),
}


def leaves(array: pa.Array) -> list[pa.Array]:
    """Return the flat arrays inside a nested one, at the places of their parents."""
    kind = array.type
    if pa.types.is_struct(kind):
        return [leaf for i in range(kind.num_fields) for leaf in leaves(array.field(i))]
    if pa.types.is_large_list(kind) or pa.types.is_list(kind) or pa.types.is_fixed_size_list(kind):
        return leaves(array.values)
    return [array]


@pytest.mark.parametrize("kind", NESTED)
@pytest.mark.parametrize("batch", [None, 500])
def test_nothing_lies_under_missing_cells_of_nested_columns(tmp_path: Path, kind: str, batch: int | None) -> None:
    dtype, value = NESTED[kind]
    rng = np.random.default_rng(0)
    gaps = rng.random(3_000) < 0.3
    cells = pl.Series([None if gap else value(i) for i, gap in enumerate(gaps)], dtype=dtype)
    table = pl.DataFrame({"x": rng.normal(size=3_000), "k": cells})
    table.write_ipc(tmp_path / "in.arrow")
    key = sf.Key.from_insecure_seed(1)
    out = tmp_path / "out.arrow"
    done = sf.release(tmp_path / "in.arrow", out, key=key, keep=["k"], method="adp", batch_rows=batch)
    order = release_order(key, done.body)
    before = cells.to_list()
    assert pl.read_ipc(out)["k"].to_list() == [before[i] for i in order.tolist()]
    for chunk in ipc.open_file(out).read_all().column("k").chunks:
        for leaf in leaves(chunk):
            stored = _stored(leaf)
            assert stored is not None
            hidden = stored[leaf.is_null().to_numpy(zero_copy_only=False)]
            assert len(np.unique(hidden)) <= 1


@pytest.mark.parametrize("ending", ["arrow", "parquet"])
def test_levels_inside_lists_and_structs_do_not_bring_their_order_along(tmp_path: Path, ending: str) -> None:
    names = [f"person {i:05d}" for i in np.random.default_rng(0).permutation(2_000)]
    levels = pl.Enum(names)
    table = pl.DataFrame(
        {
            "x": np.arange(2_000.0),
            "l": pl.Series([[name] for name in names], dtype=pl.List(levels)),
            "s": pl.Series([{"a": name} for name in names], dtype=pl.Struct({"a": levels})),
        }
    )
    table.write_ipc(tmp_path / "in.arrow")
    out = tmp_path / f"out.{ending}"
    sf.release(tmp_path / "in.arrow", out, key=sf.Key.from_insecure_seed(1), keep=["l", "s"], method="adp")
    after = pl.read_ipc(out) if ending == "arrow" else pl.read_parquet(out)
    assert after.schema["l"] == pl.List(pl.String)
    assert after.schema["s"] == pl.Struct({"a": pl.String})
