"""PostgreSQL: a query as a table that is read in batches, again and again, and released rows as a new table.

All passes read in one transaction, so that they see the same rows in the same order. A password never stands in an
address: libpq finds it in PGPASSWORD, PGPASSFILE or ~/.pgpass. Errors name the server's code and quote nothing.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from sfumato.exceptions import DataError, MissingComponentError, ParameterError, SfumatoError
from sfumato.files.formats.arrow_rows import polars_types, raw_rows
from sfumato.files.source import CsvStyle, RawBatch, check_headers

_SAME_ORDER = (
    "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY",
    "SET LOCAL synchronize_seqscans = off",  # a scan that joins another one begins in the middle
    "SET LOCAL max_parallel_workers_per_gather = 0",
)
_BATCH_BYTES = 8 << 20


class PostgresSource:
    """The rows of a query.

    Parameters
    ----------
    address : str
        "postgresql://user@host/database", without a password.
    query : str
        A SELECT; with ORDER BY, the same table gives the same release tomorrow.
    """

    style = CsvStyle()

    def __init__(self, address: str, query: str) -> None:
        self.path = Path("the query")
        self._query = query.strip().rstrip(";")
        self._connection = _connect(address)
        try:
            self._describe()
        except BaseException:
            self.close()
            raise

    def _describe(self) -> None:
        with _plain_errors("the query failed"), self._connection.cursor() as cursor:
            for setting in _SAME_ORDER:
                cursor.execute(setting)
            cursor.execute(f"SELECT * FROM ({self._query}) AS q LIMIT 0")  # noqa: S608  # the owner's own query
            schema = cursor.fetch_arrow_table().schema
            cursor.execute(f"SELECT count(*) FROM ({self._query}) AS q")  # noqa: S608
            self._rows = int(cursor.fetchone()[0])
            self.names = tuple(schema.names)
            # exact decimals come as text: they are read as doubles, like those of a CSV file
            self._exact = {field.name for field in schema if _is_exact(field)}
            cursor.execute(f"{self._select(self.names)} LIMIT 0")
            self.types = polars_types(cursor.fetch_arrow_table().schema)
        check_headers(self.names, str(self.path))

    def batches(self, columns: Sequence[str] | None = None, numbers: Sequence[str] = ()) -> Iterator[RawBatch]:  # noqa: ARG002
        """Run the query once more; see `Source`."""
        wanted = [name for name in self.names if columns is None or name in columns]
        row = 0
        with _plain_errors("the query failed"), self._connection.cursor() as cursor:
            cursor.adbc_statement.set_options(**{"adbc.postgresql.batch_size_hint_bytes": str(_BATCH_BYTES)})
            cursor.execute(self._select(wanted))
            with cursor.fetch_record_batch() as reader:
                for raw in raw_rows(reader, None, rows_at_once=1):
                    yield RawBatch(raw.frame, row, (row + raw.frame.height) / max(self._rows, 1))
                    row += raw.frame.height

    def close(self) -> None:
        """End the transaction."""
        with contextlib.suppress(Exception):
            self._connection.close()

    def _select(self, names: Sequence[str]) -> str:
        listed = ", ".join(
            f"{_quoted(name)}::double precision AS {_quoted(name)}" if name in self._exact else _quoted(name)
            for name in names
        )
        return f"SELECT {listed} FROM ({self._query}) AS q"  # noqa: S608


def copy_to_table(source: Path, address: str, table: str) -> None:
    """Copy released rows from Parquet into a new table, all of them or none.

    Parameters
    ----------
    source : Path
        A Parquet file.
    table : str
        Must not exist.
    """
    import pyarrow.parquet as pq

    connection = _connect(address)
    try:
        with _plain_errors(f"table {table!r} cannot be written"):
            with pq.ParquetFile(source) as file, connection.cursor() as cursor:
                for number, batch in enumerate(file.iter_batches(batch_size=1 << 16)):
                    cursor.adbc_ingest(table, batch, mode="create" if number == 0 else "append")
            connection.commit()
    finally:
        with contextlib.suppress(Exception):
            connection.close()


def _connect(address: str) -> Any:
    parts = urlsplit(address)
    if parts.password or any(name == "password" for name, _ in parse_qsl(parts.query)):
        raise ParameterError(
            "the address of the database holds a password, which histories and process lists would show",
            hint="put it into ~/.pgpass or PGPASSWORD, and leave it out of the address",
        )
    try:
        from adbc_driver_postgresql import dbapi
    except ImportError:
        raise MissingComponentError("PostgreSQL needs its driver", hint="pip install 'sfumato[postgresql]'") from None
    with _plain_errors(f"cannot connect to {parts.hostname or 'the local server'}"):
        return dbapi.connect(address)


@contextlib.contextmanager
def _plain_errors(what: str) -> Iterator[None]:
    problem = None
    try:
        yield
    except SfumatoError:
        raise
    except Exception as error:  # noqa: BLE001  # the driver's words may quote cells, or the address
        code = getattr(error, "sqlstate", None)
        problem = DataError(
            f"PostgreSQL: {what}{f' (SQLSTATE {code})' if code else ''}",
            hint="try the query in psql; the code is explained in PostgreSQL's manual, appendix A",
        )
    if problem is not None:
        raise problem


def _is_exact(field: Any) -> bool:
    return (field.metadata or {}).get(b"ADBC:postgresql:typname") == b"numeric"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
