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

from typing import TYPE_CHECKING

from sfumato._lazy import lazy_names

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
    from sfumato.files.formats.csv_dialect import CsvFile as CsvFile
    from sfumato.perturb.catalogue import methods as methods
    from sfumato.pipeline.join import join as join
    from sfumato.pipeline.release import release as release
    from sfumato.pipeline.restore import restore as restore
    from sfumato.policy.model import Policy as Policy
    from sfumato.policy.reading import parse_policy as parse_policy
    from sfumato.policy.reading import read_policy as read_policy
    from sfumato.receipts.shown import Receipt as Receipt
    from sfumato.tuning.compare import compare as compare
    from sfumato.tuning.comparison import Comparison as Comparison
    from sfumato.tuning.tune import tune as tune
    from sfumato.tuning.tuned import Tuned as Tuned

__version__ = "0.1.0"

# name -> module that defines it ("" for the subpackage of that name); loaded when first used, so that
# `import sfumato` stays light
_HOMES = {
    "Audit": "auditing.model",
    "Comparison": "tuning.comparison",
    "CsvFile": "files.formats.csv_dialect",
    "Key": "core.keys",
    "NoiseReuseWarning": "exceptions",
    "Policy": "policy.model",
    "Receipt": "receipts.shown",
    "SfumatoError": "exceptions",
    "SfumatoWarning": "exceptions",
    "Tuned": "tuning.tuned",
    "attack": "",
    "audit": "auditing.run",
    "cluster": "",
    "compare": "tuning.compare",
    "exceptions": "",
    "join": "pipeline.join",
    "methods": "perturb.catalogue",
    "metrics": "",
    "parse_policy": "policy.reading",
    "perturb": "",
    "read_policy": "policy.reading",
    "release": "pipeline.release",
    "restore": "pipeline.restore",
    "spark": "",
    "tune": "tuning.tune",
}

__all__ = ["__version__", *_HOMES]  # noqa: PLE0604

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
