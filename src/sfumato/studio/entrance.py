"""How the browser gets its token without anybody else seeing it.

What stands in the arguments of a program can be read by every user of a computer, and a browser is opened with an
address as its argument. So it is given the address of a page on the disk that only its owner can read, and this page
posts the token. The answer gives the browser a cookie, and its page a secret that is bound to the port: cookies go to
every port of a computer, what a page has stored goes to its own origin only. A request needs both.
"""

from __future__ import annotations

import html
import os
from pathlib import Path

from sfumato.core.system import CREATE

_OPENING = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="referrer" content="no-referrer">
<title>sfumato studio</title></head>
<body onload="document.forms[0].submit()">
<form method="post" action="{action}"><input type="hidden" name="token" value="{token}">
<button>Open the studio</button></form></body></html>
"""
_ENTERED = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>sfumato studio</title>
<meta name="studio-secret" content="{secret}"><script src="/static/js/enter.js" defer></script></head>
<body><p>Opening the studio …</p><noscript>The studio needs JavaScript.</noscript></body></html>
"""


def write_opening(path: Path, origin: str, token: str) -> None:
    """Write the page that posts the token, for its owner's eyes only.

    Parameters
    ----------
    path : Path
        A new file in a folder of the studio's own.
    origin : str
        Of the studio.
    """
    page = _OPENING.format(action=html.escape(f"{origin}/enter"), token=html.escape(token))
    with os.fdopen(os.open(path, CREATE, 0o600), "w", encoding="utf-8") as file:
        file.write(page)


def entered_page(secret: str) -> str:
    """Return the answer to a good token: it stores the secret and goes on to the studio."""
    return _ENTERED.format(secret=html.escape(secret))
