"""Numbers of any size and spread: moved by their noise, or refused; never released as they came in."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.perturb.catalogue import method as catalogued
from tests.pipeline.tables import people, write

pytestmark = pytest.mark.filterwarnings("ignore::sfumato.SfumatoWarning")
ROWS = 40


@given(
    step=st.integers(-324, 300),
    offset=st.sampled_from([0.0, 1.0, -1e5, 2.0**53, 1e17, -1e200]),
    method=st.sampled_from(["adp", "rdp", "one-d"]),
    whole=st.booleans(),
)
def test_numbers_of_any_size_are_moved_or_refused(step: int, offset: float, method: str, whole: bool) -> None:
    rng = np.random.default_rng(7)
    values = offset + rng.normal(0, 1, ROWS) * float(f"1e{step}")
    if whole:
        values = np.rint(values)
    table = pl.DataFrame({"a": values, "b": rng.normal(0, 1, ROWS)})
    try:
        released = _released(table, method)
    except sf.SfumatoError:
        return
    assert released["a"].is_finite().all()
    distinct = len(np.unique(values))
    stayed = int((released["a"].to_numpy() == values).sum())
    assert distinct < ROWS or stayed <= ROWS // 2, "numbers that differ are hidden, or the table is refused"


def _released(table: pl.DataFrame, method: str) -> pl.DataFrame:
    released: pl.DataFrame = catalogued(method).load()(key=sf.Key.from_insecure_seed(1)).fit_transform(table)
    return released


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
@pytest.mark.parametrize("kind", ["csv", "parquet", "arrow", "xlsx"])
def test_what_holds_originals_or_secrets_is_private_under_any_umask(tmp_path: Path, umask: int, kind: str) -> None:
    data, out = write(people(120), tmp_path / f"in.{kind}"), tmp_path / f"out.{kind}"
    before = os.umask(umask)
    try:
        sf.release(data, out, method="rdp", identifier=["id"], keep=["town"], key=tmp_path / "k", shuffle=False)
        sf.restore(out, tmp_path / f"back.{kind}", tmp_path / "k")
        write(pl.DataFrame({"label": [1] * 120}), tmp_path / "labels.csv")
        sf.join(tmp_path / "labels.csv", data, tmp_path / f"joined.{kind}", tmp_path / "k")
    finally:
        os.umask(before)
    private = [tmp_path / f"back.{kind}", tmp_path / f"joined.{kind}", tmp_path / "k", *tmp_path.glob("*.receipt")]
    assert len(private) == 4
    assert {stat.S_IMODE(path.stat().st_mode) for path in private} == {0o600}
