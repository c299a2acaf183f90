"""python lost_executor.py FOLDER TARGET: a release on two executors, one of which is killed in the middle of a task.

It needs a session of its own: executors that are processes, not threads of the driver.
"""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from typing import Any

MARK = "SFUMATO_TEST_MARK"


def fatal(batches: Any) -> Any:
    """Kill the executor of this task, once, when it has handed on half of its rows."""
    import os
    import signal

    for number, batch in enumerate(batches):
        if number == 1:
            try:
                os.close(os.open(os.environ[MARK], os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                pass
            else:
                daemon = os.getppid()  # forks the workers; its parent is the executor
                executor = int(open(f"/proc/{daemon}/stat").read().rpartition(")")[2].split()[1])  # noqa: SIM115
                assert b"CoarseGrainedExecutorBackend" in open(f"/proc/{executor}/cmdline", "rb").read()  # noqa: SIM115
                os.kill(executor, signal.SIGKILL)
        yield batch


def main(folder: Path, target: Path, mark: Path) -> None:
    import polars as pl
    from pyspark.sql import SparkSession

    import sfumato as sf
    from sfumato.spark.session import find_java
    from tests.spark.tables import KEY, ROLES

    find_java()
    session = (
        SparkSession.builder.master("local-cluster[2,1,1024]")
        .config("spark.executor.memory", "1024m")
        .config("spark.ui.enabled", "false")
        .config("spark.log.level", "OFF")
        .config(f"spark.executorEnv.{MARK}", str(mark))
        .config("spark.executorEnv.PYTHONPATH", os.environ["PYTHONPATH"])
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", "100")
        .getOrCreate()
    )
    numbered = pl.read_parquet(folder / "*.parquet").with_row_index("n").with_columns(pl.col("n").cast(pl.Int64))
    table = session.createDataFrame(numbered.to_arrow()).repartitionByRange(3, "n").sortWithinPartitions("n")
    released = sf.spark.release(table.mapInArrow(fatal, table.schema), key=KEY, method="adp", row_number="n", **ROLES)
    released.write.mode("overwrite").parquet(str(target))
    session.stop()


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(*(Path(argument) for argument in sys.argv[1:4]))
