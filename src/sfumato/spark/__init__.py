"""Releases on Apache Spark: the same plan, the same bytes, computed by the executors of a cluster.

`sfumato.spark.release` takes a DataFrame of a running application; `sfumato release ... --engine spark` a file.
"""

from sfumato.exceptions import MissingComponentError

try:
    import pyspark  # noqa: F401
except ImportError:
    raise MissingComponentError("pyspark is not installed", hint="pip install 'sfumato[spark]'") from None

from sfumato.spark.dataframe import release

__all__ = ["release"]
