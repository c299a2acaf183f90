"""Fitted centres reach releases: they must be the same bits on every machine."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest

from sfumato.cluster import fuzzy_centres, lloyd_kmeans

PROGRAM = """
import hashlib, numpy as np
from sfumato.cluster import fuzzy_centres, lloyd_kmeans
state, rows = 12345, []
for _ in range(15000):
    state = (1103515245 * state + 12345) % 2**31
    rows.append(state / 2**31)
X = np.array(rows).reshape(-1, 3)
fuzzy, lloyd = fuzzy_centres(X, 4), lloyd_kmeans(X, X[:5])
print(hashlib.sha256(fuzzy.centres.tobytes() + lloyd.centres.tobytes() + lloyd.labels.tobytes()).hexdigest())
"""
# Measured once; a change means that fitted releases change too.
GOLDEN = "53162cf459df52ba4137770b1da69eb88bb7fbcefc7166d8f48c588e048988ad"


def _digest(**environment):
    command = [sys.executable, "-W", "ignore", "-c", PROGRAM]
    done = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def _vector_units():
    from numpy._core import _multiarray_umath as core

    return [unit for unit in core.__cpu_dispatch__ if core.__cpu_features__.get(unit)]


@pytest.mark.parametrize(
    "environment",
    [{}, {"OPENBLAS_CORETYPE": "Haswell", "NPY_DISABLE_CPU_FEATURES": " ".join(_vector_units())}],
    ids=["as it is", "plain processor"],
)
def test_centres_have_the_golden_digest(environment):
    assert _digest(**environment) == GOLDEN


def test_repeating_gives_the_same_bits():
    X = np.random.RandomState(0).normal(size=(9000, 2))
    digests = {
        hashlib.sha256(fuzzy_centres(X, 3).centres.tobytes() + lloyd_kmeans(X, X[:3]).centres.tobytes()).hexdigest()
        for _ in range(3)
    }
    assert len(digests) == 1


def test_importing_the_package_does_not_import_scikit_learn_or_scipy():
    program = (
        "import sys, sfumato.cluster; print([name for name in ('sklearn', 'scipy', 'pymetis') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_public_name_can_be_had():
    import sfumato.cluster as package

    assert all(getattr(package, name) is not None for name in package.__all__)
    assert set(package.__all__) <= set(dir(package))
    with pytest.raises(AttributeError, match="no attribute 'kmeans'"):
        _ = package.kmeans
