"""The site as `make site` builds it: no dead link, no name left out, nothing loaded from outside, axe content."""

from __future__ import annotations

import html
import importlib
import inspect
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe

from tools.website.navigation import SECTIONS
from tools.website.python_pages import page_of, public_names

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a new site; a link that leads nowhere, or a docstring that cannot be read, is an error."""
    folder = tmp_path_factory.mktemp("built") / "site"
    command = [sys.executable, str(ROOT / "tools" / "make_site.py"), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@cache
def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


@cache
def places(page: Path) -> set[str]:
    return set(re.findall(r'\bid="([^"]+)"', text_of(page)))


def dead_links(folder: Path) -> list[str]:
    """Return the links inside a site that lead to no file, or to no place on a page."""
    dead = []
    for page in sorted(folder.rglob("*.html")):
        for link in sorted(set(re.findall(r'\b(?:href|src)="([^"]*)"', text_of(page)))):
            parts = urlsplit(html.unescape(link))
            if parts.scheme or parts.netloc:
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            there = target.is_file()
            if not there or (parts.fragment and unquote(parts.fragment) not in places(target)):
                dead.append(f"{page.relative_to(folder)}: {link}")
    return dead


def test_no_link_leads_nowhere(site: Path) -> None:
    assert dead_links(site) == []


def test_dead_links_are_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<a href="a.html#here">.</a><a href="b.html">.</a><a href="#gone">.</a><p id="here">'
    )
    assert dead_links(tmp_path) == ["a.html: #gone", "a.html: b.html"]


def test_every_public_name_has_its_place_and_is_listed_by_its_package(site: Path) -> None:
    for package, names in public_names().items():
        listed = text_of(site / "reference" / "python" / f"{package}.html")
        for name in names:
            page = site / "reference" / "python" / f"{page_of(package, name)}.html"
            assert f'href="{page.name}"' in listed, f"{package}.{name} is not listed"
            if not inspect.ismodule(getattr(importlib.import_module(package), name)):
                assert f"{package}.{name}" in places(page), f"{package}.{name} is not described"


def test_signatures_show_every_parameter_and_its_default(site: Path) -> None:
    for package, names in public_names().items():
        for name in names:
            one = getattr(importlib.import_module(package), name)
            if not inspect.isfunction(one) and not hasattr(one, "get_params"):
                continue
            page = site / "reference" / "python" / f"{page_of(package, name)}.html"
            shown = html.unescape(re.sub(r"<[^>]+>", "", text_of(page)))
            for parameter in inspect.signature(one).parameters.values():
                if parameter.default is parameter.empty:
                    assert parameter.name in shown, f"{package}.{name}: {parameter}"
                elif isinstance(parameter.default, str | bool | None):
                    assert f"{parameter.name}={parameter.default!r}" in shown, f"{package}.{name}: {parameter}"
                else:  # numbers stand as they are written, 10_000 or a name
                    assert f"{parameter.name}=" in shown, f"{package}.{name}: {parameter}"


def test_the_list_on_the_left_has_every_page(site: Path) -> None:
    home = text_of(site / "index.html")
    for pages in SECTIONS.values():
        for page in pages:
            assert f'href="{page}.html"' in home


def test_no_page_loads_anything_from_outside(site: Path) -> None:
    loads = re.compile(
        r"""<(?:script|img|iframe|source|video)\b[^>]*\bsrc="(?:https?:)?//|<link\b[^>]*\bhref="(?:https?:)?//"""
    )
    for page in site.rglob("*.html"):
        found = [tag for tag in loads.findall(text_of(page)) if 'rel="canonical"' not in tag]
        assert not found, f"{page.name}: {found[0]}"
    for style in site.rglob("*.css"):
        assert not re.search(r"""(?:@import|url\()\s*["']?(?:https?:)?//""", text_of(style)), style.name


#: pages of every kind: the first, a guide with wide tables, code, a notebook with a report in it
LOOKED_AT = ("index", "guide/tour", "reference/python/sfumato.perturb.AtomMixing", "notebooks/steward")


@pytest.mark.parametrize("page_name", LOOKED_AT)
def test_axe_finds_nothing_and_nothing_is_cut_off_or_fetched(site: Path, browser: Any, page_name: str) -> None:
    for scheme, width in (("light", 1280), ("dark", 390)):
        context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
        page, asked = context.new_page(), []
        page.on("request", lambda request, asked=asked: asked.append(request.url))
        page.goto((site / f"{page_name}.html").as_uri())
        page.wait_for_load_state("networkidle")
        assert [url for url in asked if not url.startswith(site.as_uri())] == []
        found = Axe().run(page).response["violations"]
        assert [(one["id"], one["help"], one["nodes"][0]["html"][:200]) for one in found] == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width, "it scrolls sideways"
        dark = page.evaluate("getComputedStyle(document.body).getPropertyValue('--color-background-primary')").strip()
        assert (dark == "#131416") == (scheme == "dark")
        context.close()


def test_search_finds_a_page_without_a_server(site: Path, browser: Any) -> None:
    page = browser.new_page()
    page.goto((site / "index.html").as_uri())
    page.get_by_label("Search").first.fill("AtomExchange")
    page.keyboard.press("Enter")
    page.locator("#search-results li a").first.wait_for()
    targets = page.locator("#search-results li a").evaluate_all("links => links.map(a => a.getAttribute('href'))")
    assert any("sfumato.perturb.AtomExchange.html" in target for target in targets)
    page.close()
