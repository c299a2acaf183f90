"""Charts: names stay readable, marks stand where they should, and nobody needs to see colours."""

from __future__ import annotations

import re

import numpy as np

from sfumato.report.chart import Axis, square_root
from sfumato.report.labels import Spot, merge_near, place_names
from sfumato.report.tradeoff import GRADE_COLOURS, Point, tradeoff_chart

ROOM = (0.0, 0.0, 420.0, 320.0)


def boxes(named):
    out = []
    for one in named:
        width = 6.1 * len(one.spot.words)
        left = {"start": one.x, "middle": one.x - width / 2, "end": one.x - width}[one.anchor]
        out.append((left, one.y - 10, left + width, one.y + 3))
    return out


def test_names_do_not_cover_one_another() -> None:
    rng = np.random.default_rng(0)
    spots = merge_near([Spot(*(20 + 300 * rng.random(2)), "C", (f"method {i}",)) for i in range(20)])
    found = boxes(place_names(spots, ROOM, 8.0))
    for i, a in enumerate(found):
        assert a[0] > -30
        assert a[2] < 450
        for b in found[:i]:
            across = min(a[2], b[2]) - max(a[0], b[0])
            down = min(a[3], b[3]) - max(a[1], b[1])
            assert across <= 0 or down <= 0, "two names overlap"


def test_marks_that_fall_together_share_one_with_all_names() -> None:
    merged = merge_near([Spot(10, 10, "F", (name,)) for name in ("tdp", "sdp", "rdp", "hdp")])
    assert len(merged) == 1
    assert merged[0].words == "tdp, sdp, rdp +1"


def test_every_point_is_in_the_words_and_carries_its_letter() -> None:
    points = [Point("ina", 0.02, 0.1, 0.4, "C", best=True), Point("cov", 0.4, 0.6, None, "B")]
    svg = tradeoff_chart(points, limit=0.05)
    assert "ina: grade C" in svg
    assert "limit 5 %" in svg
    assert len(re.findall(r">C</text>", svg)) == 2, "once in each panel"
    assert len(re.findall(r">B</text>", svg)) == 1, "no linkage, so only in the first panel"
    assert svg == tradeoff_chart(points, limit=0.05)


def test_better_is_up_and_left() -> None:
    good, bad = Point("good", 0.01, 0.8, 0.1, "A"), Point("bad", 0.5, 0.1, 0.9, "F")
    svg = tradeoff_chart([good, bad])
    marks = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)" r="8" fill="(#\w+)"', svg)
    places: dict[str, list[tuple[float, float]]] = {}
    for x, y, colour in marks:
        places.setdefault(colour, []).append((float(x), float(y)))
    for (gx, gy), (bx, by) in zip(places[GRADE_COLOURS["A"][0]], places[GRADE_COLOURS["F"][0]], strict=True):
        assert gx < bx
        assert gy < by


def test_values_beyond_the_axis_stand_at_its_end() -> None:
    axis = Axis("x", (0.0, 0.25, 1.0), 0.0, 100.0, square_root)
    assert (axis.place(-1.0), axis.place(0.25), axis.place(9.0)) == (0.0, 50.0, 100.0)
