"""Audits and comparisons say the same for any number of threads."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings

import numpy as np
import pytest

import sfumato as sf
from sfumato.auditing import spread
from sfumato.auditing.utility import known
from sfumato.core.errands.processes import Errands
from sfumato.datasets import CONFIDENTIAL, demo_table

DRAW = np.random.default_rng(11)
TABLE = (DRAW.normal(size=(160, 3)) + 6 * DRAW.integers(0, 3, (160, 1))).round(2)


def test_an_audit_is_the_same_json_for_any_number_of_threads() -> None:
    released = sf.perturb.CorrelatedNoise(insecure_seed=1).fit_transform(TABLE)
    found = []
    for threads in (1, 16):
        known._known.clear()
        found.append(
            sf.audit(TABLE, released, clusters=[2, 3], known_rows=9, effort="quick", threads=threads).to_json()
        )
    assert found[0] == found[1]


def test_attacks_in_other_processes_find_what_they_find_here(monkeypatch) -> None:
    ran = []

    class Counted(Errands):
        def __exit__(self, *error: object) -> None:
            ran.append(self.done_elsewhere)
            super().__exit__(*error)

    monkeypatch.setattr(spread, "_WORTH", 0)
    monkeypatch.setattr(spread, "Errands", Counted)
    released = sf.perturb.AdditiveNoise(insecure_seed=1).fit_transform(TABLE)
    told = {"method": "adp", "utility": False, "known_rows": 9}
    found = [sf.audit(TABLE, released, threads=threads, **told).to_json() for threads in (1, 5)]
    assert found[0] == found[1]
    assert ran[0] == 0
    assert ran[1] > 50


def test_comparing_finds_the_same_and_leaves_the_filters_of_warnings_as_they_were() -> None:
    before = list(warnings.filters)
    few = TABLE[:80]
    compared = [sf.compare(few, ["rdp", "adp"], clusters=[2], n_jobs=jobs) for jobs in (1, 16)]
    assert compared[0] == compared[1]
    assert warnings.filters == before


def test_tuning_finds_the_same_on_any_number_of_threads() -> None:
    few = TABLE[:80]
    found = [sf.tune(few, 0.2, methods=["adp", "rdp"], clusters=[2], candidates=4, threads=n) for n in (16, 1)]
    assert found[0].to_json() == found[1].to_json()


@pytest.mark.parametrize("mixed", [True, False], ids=["of every kind", "numbers"])
def test_an_audit_of_normal_effort_is_the_same_json_on_any_threads_and_beside_busy_processes(mixed: bool) -> None:
    table = demo_table(mixed=mixed)[:300]
    if mixed:
        method = sf.perturb.AtomExchange(insecure_seed=1)
    else:
        table = table.select(CONFIDENTIAL)
        method = sf.perturb.AtomMixing(insecure_seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        released = method.fit_transform(table)

    def told(threads: int) -> str:
        known._known.clear()
        return sf.audit(table, released, method=method, threads=threads).to_json()

    first = told(1)
    assert json.loads(first)["effort"] == "normal"
    assert told(2) == first
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(4)]
    try:
        assert told(16) == first
    finally:
        for one in busy:
            one.kill()
            one.wait()
