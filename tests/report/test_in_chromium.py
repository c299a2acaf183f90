"""The pages in a real Chromium: nothing blocked, nothing cut off, no name over another, light, dark and on paper."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import sfumato as sf
from tests.report import reports

# what a comparison on a table of 1,080 rows looks like: many marks at 0 and at 100 %
LINES = """tdp F 0 0 1|sdp F .27 0 1|rdp F .36 0 .001|hdp F .266 0 1|adp D .016 .008 .999|mdp C .052 .027 .946
cov B .466 .483 .199|chaotic C .037 .021 .999|ina C .128 .066 .546|one-d F .02 .006 .988|anc C .058 .045 .298
mdav C .062 .041 .305|pca F .114 .024 .933|rp F .097 .038 -|rdp|+rho F .516 .018 .002|mix A .01 .2 .05"""


def comparison() -> sf.Comparison:
    tried = []
    for line in LINES.replace("|+rho", " +rho").replace("\n", "|").split("|"):
        *label, grade, excess, residual, linkage = line.split()
        tried.append(
            {
                "label": " ".join(label),
                "method": label[-1],
                "name": "Name",
                "source": "default",
                "settings": "defaults",
                "grade": grade,
                "verdict": "A verdict.",
                "trustworthy": True,
                "excess_mean": float(excess),
                "excess_worst": float(excess),
                "shared_worst": float(excess),
                "rescaled_worst": None,
                "residual": float(residual),
                "weakest_residual": float(residual),
                "linkage": None if linkage == "-" else float(linkage),
                "best": grade in "AB",
            }
        )
    fields = {"n_rows": 1080, "rows_measured": 1080, "columns": ("a", "b"), "clusters": (2, 3), "seed": 0}
    return sf.Comparison(**fields, tried=tried, left_out=[], notes=[])


PAGES: dict[str, Callable[[], str]] = {
    "audit": lambda: reports.golden_audit().to_html(),
    "public": lambda: reports.golden_audit().to_html(public=True),
    "comparison": lambda: comparison().to_html(),
}


@pytest.fixture
def visit(browser: Any, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Return a function that opens one of the pages; what the browser objects to fails the test."""
    contexts, objections = [], []

    def visiting(name: str, width: int = 1280, **options: Any) -> Any:
        file = tmp_path / f"{name}.html"
        file.write_text(PAGES[name](), encoding="utf-8")
        context = browser.new_context(viewport={"width": width, "height": 800}, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: objections.append(message.text))
        page.on("request", lambda request: objections.append(request.url) if request.url != file.as_uri() else None)
        page.goto(file.as_uri())
        return page

    yield visiting
    for context in contexts:
        context.close()
    assert objections == [], "blocked by the page's own policy, or asked for from outside"


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_is_cut_off(visit: Callable[..., Any], name: str, width: int) -> None:
    page = visit(name, width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width, "wide tables scroll by themselves"
    sizes = page.evaluate("[...document.querySelectorAll('svg')].map(s => [s.clientWidth, s.clientHeight])")
    assert sizes
    assert all(width > 250 and height > 100 for width, height in sizes)


OVERLAPS = """() => {
  const found = [];
  for (const svg of document.querySelectorAll('svg')) {
    const words = [...svg.querySelectorAll('text')].map(t => [t.textContent, t.getBoundingClientRect()]);
    const frame = svg.getBoundingClientRect();
    words.forEach(([text, a], i) => {
      if (a.left < frame.left - 1 || a.right > frame.right + 1 || a.top < frame.top - 1 || a.bottom > frame.bottom + 1)
        found.push(text + ' leaves its drawing');
      words.slice(0, i).forEach(([other, b]) => {
        const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (across > 3 && down > 5) found.push(text + ' over ' + other);
      });
    });
  }
  return found;
}"""


@pytest.mark.parametrize("name", PAGES)
def test_no_words_of_a_chart_lie_over_others(visit: Callable[..., Any], name: str) -> None:
    assert visit(name).evaluate(OVERLAPS) == []


def test_dark_rooms_get_dark_paper(visit: Callable[..., Any]) -> None:
    colour = "getComputedStyle(document.querySelector('main')).backgroundColor"
    assert visit("audit").evaluate(colour) == "rgb(255, 255, 255)"
    assert visit("audit", color_scheme="dark").evaluate(colour) == "rgb(20, 24, 30)"


@pytest.mark.parametrize("name", PAGES)
def test_it_prints(visit: Callable[..., Any], name: str) -> None:
    page = visit(name, color_scheme="dark")
    paper = page.pdf(format="A4")
    assert paper.startswith(b"%PDF")
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.querySelector('main')).backgroundColor") == "rgb(255, 255, 255)"
    # nothing hangs over the right edge of a sheet of A4 with its margins
    page.set_viewport_size({"width": 670, "height": 1000})
    assert page.evaluate("document.documentElement.scrollWidth") <= 670
