"""Whole pieces of an array in one compiled call give the bits of tiles; words made there are those of the library."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato import perturb as p
from sfumato.core import fast
from sfumato.core.passes import Survey, fill
from sfumato.core.rows import WordStream
from sfumato.core.stream import RowHasher
from sfumato.core.summaries import Moments
from sfumato.exceptions import DataError, UnchangedCellsWarning
from sfumato.frames.frame import read_frame

COMPILED = fast.load()
METHODS = [
    p.AdditiveNoise(scale=0.3, insecure_seed=1),
    p.AdditiveNoise(distribution="uniform", insecure_seed=1),
    p.AdditiveNoise(distribution="laplace", insecure_seed=1),
    p.ChaoticNoise(insecure_seed=1),
    p.CorrelatedNoise(insecure_seed=1),
    p.IntervalResampling(n_clusters=7, min_radius=0.2, insecure_seed=1),
]
ROOT = Path(__file__).resolve().parents[2]
NARROW = """
import llvmlite.binding as binding
found = binding.get_host_cpu_features()
for name in list(found):
    if name in {"vaes", "evex512"} or name.startswith("avx"):
        found[name] = False
binding.get_host_cpu_features = lambda: found
from sfumato.core import fast
assert fast.load().WORDS in {0, 16}, fast.load().WORDS  # 0: no instructions at all
import numpy as np
from sfumato.core.rows import WordStream
print(WordStream(bytes(range(32))).read(4099, 3000).tolist())
"""


def table(rows: int, columns: int, seed: int) -> np.ndarray:
    draw = np.random.default_rng(seed)
    return draw.normal(size=(rows, columns)) * draw.choice([1e-3, 1.0, 1e6], columns) + draw.normal(size=columns)


@given(start=st.integers(0, 2**50), count=st.integers(1, 5000), seed=st.integers(0, 1000))
@settings(max_examples=80, deadline=None)
def test_compiled_words_are_those_of_the_library(start, count, seed) -> None:
    subkey = np.random.default_rng(seed).bytes(32)
    compiled = WordStream(subkey).read(start, count)
    with fast.turned_off():
        assert WordStream(subkey).read(start, count).tolist() == compiled.tolist()


def test_words_are_the_same_on_a_processor_with_narrow_instructions(tmp_path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", NARROW], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    with fast.turned_off():
        assert done.stdout.strip() == str(WordStream(bytes(range(32))).read(4099, 3000).tolist())


@given(
    rows=st.integers(2, 4000), columns=st.integers(1, 40), seed=st.integers(0, 2**32 - 1), threads=st.integers(5, 16)
)
@settings(max_examples=40, deadline=None)
def test_passes_over_whole_pieces_learn_what_tiles_say(rows, columns, seed, threads) -> None:
    frame = read_frame(table(rows, columns, seed))
    frame.native[0, 0] = -0.0
    hasher = RowHasher(bytes(32), frame.names)
    one, many = (np.empty(rows, dtype=np.uint64) for _ in range(2))
    told = [
        fill(Survey(hasher, columns, hashes), [frame], threads=n)[0] for n, hashes in ((1, one), (threads, many))
    ]  # fmt: skip
    assert told[0].fingerprint() == told[1].fingerprint()
    assert one.tobytes() == many.tobytes()
    assert told[0].low.tobytes() == told[1].low.tobytes()
    assert told[0].high.tobytes() == told[1].high.tobytes()
    for cross in (True, False):
        few, more = (
            fill(Moments(told[0].low, told[0].high, cross=cross), [frame], threads=n)[0] for n in (1, threads)
        )  # fmt: skip
        assert few.mean().tobytes() == more.mean().tobytes()
        assert few.variance().tobytes() == more.variance().tobytes()
        assert not cross or few.step_covariance().tobytes() == more.step_covariance().tobytes()


@pytest.mark.parametrize(
    "method", METHODS, ids=lambda method: f"{method.method_id} {getattr(method, 'distribution', '')}"
)
@given(rows=st.integers(2, 3000), columns=st.integers(1, 40), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=12, deadline=None)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_rows_released_at_once_are_those_of_tiles(method, rows, columns, seed) -> None:
    whole = table(rows, columns, seed)
    fitted = method.fit(whole)
    at_once = fitted.fit_transform(whole, threads=5)
    state = fitted._state
    assert not COMPILED.WORDS or fitted._at_once(state.fitted, COMPILED, state.streams) is not None
    by_tiles = fitted.fit_transform(np.asfortranarray(whole), threads=1)
    assert at_once.tobytes() == np.ascontiguousarray(by_tiles).tobytes()


def test_what_does_not_fit_is_refused_and_unchanged_columns_are_seen_where_rows_are_released_at_once() -> None:
    whole = table(1000, 3, 1)
    with pytest.raises(DataError, match="does not fit"):
        p.AdditiveNoise(scale=1e308, relative=False, insecure_seed=1).fit_transform(whole)
    with pytest.warns(UnchangedCellsWarning, match="1 column"):
        p.AdditiveNoise(scale=[1e-300, 1.0, 1.0], insecure_seed=1).fit_transform(whole)
    for bad in (np.nan, np.inf, -np.inf):
        whole[700, 1] = bad
        with pytest.raises(DataError, match="x1"):
            p.AdditiveNoise(insecure_seed=1).fit(whole, threads=16)
