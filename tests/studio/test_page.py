"""The page in a real Chromium: files good and bad, tabs, reloads, keyboard, and what axe-core says."""

from __future__ import annotations

import gzip
import itertools
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.studio.running import RunningStudio

Open = Callable[..., Page]


SESSION = """async () => {
  const headers = { "x-sfumato-page": localStorage.getItem("studio-secret") };
  return (await fetch("/api/session", { headers })).json();
}"""


def choose(page: Page, path: Path) -> None:
    page.set_input_files("#choose", path)


def step(page: Page, name: str) -> None:
    page.get_by_role("navigation", name="Steps").get_by_role("link", name=name).click()
    expect(page.locator("#steps [aria-current=step]")).to_contain_text(name)


def load_demo(page: Page) -> None:
    page.get_by_role("button", name="Use the demo table").click()
    expect(page.get_by_role("heading", name="What is in your columns?")).to_be_visible()


def load_numbers(page: Page) -> None:
    """Load the demo table and leave out what is no number, so that every method takes it."""
    load_demo(page)
    for name in page.evaluate(SESSION)["dataset"]["others"]:
        page.get_by_label(f"Role of {name}", exact=True).select_option("keep")
        expect(page.locator(f"tr[data-name='{name}'] select.role-keep")).to_be_visible()


def wait_for_verdict(page: Page) -> None:
    page.wait_for_selector(".verdict [aria-label^='Grade']")


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("empty.csv", b"", "empty"),
        ("header.csv", b"a,b,c\n", "no rows"),
        ("binary.csv", bytes(range(256)) * 40, "text"),
        ("ragged.csv", b"a,b\n1,2\n3\n4,5\n", "line 3"),
        ("picture.png", b"\x89PNG", "kind of file"),
        ("table.xlsx", b"PK\x03\x04", "kind of file"),
        ("broken.parquet", b"PAR1 but not really", "Parquet"),
        ("broken.csv.gz", b"not gzip at all", "not gzip"),
        ("cut.csv.gz", gzip.compress(b"a,b\n" + b"1,2\n" * 5000, mtime=0)[:-20], "cut off"),
        ("formula.csv", b"=HYPERLINK(1),b\n1,2\n3,4\n", "formula"),
        ("twice.csv", b"a,a\n1,2\n3,4\n", "share the name"),
    ],
)
def test_a_bad_file_gets_one_clear_sentence(
    open_shared: Page, tmp_path: Path, name: str, content: bytes, told: str
) -> None:
    page = open_shared
    (tmp_path / name).write_bytes(content)
    choose(page, tmp_path / name)
    banner = page.locator("#banner")
    expect(banner).to_contain_text(told)
    text = banner.inner_text()
    assert "Traceback" not in text
    assert ".local" not in text, "the place of the copy is nobody's business"
    assert "home" not in text
    expect(page.locator("#choose")).to_have_count(1)  # and one can try again


def test_hostile_headers_and_cells_stay_text(studio: RunningStudio, open_page: Open, tmp_path: Path) -> None:
    path = tmp_path / "<img src=x onerror=alert(1)>.csv"
    rng = np.random.default_rng(0)
    rows = "\n".join(
        f"<script>alert(2)</script>{i % 3},{a:.2f},{b:.2f}" for i, (a, b) in enumerate(rng.normal(size=(60, 2)))
    )
    path.write_text(f'"<script>alert(1)</script>","<b onmouseover=alert(3)>age</b>",{{{{constructor}}}}\n{rows}\n')
    page = open_page(studio)
    page.on("dialog", lambda dialog: pytest.fail(f"a script of the file ran: {dialog.message}"))
    choose(page, path)
    expect(page.get_by_text("<script>alert(1)</script>", exact=True)).to_be_visible()
    step(page, "Results")
    wait_for_verdict(page)
    assert page.locator("main script, main img, main b").count() == 0
    named = page.locator("#histogram-column option").all_inner_texts()
    assert named == ["<script>alert(1)</script>", "<b onmouseover=alert(3)>age</b>", "{{constructor}}"]
    expect(page.locator("table.bars")).to_contain_text("<script>alert(2)</script>0")
    expect(page.locator("table.cells")).to_contain_text("<script>alert(2)</script>0")


def test_three_hundred_columns(studio: RunningStudio, open_page: Open, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(240, 300)).round(3)
    header = ",".join(f"column {i}" for i in range(300))
    np.savetxt(tmp_path / "wide.csv", values, delimiter=",", header=header, comments="", fmt="%.3f")
    page = open_page(studio)
    choose(page, tmp_path / "wide.csv")
    expect(page.locator("#file")).to_contain_text("240 rows")
    page.get_by_role("searchbox").fill("column 29")
    expect(page.locator("table.columns tbody tr:visible")).to_have_count(11)
    step(page, "Results")
    wait_for_verdict(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280


def test_two_tabs_share_the_table_and_an_older_one_is_told(
    studio: RunningStudio, open_page: Open, tmp_path: Path
) -> None:
    first = open_page(studio)
    load_demo(first)
    second = first.context.new_page()
    second.goto(studio.origin)
    expect(second.locator("#file")).to_contain_text("customers.csv")
    (tmp_path / "other.csv").write_text("a,b\n" + "".join(f"{i},{i * i % 17}\n" for i in range(50)))
    choose(second, tmp_path / "other.csv")
    expect(second.locator("#file")).to_contain_text("other.csv")
    first.get_by_label("Role of age").select_option("keep")
    expect(first.locator("#banner")).to_contain_text("another table was loaded", ignore_case=True)
    expect(first.get_by_label("Role of age")).to_have_value("confidential")
    first.get_by_role("button", name="Reload").click()
    expect(first.locator("#file")).to_contain_text("other.csv")


def test_a_reload_keeps_the_table_the_roles_and_what_was_tried(studio: RunningStudio, open_page: Open) -> None:
    page = open_page(studio)
    load_numbers(page)
    page.get_by_label("Role of loan").select_option("keep")
    step(page, "Results")
    page.locator("#method").select_option("adp")
    page.get_by_label("Scale, as a number").fill("0.4")
    page.get_by_label("Scale, as a number").press("Enter")
    expect(page.locator(".tried")).to_contain_text("Additive noise: scale 0.4")
    page.reload()
    expect(page.locator(".tried")).to_contain_text("Additive noise: scale 0.4")
    expect(page.get_by_label("Scale, as a number")).to_have_value("0.4")
    step(page, "Columns")
    expect(page.get_by_label("Role of loan")).to_have_value("keep")


def test_a_setting_that_was_tried_is_one_click_away(studio: RunningStudio, open_page: Open) -> None:
    page = open_page(studio)
    load_numbers(page)
    step(page, "Results")
    for method in ("tdp", "cov"):
        page.locator("#method").select_option(method)
        expect(page.locator(".tried .chosen")).to_contain_text({"tdp": "Translation", "cov": "Correlated"}[method])
    page.locator(".tried button", has_text="Translation").click()
    expect(page.locator("#method")).to_have_value("tdp")
    expect(page.locator(".verdict")).to_contain_text("Grade F")
    plot = page.locator(".plot.tradeoff canvas")
    plot.scroll_into_view_if_needed()
    before = page.locator(".tried .chosen").inner_text()
    # the other setting hides more: its point is the one to the right
    box = plot.bounding_box()
    assert box is not None
    place = page.evaluate("document.querySelector('.plot.tradeoff').points")
    other = max(place, key=lambda point: point["x"])
    page.mouse.click(box["x"] + other["left"], box["y"] + other["top"])
    expect(page.locator("#method")).to_have_value("cov")
    assert page.locator(".tried .chosen").inner_text() != before


def test_stale_previews_are_aborted(studio: RunningStudio, open_page: Open) -> None:
    page = open_page(studio)
    load_numbers(page)
    step(page, "Results")
    page.locator("#method").select_option("adp")
    expect(page.locator(".tried .chosen")).to_contain_text("Additive noise")
    asked: list[float] = []
    page.on(
        "request",
        lambda request: (
            asked.append(request.post_data_json["settings"]["parameters"]["scale"])
            if request.url.endswith("/api/preview")
            else None
        ),
    )
    slider = page.get_by_role("slider", name="Scale")
    slider.focus()
    for _ in range(3):
        with page.expect_request("**/api/preview"):  # each is a request of its own, and only the last counts
            slider.press("ArrowRight")
    shown = float(page.get_by_label("Scale, as a number").input_value())
    expect(page.locator(".tried .chosen")).to_contain_text(f"scale {shown:g}")
    assert len(asked) == 3
    assert asked[-1] == shown
    tried = page.evaluate(SESSION)["dataset"]["tried"]
    scales = [one["settings"]["parameters"].get("scale") for one in tried if one["settings"]["method"] == "adp"]
    assert scales == [None, shown], "the server gave up the ones in between"


def test_the_picture_on_two_columns_needs_no_new_attacks(studio: RunningStudio, open_page: Open) -> None:
    page = open_page(studio)
    load_numbers(page)
    step(page, "Results")
    wait_for_verdict(page)
    page.locator(".first .plot").nth(1).evaluate(
        "(plot) => plot.addEventListener('painted', () => { plot.id = 'new'; })"
    )
    with page.expect_request("**/api/preview") as asked:
        page.locator("#axes").select_option("columns")
    assert asked.value.post_data_json["axes"] == ["age", "income"]
    assert asked.value.post_data_json["picture_only"] is True
    page.wait_for_selector("#new")
    page.locator("#axis-y").select_option("loan")
    expect(page.locator("#axis-y")).to_have_value("loan")
    wait_for_verdict(page)
    page.locator("#histogram-column").select_option("balance")
    expect(page.locator("#histogram-column")).to_have_value("balance")


def test_methods_are_compared_while_one_watches(studio: RunningStudio, open_page: Open) -> None:
    page = open_page(studio)
    load_numbers(page)
    step(page, "Compare")
    expect(page.get_by_text("Nothing compared yet.")).to_be_visible()
    page.get_by_role("button", name="Compare all methods").click()
    row = page.locator("table.compare tr", has_text="Scaling")
    expect(row).to_contain_text("recovers")
    expect(row.get_by_role("img", name="Grade F")).to_be_visible()
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_role("button", name="Compare again")).to_be_visible()
    row.get_by_role("button", name="Use Scaling").click()
    expect(page.locator("#method")).to_have_value("sdp")


def test_everything_can_be_done_by_keyboard(studio: RunningStudio, open_page: Open) -> None:
    page = open_page(studio)
    page.keyboard.press("Tab")  # from the heading of the step: the file field comes first
    assert page.evaluate("document.activeElement.id") == "choose"
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="What is in your columns?")).to_be_focused()
    page.get_by_role("button", name="Next: method").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="How should it be blurred?")).to_be_focused()


def test_late_news_of_a_table_does_not_take_its_owner_back(studio: RunningStudio, open_page: Open) -> None:
    page = open_page(studio)
    news, answers = [], []
    page.route("**/api/session", lambda route: news.append(route))  # noqa: PLW0108 - playwright sets an attribute on it
    page.route("**/api/demo", lambda route: answers.append((route, route.fetch())))
    with page.expect_request("**/api/session"):  # the table has been read, and the page asks for it
        page.get_by_role("button", name="Use the demo table").click()
    while not answers:
        page.wait_for_timeout(20)
    (route, answer), *_ = answers
    route.fulfill(response=answer)
    expect(page.get_by_role("heading", name="What is in your columns?")).to_be_focused()
    page.get_by_role("button", name="Next: method").click()
    expect(page.get_by_role("heading", name="How should it be blurred?")).to_be_focused()
    with page.expect_response("**/api/session") as response:
        news[0].continue_()
    response.value.finished()
    page.evaluate("() => new Promise(shown => requestAnimationFrame(() => setTimeout(() => setTimeout(shown))))")
    expect(page.get_by_role("heading", name="How should it be blurred?")).to_be_visible()


def test_a_late_answer_to_loading_does_not_undo_what_its_owner_has_chosen(
    studio: RunningStudio, open_page: Open
) -> None:
    page = open_page(studio)
    answers = []
    page.route("**/api/demo", lambda route: answers.append((route, route.fetch())))
    page.get_by_role("button", name="Use the demo table").click()
    expect(page.get_by_role("heading", name="What is in your columns?")).to_be_focused()  # by the news of it
    while not answers:
        page.wait_for_timeout(20)
    page.get_by_label("Role of branch", exact=True).select_option("keep")
    expect(page.locator("select.role-keep")).to_have_count(1)
    (route, answer), *_ = answers
    with page.expect_response("**/api/demo") as response:
        route.fulfill(response=answer)
    response.value.finished()
    page.get_by_role("button", name="Next: method").click()
    expect(page.get_by_role("heading", name="How should it be blurred?")).to_be_focused()
    page.go_back()
    expect(page.get_by_label("Role of branch", exact=True)).to_have_value("keep")


def test_axe_finds_nothing_on_any_step(open_shared: Page) -> None:
    page = open_shared
    for name in ("Data", "Columns", "Method", "Results", "Compare", "Release"):
        if name == "Columns":
            load_demo(page)
        step(page, name)
        if name == "Results":
            wait_for_verdict(page)
        for scheme, width in itertools.product(("light", "dark"), (1280, 390)):
            page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            page.set_viewport_size({"width": width, "height": 800})
            check_axe(page)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, f"{name} scrolls sideways"


def check_axe(page: Page) -> None:
    found = Axe().run(page)
    told = [(one["id"], one["help"], one["nodes"][0]["html"][:200]) for one in found.response["violations"]]
    assert told == []


def test_the_first_page_is_light(studio: RunningStudio, open_page: Open) -> None:
    sizes: list[int] = []
    page = open_page(studio)
    page.on("response", lambda response: sizes.append(int(response.headers.get("content-length", "0"))))
    page.reload()
    page.wait_for_selector("html[data-ready]")
    assert 0 < sum(sizes) < 300_000
