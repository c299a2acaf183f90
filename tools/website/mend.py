"""What the theme leaves undone for readers with a keyboard or a screen reader, mended in the finished pages.

The tests look at the pages with axe: if a new version of Sphinx or Furo writes other HTML, they say what is open again.
"""

from __future__ import annotations

import re
from pathlib import Path

SIGNATURE = re.compile(r"<dl>\s*((?:<dd>.*?</dd>\s*)+)</dl>", re.DOTALL)
PLAIN = (
    ('<p class="caption" role="heading">', '<p class="caption" role="heading" aria-level="2">'),
    ('<aside class="sidebar-drawer">', '<aside class="sidebar-drawer" aria-label="All pages">'),
    ('<aside class="toc-drawer', '<aside aria-label="On this page" class="toc-drawer'),
    ("<pre>", '<pre tabindex="0">'),  # wide blocks are scrolled with the keyboard
    ('<div class="table-wrapper', '<div tabindex="0" class="table-wrapper'),
    ('<div class="wide">', '<div tabindex="0" class="wide">'),
    ("<figure>", '<figure tabindex="0">'),
    ('<div class="cell_output', '<div tabindex="0" class="cell_output'),
    ('<th class="head"><p></p></th>', "<td></td>"),  # an empty corner is no heading
    ('<th scope="row"></th>', "<td></td>"),
    ('<div id="search-results">', '<h1>Search</h1><div id="search-results">'),
)


def mended(page: str) -> str:
    """Return a page with labels of landmarks, levels of captions, blocks that take the focus, and sound signatures.

    Examples
    --------
    >>> mended("<dl><dd>key=None,</dd></dl><pre>x</pre>")
    '<span class="sig-lines"><span>key=None,</span></span><pre tabindex="0">x</pre>'
    """
    for old, new in PLAIN:
        page = page.replace(old, new)
    return SIGNATURE.sub(signature, page)


def signature(found: re.Match[str]) -> str:
    """Return the parameters of a signature, which Sphinx writes as a list of definitions without terms."""
    inside = found[1].strip().replace("<dd>", "<span>").replace("</dd>", "</span>")
    return f'<span class="sig-lines">{inside}</span>'


def mend(folder: Path) -> None:
    """Mend all pages of a site."""
    for path in folder.rglob("*.html"):
        path.write_text(mended(path.read_text(encoding="utf-8")), encoding="utf-8")
