"""The commit that a generated page was made from, as a comment at its end."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

_MARK = re.compile(r"\n*<!-- made from ([0-9a-f]{7,40})(?: with changes)? -->\n*\Z")


def stamped(text: str) -> str:
    """Return a page with the commit of the code that is checked out now; as it is where there is no history.

    Parameters
    ----------
    text : str
        With or without an earlier mark.
    """
    plain = _MARK.sub("\n", text)
    try:
        commit = _git("rev-parse", "--short=10", "HEAD")
        changed = " with changes" if _git("status", "--porcelain", "--", "src", "tools", "benchmarks") else ""
    except (OSError, subprocess.CalledProcessError):
        return plain
    return f"{plain.rstrip()}\n\n<!-- made from {commit}{changed} -->\n"


def commit_of(text: str) -> str | None:
    r"""Return the commit that a page was made from; None if it does not say.

    Examples
    --------
    >>> commit_of("# Page\\n\\n<!-- made from 0123abcdef -->\\n")
    '0123abcdef'
    """
    found = _MARK.search(text)
    return found[1] if found else None


def _git(*arguments: str) -> str:
    here = Path(__file__).resolve().parent
    done = subprocess.run(["git", *arguments], cwd=here, capture_output=True, text=True, check=True)
    return done.stdout.strip()
