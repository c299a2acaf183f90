"""The warning about cells that come out as they went in: against chance, and with advice that fits the method."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import sfumato as sf
from sfumato.exceptions import UnchangedCellsWarning
from sfumato.perturb.catalogue import methods
from sfumato.perturb.mechanism.checks import about_unchanged

rng = np.random.default_rng(5)
FEW = rng.integers(0, 12, 400).astype(float)
FLAG = (rng.random(400) < 0.06).astype(float)  # equal in 89 of 100 rows whatever is done to it


def test_advice_to_raise_the_noise_is_for_methods_that_have_some() -> None:
    noisy = {row.id for row in methods() if "noise" in about_unchanged(["age"], row.id)}
    assert noisy == {"adp", "mdp", "cov", "chaotic", "ina"}
    assert about_unchanged(["age"], "mix").endswith("Ask for less detail, or choose another method.")


def test_a_column_is_told_of_beyond_chance_only(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text(
        "few,flag\n" + "".join(f"{int(a)},{int(b)}\n" for a, b in zip(FEW, FLAG, strict=True))
    )
    told = {}
    for scale in (0.02, 1.5):
        folder = tmp_path / str(scale)
        folder.mkdir()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            how = {"method": "adp", "parameters": {"scale": scale}, "shuffle": False, "key": folder / "key"}
            sf.release(tmp_path / "in.csv", folder / "out.csv", **how)
        told[scale] = [str(one.message) for one in caught if one.category is UnchangedCellsWarning]
        released = np.loadtxt(folder / "out.csv", delimiter=",", skiprows=1)
        equal = (released[:, 1] == FLAG).mean()
    assert len(told[0.02]) == 1
    assert "2 column(s) come out mostly as they went in: few, flag" in told[0.02][0]
    assert "raise the noise" in told[0.02][0]
    assert equal > 0.5, "the flag is mostly equal under large noise, too"
    assert told[1.5] == [], "but not beyond chance"
    table = np.column_stack([FEW, FLAG]).astype(int)
    with pytest.warns(UnchangedCellsWarning, match=r"2 column\(s\)"):
        sf.perturb.AdditiveNoise(0.02, key=sf.Key.from_insecure_seed(1)).fit_transform(table)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sf.perturb.AdditiveNoise(1.5, key=sf.Key.from_insecure_seed(1)).fit_transform(table)
