"""Cells, bars and the four outputs, on a made-up paper."""

from __future__ import annotations

import json
import math
import re
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.papers import (
    Bar,
    Figure,
    Panel,
    Reproduction,
    Row,
    Series,
    Table,
    judge,
    to_html,
    to_json,
    to_markdown,
    to_text,
)
from sfumato.papers.numbers_text import number_text
from sfumato.papers.rendering.svg import figure_svg, nice_ticks

numbers = st.floats(-1e12, 1e12)


@given(printed=numbers, ours=numbers, low=numbers, width=st.floats(0, 1e12))
def test_a_number_outside_its_bar_is_always_missed_and_one_inside_never(printed, ours, low, width):
    bar = Bar(low, low + width)
    for reason in ("", "a misprint"):
        cell = judge(printed, ours, bar=bar, near=Bar.around(printed, share=0.1), unreachable=reason)
        assert (cell.status == "missed") == (not low <= ours <= low + width)


@given(printed=st.floats(0.01, 1e6), factor=st.floats(0.2, 5))
def test_a_status_between_matched_and_missed_depends_on_whether_there_is_a_reason(printed, factor):
    near = Bar.factor(printed, 1.5)
    ours = printed * factor
    plain = judge(printed, ours, near=near)
    explained = judge(printed, ours, near=near, unreachable="the paper contradicts itself")
    if near.holds(ours):
        assert plain.status == explained.status == "matched"
        assert explained.note == ""
    else:
        assert (plain.status, explained.status) == ("trend", "unreachable")
        assert explained.note == "the paper contradicts itself"
    assert plain.ratio == pytest.approx(factor)


def test_not_a_number_is_never_inside_a_bar():
    assert judge(1.0, math.nan).status == "missed"


@given(numbers)
def test_shown_numbers_are_close_to_what_they_show(value):
    shown = float(number_text(value, 3))
    assert shown == pytest.approx(value, rel=0.006, abs=1e-12)


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6))
def test_ticks_lie_inside_the_axis_and_are_few(low, width):
    ticks = nice_ticks(low, low + width)
    assert all(low <= tick <= (low + width) + 1e-9 * abs(low + width) for tick in ticks)
    assert 1 <= len(ticks) <= 16
    assert ticks == sorted(set(ticks))


def made_up(ours: float = 2.0) -> Reproduction:
    table = Table(
        "Table 1",
        "Rates <of> change",
        "%",
        ("k=2", "k=3"),
        (
            Row(
                "A | B",
                (judge(2.0, ours, bar=Bar(1.0, 3.0)), judge(1.0, 5.0, near=Bar(0, 2), unreachable="print & law")),
            ),
            Row("C", (judge(4.0, 4.9, near=Bar(3.9, 4.1)), judge(None, 1.0))),
        ),
        bar="1 to 3",
        notes=("One note.",),
    )
    series = (
        Series("dots", (0.0, 1.0, 2.0), (1.0, 0.0, 1.0), "dot", (0, 1, 1)),
        Series("line", (0.0, 2.0), (0.0, 1.0), "line"),
    )
    figure = Figure("Figure 1", "Before & after", (Panel("p <1>", "x", "y", series),))
    return Reproduction(
        "made-up", "Title", "Authors", quick=True, protocol=("One.",), tables=(table,), figures=(figure,)
    )


def test_counts_leave_out_what_has_neither_print_nor_bar():
    assert made_up().counts() == {"matched": 1, "trend": 1, "unreachable": 1, "missed": 0}


def test_a_missed_number_is_named_with_its_place_and_bar():
    result = made_up(ours=7.0)
    assert result.missed() == ["made-up Table 1, A | B, k=2: 7, allowed 1 .. 3"]
    assert "! A | B, k=2: 7, allowed 1 .. 3" in to_text([result])


def test_text_is_aligned_and_gives_the_reason_once():
    text = to_text([made_up()])
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("  ") and line.rstrip().endswith("k=3"))
    assert len({line.rstrip()[-1] for line in lines[start + 1 : start + 2]} & set("=~u!")) == 1
    assert "2 > 2 =" in lines[start + 1]
    assert text.count("print & law") == 1


def test_json_is_plain_and_has_its_schema_and_every_number():
    data = json.loads(json.dumps(to_json([made_up()]), allow_nan=False))
    assert data["schema"] == "sfumato-reproduction-1"
    table = data["papers"][0]["tables"][0]
    assert [[cell["printed"], cell["ours"]] for cell in table["rows"][0]["cells"]] == [[2.0, 2.0], [1.0, 5.0]]
    assert table["rows"][0]["cells"][0]["bar"] == [1.0, 3.0]
    assert table["rows"][0]["cells"][1]["bar"] == [None, None]
    assert {cell["status"] for row in table["rows"] for cell in row["cells"]} <= {
        "matched",
        "trend",
        "unreachable",
        "missed",
    }


def test_the_page_stands_by_itself_without_scripts_and_escapes_text():
    page = to_html([made_up()])
    assert "<script" not in page
    assert not re.search(r"(src|href)=\"(?!#)", page)
    assert "Rates &lt;of&gt; change" in page
    assert "<of>" not in page
    assert "<svg" in page
    ET.fromstring(page[page.index("<svg") : page.index("</svg>") + 6])


def test_drawing_the_same_figure_twice_gives_the_same_bytes_and_well_formed_xml():
    figure = made_up().figures[0]
    svg = figure_svg(figure)
    assert svg == figure_svg(figure)
    root = ET.fromstring(svg)
    dots = [e for e in root.iter() if e.tag.endswith("path") and e.get("stroke-linecap") == "round"]
    assert len(dots) == 2  # one path for each cluster
    assert "nan" not in svg


def test_a_figure_of_one_point_can_be_drawn():
    one = Figure("F", "t", (Panel("p", "x", "y", (Series("a", (1.0,), (2.0,)),)),))
    assert "nan" not in figure_svg(one)


def test_markdown_tables_keep_their_shape_and_show_paper_and_ours():
    text = to_markdown([made_up()], {"made-up Figure 1": "images/one.svg"})
    rows = [line for line in text.splitlines() if line.startswith("| A \\| B")]
    assert rows == ["| A \\| B | 2 → 2 (1.00) = | 1 → 5 (5.00) u |"]
    assert "![Before & after](images/one.svg)" in text
    assert "- `u` A | B, k=3: print & law" in text
    assert to_markdown([made_up()]).count("![") == 0
