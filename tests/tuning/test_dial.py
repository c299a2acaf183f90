"""The dial of one table: what each level of detail hides and keeps, as figures and as a picture."""

from __future__ import annotations

import numpy as np
import pytest

import sfumato as sf
from sfumato.report.dial import Level, dial_chart
from sfumato.tuning.dial import measure_dial
from sfumato.tuning.subject import read_subject


@pytest.fixture(scope="module")
def people() -> np.ndarray:
    rng = np.random.default_rng(3)
    return (rng.normal(scale=2, size=(9, 4))[rng.integers(0, 9, 700)] + rng.normal(size=(700, 4))).round(2)


def test_more_detail_keeps_more_and_hides_less(people) -> None:
    coarse, medium, fine = measure_dial(read_subject(people), "mix", 0)
    assert [one.detail for one in (coarse, medium, fine)] == ["coarse", "medium", "fine"]
    assert coarse.residual > fine.residual
    assert coarse.not_kept > fine.not_kept
    assert fine.kept < fine.not_kept


def test_tune_shows_the_dial_if_it_is_asked_to(people) -> None:
    people = people[:250]
    found = sf.tune(people, 0.2, methods=["mix"], candidates=1, clusters=[3], dial=True)
    assert [one.detail for one in found.dial] == ["coarse", "medium", "fine"]
    page = found.to_html()
    assert "How much detail" in page
    assert page.count("<svg") == 2
    assert "not kept" in found.to_text()
    assert sf.tune(people, 0.5, methods=["adp"], candidates=1, clusters=[3], dial=True).dial == ()


def test_the_picture_has_a_place_for_every_level_and_takes_gaps() -> None:
    levels = [Level("coarse", 0.3, None, 0.04, 0.2), Level("fine", 0.1, 0.5, 0.0, 0.1)]
    svg = dial_chart(levels)
    assert svg.count("<circle") == 2 + 1 + 4  # residual, one linkage, kept and not kept
    assert dial_chart(levels) == svg
    assert "coarse: residual 0.30, 4 % of the rows" in svg
