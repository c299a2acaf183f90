"""`sfumato.spark.release`: a DataFrame of a running Spark application, protected."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sfumato.core.keys import Key
from sfumato.exceptions import ParameterError
from sfumato.pipeline.engines.engine import Watch
from sfumato.pipeline.history import History
from sfumato.pipeline.job import ReleaseJob
from sfumato.pipeline.keys import choose_key
from sfumato.pipeline.lookback import LookBack
from sfumato.pipeline.plan import read_every_kind, settle_policy
from sfumato.policy.model import Policy
from sfumato.spark.coded import CodedTable, learn_spark_columns
from sfumato.spark.engine import SparkEngine
from sfumato.spark.table import SparkTable


def release(
    dataframe: Any,
    policy: Policy | str | os.PathLike[str] | None = None,
    key: Key | str | os.PathLike[str] | None = None,
    *,
    method: Any = None,
    parameters: Mapping[str, Any] | None = None,
    identifier: Sequence[str] = (),
    keep: Sequence[str] = (),
    record_id: str | None = None,
    row_number: str | None = None,
    name: str | None = None,
    shuffle: bool | None = None,
    repeated: str | None = None,
    history: Sequence[str | os.PathLike[str]] = (),
    receipt: str | os.PathLike[str] | None = None,
    progress: Callable[[str, float], None] | None = None,
    cancel: Any = None,
) -> Any:
    """Release a Spark DataFrame: fit on the executors now, and return the protected rows, computed when they are used.

    The released rows are those of `sfumato.release` on the same table, key and policy, bit for bit, whatever the number
    of partitions and executors. A task that fails and runs again changes nothing. Executors get subkeys of this one
    release, never the key; they need sfumato installed.

    Parameters
    ----------
    dataframe : pyspark.sql.DataFrame
        Read from Parquet files and not filtered since (its rows then have their places in the files as numbers), or
        with a column of row numbers, or with a column that names persons.
    policy : Policy or path, optional
        See docs/guide/policy.md; its limits for audits are refused here, because nothing is written yet.
    key : Key or path, optional
        As in `sfumato.release`; a new key goes to the user's own folder of keys on the driver.
    method, parameters, identifier, keep, name, shuffle, repeated, history
        As in `sfumato.release`.
    record_id : str, optional
        A column that names a person: the noise is the same in all rows of one person. Tables without an order need it.
    row_number : str, optional
        A column that numbers the rows 0, 1, ... without a gap; it is not released.
    receipt : path, optional
        Where the sealed receipt is written on the driver; by default beside the key.
    progress, cancel
        As in `sfumato.release`.

    Returns
    -------
    pyspark.sql.DataFrame
        Write it once: `released.write.parquet(...)`. Its partitions are in the order of the release.
    """
    table = SparkTable(dataframe, row_number=row_number, record_id=record_id)
    owner = choose_key(key, Path("spark-release"))
    settled = settle_policy(
        policy,
        method,
        parameters,
        identifier,
        keep,
        record_id=record_id,
        name=name,
        shuffle=shuffle,
        repeated=repeated,
        history=history,
    )
    if settled.audit is not None:
        raise ParameterError(
            "limits of an audit cannot be checked before the rows are computed",
            hint="leave [audit] out, write the release to a file, and run `sfumato audit` on it",
        )
    if not table.numbered and not settled.release.shuffle:
        raise ParameterError(
            "a table without an order has none to keep", hint="leave out shuffle=False, or name a column: row_number="
        )
    watch = Watch(2, progress, cancel)
    chosen = None if method is None or isinstance(method, str) else method
    table, settled = read_every_kind(table, settled, chosen, learn_spark_columns, CodedTable)
    with History(owner.folder) as own:
        lookback = LookBack(own, settled.release.history)
        job = ReleaseJob(table, settled, owner, perturber=chosen, watch=watch, lookback=lookback)
        engine = SparkEngine(table, watch)
        fitted = job.fit(engine)
        released = engine.released(fitted.cells, job.last_pass)
        job.commit(Path(receipt) if receipt is not None else job.receipt_path(Path("spark-release")))
    return released
