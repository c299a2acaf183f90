"""The flagship: any batches, any order, any number of threads, any processor give the same bytes."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from tests.perturb.cases import describe, on_ladder, table, variants

pytestmark = pytest.mark.filterwarnings("ignore::sfumato.exceptions.HeldBackWarning")

N = 700
TABLE = table(N)
ROW_TIER = [p for p in variants(insecure_seed=3) if p.tier != "table"]
TABLE_TIER = [p for p in variants(insecure_seed=3) if p.tier == "table"]


@cache
def _whole(perturber) -> bytes:
    """Return what a perturber releases in one call: the same for all examples."""
    return np.ascontiguousarray(clone(perturber).fit_transform(TABLE)).tobytes()


@pytest.mark.filterwarnings("ignore::sfumato.exceptions.UnchangedCellsWarning")  # a batch may be a single 0
@pytest.mark.parametrize("perturber", ROW_TIER, ids=describe)
@given(
    fit_cuts=st.lists(st.integers(0, N), max_size=5),
    transform_cuts=st.lists(st.integers(0, N), max_size=5),
    order=st.randoms(use_true_random=False),
    threads=st.sampled_from([1, 2, 5, 16]),
)
@settings(max_examples=12, deadline=None)
def test_any_batches_in_any_order_on_any_threads_give_the_same_bytes(
    perturber, fit_cuts, transform_cuts, order, threads
) -> None:
    edges = sorted({0, N, *fit_cuts})
    batches = [TABLE[a:b] for a, b in itertools.pairwise(edges)]
    streamed = clone(perturber).fit_batches(batches, threads=threads)
    edges = sorted({0, N, *transform_cuts})
    spans = list(itertools.pairwise(edges))
    order.shuffle(spans)
    parts = {a: streamed.transform(TABLE[a:b], row_start=a, threads=threads) for a, b in spans}
    joined = np.concatenate([parts[a] for a in sorted(parts)])
    assert joined.tobytes() == _whole(perturber)


@pytest.mark.parametrize("perturber", [*ROW_TIER, *TABLE_TIER], ids=describe)
def test_large_tables_use_tiles_and_blocks_and_give_the_same_bytes(perturber) -> None:
    # more than one block of a summary, several tiles of a kernel; the ladder names more clusterings in the same way
    n = 70_000 if perturber.tier != "table" and not on_ladder(perturber) else 6_000
    large = np.tile(TABLE, (n // N + 1, 1))[:n] + np.arange(n)[:, None] * 1e-6
    whole = clone(perturber).fit_transform(large)
    threaded = clone(perturber).fit(large, threads=16).transform(large, threads=5)
    assert np.ascontiguousarray(threaded).tobytes() == np.ascontiguousarray(whole).tobytes()
    if perturber.tier != "table":
        cut = min(65_537, n - 1000)
        streamed = clone(perturber).fit_batches([large[:1], large[1:cut], large[cut:]])
        parts = [
            streamed.transform(part, row_start=start) for start, part in ((0, large[:4_999]), (4_999, large[4_999:]))
        ]
        assert np.concatenate(parts).tobytes() == np.ascontiguousarray(whole).tobytes()


@pytest.mark.parametrize("perturber", [*ROW_TIER, *TABLE_TIER], ids=describe)
def test_every_kind_of_table_gets_the_same_values(perturber) -> None:
    import pandas as pd
    import pyarrow as pa

    names = [f"x{i}" for i in range(5)]
    method = clone(perturber)
    assert np.ascontiguousarray(method.fit_transform(np.asfortranarray(TABLE))).tobytes() == _whole(perturber)
    for make in (pl.DataFrame, pd.DataFrame, pa.table):
        frame = make({name: TABLE[:, i] for i, name in enumerate(names)})
        released = clone(perturber).fit_transform(frame)
        columns = [np.asarray(released[name]) for name in method.get_feature_names_out()]
        assert np.ascontiguousarray(np.column_stack(columns)).tobytes() == _whole(perturber)


def test_batches_fitted_from_a_function_and_from_a_list_agree() -> None:
    perturber = ROW_TIER[0]
    halves = [TABLE[:300], TABLE[300:]]
    a = clone(perturber).fit_batches(halves).transform(TABLE)
    b = clone(perturber).fit_batches(lambda: iter(halves)).transform(TABLE)
    assert a.tobytes() == b.tobytes()


DIGESTS = """
import hashlib, json, os, warnings
import numpy as np
warnings.simplefilter("ignore")
from sfumato.core import fast
from tests.perturb.cases import on_ladder, table, variants
assert (fast.load() is None) == (os.environ.get("SFUMATO_NO_NUMBA") == "1")
out = []
for rows in (700, 9_001):
    for perturber in variants(insecure_seed=3):
        if rows == 700 or not (perturber.tier == "table" or on_ladder(perturber)):
            released = np.ascontiguousarray(perturber.fit_transform(table(rows)), dtype="<f8")
            out.append(hashlib.sha256(released.tobytes()).hexdigest())
print(json.dumps(out))
"""


@cache
def _digests(**environment: str) -> list[str]:
    root = Path(__file__).resolve().parents[2]
    folders = os.pathsep.join([str(root), str(root / "src")])
    env = {**os.environ, "PYTHONPATH": folders, "SFUMATO_NO_NUMBA": "0", **environment}
    done = subprocess.run(
        [sys.executable, "-c", DIGESTS], env=env, capture_output=True, text=True, check=False, cwd=root
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def _wide_features() -> str:
    import numpy._core._multiarray_umath as umath

    return " ".join(name for name in umath.__cpu_dispatch__ if umath.__cpu_features__.get(name))


# as if on another machine: numpy without AVX2 and AVX-512, the BLAS of another processor, numba for a plain x86-64
OTHER_NUMPY = {
    "NPY_DISABLE_CPU_FEATURES": _wide_features(),
    "OPENBLAS_CORETYPE": "Haswell",
    "OPENBLAS_NUM_THREADS": "1",
}
OTHER_NUMBA = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
NO_NUMBA = {"SFUMATO_NO_NUMBA": "1"}


@pytest.mark.xdist_group("digests")  # one process makes what all are compared with
@pytest.mark.parametrize(
    "environment",
    [NO_NUMBA, OTHER_NUMPY | NO_NUMBA, OTHER_NUMPY | OTHER_NUMBA],
    ids=["numpy", "numpy elsewhere", "numpy and numba elsewhere"],
)
def test_the_bytes_depend_neither_on_the_processor_nor_on_numba(environment) -> None:
    assert _digests(**environment) == _digests()


@pytest.mark.xdist_group("digests")
def test_golden_digests_guard_the_stream_version() -> None:
    """A released bit may change only with a new STREAM_VERSION; then run `make golden`."""
    from sfumato.core.stream import STREAM_VERSION

    golden = json.loads((Path(__file__).parents[1] / "golden" / "digests.json").read_text())
    assert golden["stream_version"] == STREAM_VERSION
    names = [describe(perturber) for perturber in variants(insecure_seed=3)]
    found = dict(zip(names, _digests(), strict=False))  # those of the first table; the larger one comes after it
    assert found == golden["digests"]
