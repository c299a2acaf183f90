"""Compile every kernel once and keep it beside its source; run by `make test` while mypy is busy.

On a clean clone each worker of the tests would compile them for itself: twenty seconds of processor time each.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from sfumato.core import fast
from tests.perturb.cases import table, variants

if fast.load() is not None:
    warnings.simplefilter("ignore")
    for perturber in variants(insecure_seed=1):
        perturber.fit_transform(table())
    print("kernels: compiled")
