"""The same bytes on Spark as on one machine: any partitioning, any method that meets no neighbours, tasks that die."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.exceptions import DataError, DuplicateRowsError, ParameterError, RepeatedReleaseError
from sfumato.receipts.body import release_order
from sfumato.spark import engine as spark_engine_module
from sfumato.spark.engine import SparkEngine
from sfumato.spark.files import spark_engine
from tests.leaks.attacks import bytes_under_nulls, hints_of_order, outside_chance
from tests.perturb.test_exchange import bank
from tests.perturb.test_exposed import crowd
from tests.perturb.test_relations import DECLARED, broken, visits
from tests.spark.tables import KEY, ROLES, digest, local_release, spark_rows
from tests.values import FEW

pytestmark = pytest.mark.filterwarnings("ignore::sfumato.SfumatoWarning")
SETTINGS = {
    "chaotic": {"source": "keyed"},
    "mix": {"clusterings": [2, 3, "ward 3"]},
    "exchange": {"clusterings": [2, 3], "draws": 1},
    "rp": {"n_components": 2},
}
METHODS = [row.id for row in sf.methods() if not row.wraps and row.tier != "table" and not row.draws_rows]


@pytest.mark.parametrize("method", METHODS)
def test_every_method_but_those_of_the_table_tier_gives_the_bytes_of_one_machine(
    spark: Any, people: Path, tmp_path: Path, method: str
) -> None:
    options = {"method": method, "parameters": SETTINGS.get(method, {})}
    expected = digest(local_release(people, tmp_path, **options))
    released = sf.spark.release(spark.read.parquet(str(people)), key=KEY, **ROLES, **options)
    assert digest(spark_rows(released, tmp_path)) == expected


@pytest.mark.parametrize("shuffle", [True, False])
def test_one_two_and_seven_partitions_give_the_same_bytes(
    spark: Any, people: Path, tmp_path: Path, shuffle: bool
) -> None:
    expected = digest(local_release(people, tmp_path, method="ina", shuffle=shuffle))
    for batch in (100, 333, 5000):
        assert digest(local_release(people, tmp_path, method="ina", shuffle=shuffle, batch_rows=batch)) == expected
    table = spark.read.parquet(str(people))
    # repartition deals the rows out like cards: no task sees neighbours
    for cut, parts in ((table.coalesce(1), 1), (table, None), (table.repartition(7), 7)):
        assert parts is None or cut.rdd.getNumPartitions() == parts
        released = sf.spark.release(cut, key=KEY, method="ina", shuffle=shuffle, **ROLES)
        assert digest(spark_rows(released, tmp_path)) == expected


def test_wrappers_missing_cells_bounds_and_persons_as_on_one_machine(spark: Any, people: Path, tmp_path: Path) -> None:
    whole = pl.read_parquet(people / "*.parquet").with_row_index("n")
    gaps = whole.with_columns(
        wage=pl.when(pl.col("n") % 11 == 3).then(None).otherwise(pl.col("wage")),
        id=pl.format("P{}", pl.col("n") // 3),
    ).drop("n")
    source = tmp_path / "gaps.parquet"
    gaps.write_parquet(source, row_group_size=150)
    policy = tmp_path / "policy.toml"
    policy.write_text(
        '[columns]\nidentifier = ["id"]\nkeep = ["town"]\n'
        "[column.age]\nbounds = [20, 70]\n[column.wage]\ndecimals = 1\n"
        '[method]\nname = "adp"\nscale = 0.4\n[enhance]\nfraction = 0.2\n'
    )
    options = {"policy": policy, "record_id": "id"}
    expected = local_release(source, tmp_path, **options)
    released = sf.spark.release(spark.read.parquet(str(source)), key=KEY, **options)
    found = spark_rows(released, tmp_path)
    assert digest(found) == digest(expected)
    ages = pl.read_parquet(found / "*.parquet")["age"]
    assert ages.min() >= 20
    assert ages.max() <= 70
    assert pl.read_parquet(found / "*.parquet")["wage"].null_count() == gaps["wage"].null_count()


def test_exchanged_gaps_are_those_of_one_machine(spark: Any, people: Path, tmp_path: Path) -> None:
    whole = pl.read_parquet(people / "*.parquet").with_row_index("n")
    gaps = whole.with_columns(wage=pl.when(pl.col("n") % 11 == 3).then(None).otherwise(pl.col("wage"))).drop("n")
    source = tmp_path / "gaps.parquet"
    gaps.write_parquet(source, row_group_size=150)
    options = {"method": "exchange", "parameters": SETTINGS["exchange"], **ROLES}
    expected = local_release(source, tmp_path, **options)
    found = spark_rows(sf.spark.release(spark.read.parquet(str(source)), key=KEY, **options), tmp_path)
    assert digest(found) == digest(expected)
    assert pl.read_parquet(found / "*.parquet")["wage"].null_count() == pytest.approx(
        gaps["wage"].null_count(), rel=FEW
    )


def test_groups_meet_whatever_the_partitions_and_bundles(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(5)
    n, group = 1800, rng.integers(0, 4, 1800)
    table = pl.DataFrame(
        {
            "id": [f"P{i}" for i in range(n)],
            "town": [f"town {i % 7}" for i in range(n)],
            "age": rng.integers(18, 60, n) + 8 * group,
            "visits": rng.poisson(1 + group),
            "wage": np.where(rng.random(n) < 0.05, 20_000.0, (rng.normal(2000, 300, n) + 900 * group).round(2)),
        }
    )
    source = tmp_path / "many.parquet"
    table.write_parquet(source, row_group_size=700)
    options = {"method": "exchange", "parameters": {"clusterings": [2, 5], "min_atom": 30, "draws": 1}, **ROLES}
    expected = digest(local_release(source, tmp_path, **options))
    rows = spark.read.parquet(str(source))
    for cut, bundle in ((rows.coalesce(1), 1 << 14), (rows.repartition(5), 200)):
        monkeypatch.setattr(spark_engine_module, "BUNDLE_ROWS", bundle)
        assert digest(spark_rows(sf.spark.release(cut, key=KEY, **options), tmp_path)) == expected


def test_texts_dates_flags_and_gaps_are_exchanged_as_on_one_machine(spark: Any, tmp_path: Path) -> None:
    source = tmp_path / "bank.parquet"
    bank(600).write_parquet(source, row_group_size=200)
    options = {"method": "exchange", "parameters": SETTINGS["exchange"]}
    expected = local_release(source, tmp_path, identifier=[], keep=["sector"], **options)
    for cut in (spark.read.parquet(str(source)), spark.read.parquet(str(source)).repartition(3)):
        found = spark_rows(sf.spark.release(cut, key=KEY, keep=["sector"], **options), tmp_path)
        here, there = (pl.read_parquet(sorted(one.rglob("*.parquet")) or one) for one in (expected, found))
        assert there.schema == here.schema
        assert there.equals(here)
    target = tmp_path / "files.parquet"
    sf.release(source, target, key=KEY, keep=["sector"], engine=spark_engine, **options)
    assert pl.read_parquet(sorted(target.glob("*.parquet"))).equals(here)
    remarks = bank(600).with_columns(remark=pl.Series([f"about {i}" for i in range(600)]))
    remarks.write_parquet(tmp_path / "remarks.parquet")
    stored = spark.read.parquet(str(tmp_path / "remarks.parquet"))
    with pytest.raises(DataError, match=r"free text or identifiers.*'remark'"):
        sf.spark.release(stored, key=KEY, **options)


def test_relations_hold_on_a_cluster_and_what_breaks_them_is_not_written(spark: Any, tmp_path: Path) -> None:
    source = tmp_path / "visits.parquet"
    visits(400).write_parquet(source, row_group_size=150)
    policy = sf.Policy.model_validate({"columns": {"relations": DECLARED}})
    options = {"policy": policy, "method": "exchange", "parameters": SETTINGS["exchange"]}
    sf.release(source, tmp_path / "here.parquet", key=KEY, **options)
    found = spark_rows(sf.spark.release(spark.read.parquet(str(source)), key=KEY, **options), tmp_path)
    rows = pl.read_parquet(sorted(found.rglob("*.parquet")))
    assert rows.equals(pl.read_parquet(tmp_path / "here.parquet"))
    assert not any(broken(rows).values())
    numbers = tmp_path / "numbers.parquet"
    visits(400).select("a", "b", "total").write_parquet(numbers)
    sums = sf.Policy.model_validate({"columns": {"relations": ["total = a + b"]}})
    released = sf.spark.release(spark.read.parquet(str(numbers)), key=KEY, policy=sums, method="adp")
    with pytest.raises(Exception, match="would break"):
        released.collect()


@pytest.mark.parametrize("method", ["mix", "exchange"])
def test_who_is_held_back_on_one_machine_is_held_back_on_a_cluster(spark: Any, tmp_path: Path, method: str) -> None:
    rows, far = crowd()
    names = [f"x{i}" for i in range(rows.shape[1])]
    people = pl.DataFrame(rows.round(3), schema=names).with_columns(
        pl.Series("id", range(len(rows))), pl.Series("town", ["a", "b", "c"] * (len(rows) // 3))
    )
    people.write_parquet(tmp_path / "in.parquet", row_group_size=200)
    options: dict[str, Any] = {"method": method, "parameters": {"draws": 1}}
    expected = local_release(tmp_path / "in.parquet", tmp_path, **options)
    assert pl.read_parquet(expected).height == len(rows) - len(far)
    for cut in (1, 5):
        table = spark.read.parquet(str(tmp_path / "in.parquet")).repartition(cut)
        released = sf.spark.release(table, key=KEY, **ROLES, **options)
        assert digest(spark_rows(released, tmp_path)) == digest(expected)


def test_people_of_earlier_releases_are_known_on_a_cluster(spark: Any, people: Path, tmp_path: Path) -> None:
    options = {"key": tmp_path / "k", "method": "adp", "repeated": "error", **ROLES}
    sf.release(people, tmp_path / "here.parquet", **options)
    pl.read_parquet(people).slice(1).write_parquet(tmp_path / "fewer.parquet")
    n = pl.read_parquet(people).height - 1
    with pytest.raises(RepeatedReleaseError, match=f"{n:,} of {n:,} people of this table are in an earlier release"):
        sf.spark.release(spark.read.parquet(str(tmp_path / "fewer.parquet")), **options)


def test_a_column_of_row_numbers_stands_for_the_places_in_files(spark: Any, people: Path, tmp_path: Path) -> None:
    expected = digest(local_release(people, tmp_path, method="one-d"))
    numbered = pl.read_parquet(people / "*.parquet").with_row_index("n").sample(fraction=1.0, shuffle=True, seed=1)
    table = spark.createDataFrame(numbered.with_columns(pl.col("n").cast(pl.Int64)).to_arrow())
    released = sf.spark.release(table, key=KEY, method="one-d", row_number="n", **ROLES)
    assert digest(spark_rows(released, tmp_path)) == expected


def test_a_table_without_an_order_is_keyed_by_its_persons(spark: Any, people: Path, tmp_path: Path) -> None:
    rows = pl.read_parquet(people / "*.parquet")
    table = spark.createDataFrame(rows.to_arrow())
    with pytest.raises(ParameterError, match="no order"):
        sf.spark.release(table, key=KEY, method="adp", **ROLES)
    digests, kept = set(), []
    for cut in (table.coalesce(1), table.repartition(5)):
        released = sf.spark.release(cut, key=KEY, method="adp", record_id="id", **ROLES)
        found = spark_rows(released, tmp_path)
        digests.add(digest(found))
        kept.append(pl.read_parquet(sorted(found.glob("*.parquet"))))
    assert len(digests) == 1
    # the rows of one machine, in another order
    here = pl.read_parquet(local_release(people, tmp_path, method="adp", record_id="id"))
    assert kept[0].sort(pl.all()).equals(here.sort(pl.all()))
    assert not kept[0].equals(here)


def test_rows_named_by_persons_meet_if_each_has_one(spark: Any, people: Path, tmp_path: Path) -> None:
    options = {"method": "exchange", "parameters": SETTINGS["exchange"], "record_id": "id", **ROLES}
    here = pl.read_parquet(local_release(people, tmp_path, **options))
    rows = pl.read_parquet(people / "*.parquet")
    released = sf.spark.release(spark.createDataFrame(rows.to_arrow()).repartition(3), key=KEY, **options)
    there = pl.read_parquet(sorted(spark_rows(released, tmp_path).glob("*.parquet")))
    assert there.sort(pl.all()).equals(here.sort(pl.all())), "in another order: the table has none"
    twice = spark.createDataFrame(pl.concat([rows, rows.head(5)]).to_arrow())
    with pytest.raises(DataError, match="several rows have one record id"):
        sf.spark.release(twice, key=KEY, **options)


def flaky(batches: Any) -> Any:
    """Kill the worker in the middle of its rows, at the first attempt of a task."""
    import os

    from pyspark import TaskContext

    for number, batch in enumerate(batches):
        context = TaskContext.get()
        if number == 1 and context.attemptNumber() == 0 and context.partitionId() == 1:
            os._exit(1)
        if number == 1 and context.attemptNumber() == 0:
            raise ValueError("a disk that fails")
        yield batch


def test_tasks_that_die_in_the_middle_and_run_again_change_nothing(spark: Any, people: Path, tmp_path: Path) -> None:
    expected = digest(local_release(people, tmp_path, method="tdp"))
    numbered = pl.read_parquet(people / "*.parquet").with_row_index("n").with_columns(pl.col("n").cast(pl.Int64))
    table = spark.createDataFrame(numbered.to_arrow()).repartitionByRange(2, "n").sortWithinPartitions("n")
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "100")
    try:
        released = sf.spark.release(
            table.mapInArrow(flaky, table.schema), key=KEY, method="tdp", row_number="n", **ROLES
        )
        assert digest(spark_rows(released, tmp_path)) == expected
    finally:
        spark.conf.unset("spark.sql.execution.arrow.maxRecordsPerBatch")


def test_a_lost_executor_changes_nothing(people: Path, tmp_path: Path) -> None:
    expected = digest(local_release(people, tmp_path, method="adp"))
    target, mark, root = tmp_path / "spark.parquet", tmp_path / "killed", Path(__file__).parents[2]
    environment = {
        **os.environ,
        "PYTHONPATH": str(root),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    script = Path(__file__).with_name("lost_executor.py")
    done = subprocess.run(
        [sys.executable, script, people, target, mark],
        check=False,
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert mark.exists(), "an executor was killed"
    assert digest(target) == expected


def test_a_block_that_comes_twice_is_noticed_and_counted_once(
    spark: Any, people: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = digest(local_release(people, tmp_path, method="adp"))
    engines = []
    collected = SparkEngine._run

    def twice(self: SparkEngine, action: Any) -> Any:
        engines.append(self)
        found = collected(self, action)
        return found * 2 if isinstance(found, list) else found

    monkeypatch.setattr(SparkEngine, "_run", twice)
    table = spark.read.parquet(str(people))
    released = sf.spark.release(table, key=KEY, method="adp", **ROLES)
    assert engines[0].repeated > 0
    assert digest(spark_rows(released, tmp_path)) == expected
    # the same rows from two different tasks cannot be told apart from rows counted twice
    partition = spark_engine_module.unpack
    parts = iter(range(1000))
    monkeypatch.setattr(spark_engine_module, "unpack", lambda data: {**partition(data), "part": next(parts)})
    with pytest.raises(DuplicateRowsError, match="already counted"):
        sf.spark.release(table, key=KEY, method="adp", **ROLES)


def test_rows_left_out_are_noticed(spark: Any, people: Path) -> None:
    table = spark.read.parquet(str(people)).filter("age > 30")
    with pytest.raises(DataError, match="cover the rows"):
        sf.spark.release(table, key=KEY, method="adp", **ROLES)


def test_methods_that_need_neighbours_are_refused(spark: Any, people: Path) -> None:
    with pytest.raises(ParameterError, match="neighbours"):
        sf.spark.release(spark.read.parquet(str(people)), key=KEY, method="mdav", **ROLES)


def test_a_folder_of_spark_tells_neither_order_nor_masked_values(spark: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    n = 60_000
    gaps = pl.Series(rng.random(n) < 0.3)
    table = pl.DataFrame(
        {"x": np.sort(rng.normal(size=n)), "text": [f"a kept text {i:06}" for i in rng.permutation(n)]}
    )
    table = table.with_columns(x=pl.when(gaps).then(None).otherwise(pl.col("x")))
    table.write_parquet(tmp_path / "in.parquet", row_group_size=7_000)
    done = sf.release(
        tmp_path / "in.parquet", tmp_path / "out.parquet", key=KEY, keep=["text"], method="adp", engine=spark_engine
    )
    order = release_order(KEY, done.body)
    looks = list(hints_of_order(tmp_path / "out.parquet", order.tolist()))
    assert [what for what, hint, truth in looks if outside_chance(hint, truth, len(looks))] == []
    under = list(bytes_under_nulls(tmp_path / "out.parquet"))
    assert not any(outside_chance(hidden, order[rows], len(under)) for _, hidden, rows in under)


def test_a_private_mixture_adds_its_noise_once_and_draws_the_same_rows_for_any_cut(
    spark: Any, people: Path, tmp_path: Path
) -> None:
    bounds = {"age": (0.0, 120.0), "wage": (0.0, 1e6), "score": (-1e3, 1e3)}
    table = spark.read.parquet(str(people)).drop("id", "town")
    told = {"method": "dp", "parameters": {"epsilon": 20.0, "bounds": bounds}, "key": KEY}
    released = sf.spark.release(table, **told)
    places = (spark_rows(one, tmp_path) for one in (released, released.repartition(3)))
    first, second = (pl.read_parquet(sorted(one.glob("*.parquet"))).sort(released.columns) for one in places)
    assert first.equals(second), "computed twice: executors draw from what travelled, and add no noise of their own"
    assert 0 < released.count() < table.count()
    assert table.rdd.getNumPartitions() > 1 == released.rdd.getNumPartitions(), "parts say nothing of the table"
