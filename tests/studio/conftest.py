"""Studios and a real Chromium for the tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.studio.quiet import HARD_LIMIT, closed_when_quiet
from tests.studio.running import RunningStudio

expect.set_options(timeout=1000 * HARD_LIMIT)  # a busy machine may take its time; see quiet.py


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., RunningStudio]]:
    """Return a function that starts a studio; it ends with the test."""
    started: list[RunningStudio] = []

    def starting(file: Path | None = None, **limits: Any) -> RunningStudio:
        home = tmp_path / "home"
        home.mkdir(exist_ok=True)
        started.append(RunningStudio(home, file, **limits))
        return started[-1]

    yield starting
    for studio in started:
        studio.stop()


@pytest.fixture
def studio(start: Callable[..., RunningStudio]) -> RunningStudio:
    return start()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningStudio]:
    """Return a studio that the tests of a module share, with its cookie at hand."""
    studio = RunningStudio(tmp_path_factory.mktemp("home"))
    studio.cookie = studio.enter()
    yield studio
    studio.stop()


@pytest.fixture(scope="module")
def shared_page(shared: RunningStudio, browser: Browser) -> Iterator[Page]:
    """Return a page of the shared studio."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.set_default_timeout(1000 * HARD_LIMIT)
    name, _, value = shared.cookie.partition("=")
    context.add_cookies([{"name": name, "value": value, "url": shared.origin}])
    context.add_init_script(f"localStorage.setItem('studio-secret', '{shared.secret}')")
    yield context.new_page()
    context.close()


@pytest.fixture
def open_shared(shared: RunningStudio, shared_page: Page) -> Iterator[Page]:
    """Return the page of the shared studio, opened anew."""
    with closed_when_quiet(shared_page.context, shared.process.pid):
        shared_page.goto(shared.origin)
        shared_page.reload()
        shared_page.wait_for_selector("html[data-ready]")
        yield shared_page


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Callable[[RunningStudio], Page]]:
    """Return a function that opens a studio's link; the page's errors and requests to elsewhere fail the test."""
    contexts = ExitStack()
    problems: list[str] = []

    def opening(studio: RunningStudio, **options: Any) -> Page:
        context = browser.new_context(viewport={"width": 1280, "height": 800}, **options)
        contexts.callback(context.close)
        context.set_default_timeout(1000 * HARD_LIMIT)
        contexts.enter_context(closed_when_quiet(context, studio.process.pid))
        context.on("weberror", lambda error: problems.append(str(error.error)))
        context.on(
            "console",
            lambda message: (
                problems.append(message.text)
                if message.type == "error" and "Failed to load resource" not in message.text
                else None
            ),
        )
        context.on(
            "request",
            lambda request: (
                None
                if request.url.startswith((studio.origin, "data:", "blob:"))
                else problems.append(f"left the machine: {request.url}")
            ),
        )
        page = context.new_page()
        page.goto(studio.link)
        page.wait_for_selector("html[data-ready]")
        return page

    with contexts:
        yield opening
    assert problems == []
