"""Pictures of each step of the studio, from a real run in Chromium, into docs/img/studio-*.png."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.conftest import CHROMIUM_FLAGS as FLAGS  # noqa: E402
from tests.studio.running import RunningStudio  # noqa: E402

IMAGES = ROOT / "docs" / "img"
PATIENCE = 300_000  # milliseconds


def main() -> None:
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright:
        studio = RunningStudio(Path(home))
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 860})
        page.set_default_timeout(PATIENCE)
        page.goto(studio.link)
        tour(page, home)
        browser.close()
        studio.stop()


def tour(page: Page, home: str) -> None:
    page.wait_for_selector("html[data-ready]")
    take(page, "data")
    page.get_by_role("button", name="Use the demo table").click()
    page.wait_for_selector("table.columns")
    take(page, "columns")
    step(page, "Method")
    take(page, "method")
    step(page, "Results")
    page.wait_for_selector(".tried .chosen")
    field = page.get_by_label("Min atom, as a number")
    for size in ("3", "15"):  # some settings tried, so that the trade-off has something to show
        field.fill(size)
        field.press("Enter")
        page.wait_for_selector(f".tried .chosen:has-text('min atom {size}')")
    page.locator(".tried button").last.click()
    page.wait_for_selector(".verdict progress")
    page.wait_for_selector(".verdict [aria-label^='Grade']")
    page.locator("#histogram-column").select_option("job")
    take(page, "results")
    page.emulate_media(color_scheme="dark")
    take(page, "results-dark")
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": 390, "height": 860})
    take(page, "results-phone")
    page.set_viewport_size({"width": 1280, "height": 860})
    page.locator(".attacks").scroll_into_view_if_needed()
    take(page, "attacks", top=False)
    page.locator("table.bars").scroll_into_view_if_needed()
    page.locator("table.cells").scroll_into_view_if_needed()
    take(page, "rows", top=False)
    step(page, "Compare")
    page.get_by_role("button", name="Compare all methods").click()
    page.get_by_role("button", name="Compare again").wait_for()
    take(page, "compare")
    step(page, "Release")
    page.get_by_role("button", name="Release ").click()
    page.get_by_role("link", name="Audit report").wait_for()
    # the key's folder as it is called on a machine where nobody set another one
    page.evaluate(
        """(home) => { for (const id of ["key-path", "command"]) { const place = document.getElementById(id);
        place.textContent = place.textContent.replaceAll(home, "/home/you/.local/share"); } }""",
        home,
    )
    page.set_viewport_size({"width": 1280, "height": 1240})
    take(page, "release")


def step(page: Page, name: str) -> None:
    page.get_by_role("navigation", name="Steps").get_by_role("link", name=name).click()


def take(page: Page, name: str, *, top: bool = True) -> None:
    if top:
        page.evaluate("window.scrollTo(0, 0)")
    page.wait_for_timeout(600)  # plots follow the width of the window
    path = IMAGES / f"studio-{name}.png"
    page.screenshot(path=path)
    print(f"wrote {path.name}")


if __name__ == "__main__":
    main()
