"""Shared fixtures: the papers' data, found through SFUMATO_DATA, and a real Chromium."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests.keys import keys_of

settings.register_profile("any machine", deadline=None)  # a busy machine is not a defect
settings.load_profile("any machine")

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # otherwise scikit-learn skips one of its checks

os.environ["SFUMATO_KEYS"] = tempfile.mkdtemp(prefix="sfumato-keys-")  # no test writes into the user's own folder

# whoever starts the tests in the background may have them ignore signals, which what they start would inherit
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

DATA = os.environ.get("SFUMATO_DATA")


def pytest_report_header() -> str:
    if DATA:
        return f"papers' data: {DATA}"
    return "papers' data: SFUMATO_DATA is not set; tests marked `data` are left out"


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "data: needs the papers' data sets (SFUMATO_DATA)")
    config.addinivalue_line("markers", "fresh_keys: takes keys from the operating system, as users do")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    if item.get_closest_marker("fresh_keys"):
        return (yield)
    with keys_of(_without_group(item)):
        return (yield)


def _without_group(item: pytest.Item) -> str:
    """Return the name that a test has when it is run alone: pytest-xdist writes its group behind it."""
    name, at, _ = item.nodeid.rpartition("@")
    return name if at and _is_grouped(item) else item.nodeid


def _is_grouped(item: pytest.Item) -> bool:
    return item.nodeid.rfind("@") > item.nodeid.rfind("]")


def pytest_collection_finish(session: pytest.Session) -> None:
    together = getattr(session.config.option, "loadgroup", False)
    alone = [item for item in session.items if item.get_closest_marker("xdist_group") and not _is_grouped(item)]
    if together and alone:  # everything would pass, and take half as long again
        raise pytest.UsageError(
            f"pytest-xdist does not know the groups of {len(alone)} tests, such as {alone[0].nodeid}"
        )


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any]) -> Iterator[None]:
    if fixturedef.scope == "function":
        return (yield)
    with keys_of(f"{fixturedef.baseid} {fixturedef.argname}"):  # whichever test asks for it first
        return (yield)


#: fixtures of a module that cost nothing: tables, and switches; every worker may make its own
CHEAP = {"everybody", "people", "bodies", "table", "file", "wine", "original", "well_clustered"}


def _made_once(item: pytest.Item) -> str | None:
    """Return the group of a test that shares a fixture of its module with others: one worker makes it for all."""
    info = getattr(item, "_fixtureinfo", None)
    found = {} if info is None else info.name2fixturedefs
    shared = sorted(name for name, made in found.items() if made[-1].scope == "module" and name not in CHEAP)
    if not shared:
        return None
    given = getattr(getattr(item, "callspec", None), "params", {})
    return " ".join([item.path.parent.name, item.path.stem, *(str(given[name]) for name in shared if name in given)])


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist looks at the groups
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        group = _made_once(item)
        if group is not None and item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(group))
    if DATA:
        return
    if os.environ.get("CI") == "true":
        raise pytest.UsageError("CI must set SFUMATO_DATA: the tests on the papers' data may not be left out")
    left_out = pytest.mark.skip(reason="SFUMATO_DATA is not set (the folder with the papers' data sets)")
    for item in items:
        if "data" in item.keywords:
            item.add_marker(left_out)


@pytest.fixture(scope="session", autouse=True)
def small_tables() -> Iterator[None]:
    """Let small tables be released, as an owner who insists could: most tests need a dozen rows."""
    from sfumato.perturb.guard.shell import GuardShell

    usual, GuardShell.fewest_rows = GuardShell.fewest_rows, 0
    yield
    GuardShell.fewest_rows = usual


@pytest.fixture(scope="module")
def everybody() -> Iterator[None]:
    """Hold nobody back for being far from others: for tests that compare a table and its release row by row."""
    from sfumato.perturb.guard import exposed

    usual, exposed.ASKED_ROWS = exposed.ASKED_ROWS, 0
    yield
    exposed.ASKED_ROWS = usual


@pytest.fixture(scope="session")
def data_folder() -> Path:
    assert DATA is not None
    return Path(DATA)


@pytest.fixture
def few_clusters() -> Iterator[None]:
    """Measure little in the audits of files; see `two_clusters`."""
    from tests.auditing.quick import two_clusters

    with two_clusters():
        yield


CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def _patient(opening: Callable[..., Any]) -> Callable[..., Any]:
    """Return what opens a page or a context in which half a minute on a busy machine is no failure."""

    def opened(**options: Any) -> Any:
        made = opening(**options)
        made.set_default_timeout(300_000)
        return made

    return opened


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Return a Chromium, one for all tests of the session: the studio and the reports are looked at in it."""
    from playwright.sync_api import sync_playwright

    path = shutil.which("chromium")
    assert path, "no Chromium on the path; run: python tools/install_browser.py"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, headless=True, args=CHROMIUM_FLAGS)
        for name in ("new_context", "new_page"):
            setattr(browser, name, _patient(getattr(browser, name)))
        yield browser
        browser.close()
