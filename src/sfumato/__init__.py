"""sfumato: blur every record, keep every cluster.

Release a table that clusters like the original while its rows cannot be recovered.

Examples
--------
>>> import numpy as np
>>> import sfumato as sf
>>> table = np.random.default_rng(0).normal(size=(1000, 4))
>>> key = sf.Key.generate()
>>> released = sf.perturb.IndependentNoise(key=key).fit_transform(table)
>>> released.shape
(1000, 4)
>>> bool((released == table).any())
False
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sfumato import attack as attack
    from sfumato import cluster as cluster
    from sfumato import exceptions as exceptions
    from sfumato import metrics as metrics
    from sfumato import perturb as perturb
    from sfumato import spark as spark
    from sfumato.auditing.model import Audit as Audit
    from sfumato.auditing.run import audit as audit
    from sfumato.core.keys import Key as Key
    from sfumato.exceptions import NoiseReuseWarning as NoiseReuseWarning
    from sfumato.exceptions import SfumatoError as SfumatoError
    from sfumato.exceptions import SfumatoWarning as SfumatoWarning
    from sfumato.perturb.catalogue import methods as methods
    from sfumato.pipeline.join import join as join
    from sfumato.pipeline.release import release as release
    from sfumato.pipeline.restore import restore as restore
    from sfumato.table.csv_dialect import CsvFile as CsvFile
    from sfumato.tuning.compare import compare as compare
    from sfumato.tuning.comparison import Comparison as Comparison
    from sfumato.tuning.tune import tune as tune
    from sfumato.tuning.tuned import Tuned as Tuned

__version__ = "0.1.0"

# name -> module that defines it ("" for the subpackage of that name); loaded when first used, so that
# `import sfumato` stays light
_HOMES = {
    "Audit": "sfumato.auditing.model",
    "Comparison": "sfumato.tuning.comparison",
    "CsvFile": "sfumato.table.csv_dialect",
    "Key": "sfumato.core.keys",
    "NoiseReuseWarning": "sfumato.exceptions",
    "SfumatoError": "sfumato.exceptions",
    "SfumatoWarning": "sfumato.exceptions",
    "Tuned": "sfumato.tuning.tuned",
    "attack": "",
    "audit": "sfumato.auditing.run",
    "cluster": "",
    "compare": "sfumato.tuning.compare",
    "exceptions": "",
    "join": "sfumato.pipeline.join",
    "methods": "sfumato.perturb.catalogue",
    "metrics": "",
    "perturb": "",
    "release": "sfumato.pipeline.release",
    "restore": "sfumato.pipeline.restore",
    "spark": "",
    "tune": "sfumato.tuning.tune",
}

__all__ = ["__version__", *_HOMES]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'sfumato' has no attribute {name!r}")
    home = _HOMES[name]
    return getattr(import_module(home), name) if home else import_module(f"sfumato.{name}")


def __dir__() -> list[str]:
    return sorted(__all__)
