"""Write the golden digests of every method: only when STREAM_VERSION rises, or a method is added."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from sfumato.core.stream import STREAM_VERSION  # noqa: E402
from tests.perturb.cases import describe, table, variants  # noqa: E402

digests = {
    describe(perturber): hashlib.sha256(
        np.ascontiguousarray(perturber.fit_transform(table(700)), dtype="<f8").tobytes()
    ).hexdigest()
    for perturber in variants(insecure_seed=3)
}
target = ROOT / "tests" / "golden" / "digests.json"
target.write_text(json.dumps({"stream_version": STREAM_VERSION, "digests": digests}, indent=2) + "\n")
print(f"wrote {len(digests)} digests for stream version {STREAM_VERSION}")
