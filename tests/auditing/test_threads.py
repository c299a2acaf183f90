"""Audits and comparisons say the same for any number of threads."""

from __future__ import annotations

import warnings

import numpy as np

import sfumato as sf
from sfumato.auditing.utility import comparisons

DRAW = np.random.default_rng(11)
TABLE = (DRAW.normal(size=(160, 3)) + 6 * DRAW.integers(0, 3, (160, 1))).round(2)


def test_an_audit_is_the_same_json_for_any_number_of_threads() -> None:
    released = sf.perturb.CorrelatedNoise(insecure_seed=1).fit_transform(TABLE)
    found = []
    for threads in (1, 16):
        comparisons._known.clear()
        found.append(
            sf.audit(TABLE, released, clusters=[2, 3], known_rows=9, effort="quick", threads=threads).to_json()
        )
    assert found[0] == found[1]


def test_comparing_finds_the_same_and_leaves_the_filters_of_warnings_as_they_were() -> None:
    before = list(warnings.filters)
    few = TABLE[:80]
    compared = [sf.compare(few, ["rdp", "adp"], clusters=[2], n_jobs=jobs) for jobs in (1, 6)]
    assert compared[0] == compared[1]
    assert warnings.filters == before
