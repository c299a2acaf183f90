"""What a notebook shows of a method."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import config_context

import sfumato as sf
from sfumato.perturb import methods

TABLE = np.random.default_rng(0).normal(size=(60, 3))


def test_a_fitted_method_says_what_it_does_and_who_breaks_it() -> None:
    key = sf.Key.generate()
    method = sf.perturb.Rotation(angles=[12.5, 33.25], key=key, release="spring <1>")
    assert "not fitted" in method._repr_html_()
    shown = method.fit(TABLE)._repr_html_()
    for said in ("Rotates pairs of columns", "fitted to 3 column(s): x0, x1, x2", key.fingerprint, "spring &lt;1&gt;"):
        assert said in shown
    assert "angles=&lt;hidden&gt;" in shown
    assert "12.5" not in shown
    assert "d + 1 records (affine)" in shown
    assert "http" not in shown


def test_notebooks_take_it_and_text_stays_text() -> None:
    method = sf.perturb.AdditiveNoise(0.5)
    assert method._repr_mimebundle_()["text/html"] == method._repr_html_()
    assert "=0.5</td>" in method._repr_html_()
    with config_context(display="text"):
        assert set(method._repr_mimebundle_()) == {"text/plain"}


@pytest.mark.parametrize("row", methods(), ids=lambda row: row.id)
def test_every_method_shows_itself(row) -> None:
    made = row.load()(sf.perturb.AdditiveNoise()) if row.wraps else row.load()()
    assert row.summary.replace("'", "&#x27;") in made._repr_html_()
