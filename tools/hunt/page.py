"""docs/reliability.md: the figures of the recorded hunt between its marks."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from tools.made_from import stamped

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reliability.md"


def table_of(found: dict[str, Any]) -> str:
    """Return the counts of a hunt as the page shows them."""
    lines = ["| what | how it ended | times |", "|---|---|---|"]
    for kind, seen in found["counts"].items():
        lines += [f"| {kind} | {what} | {count:,} |" for what, count in seen.items()]
    total = sum(sum(seen.values()) for seen in found["counts"].values())
    minutes = found["seconds"] / 60
    lines += ["", f"{total:,} cases in {minutes:,.0f} minutes, {len(found['findings'])} findings left open "]
    lines[-1] += f"({found['system']}, Python {found['python']})."
    lines += ["", *(f"- {one}" for one in found["findings"][:20])] if found["findings"] else []
    return "\n".join(lines)


def write_page(found: dict[str, Any]) -> None:
    """Put the figures of a hunt into the page."""
    text = PAGE.read_text(encoding="utf-8")
    new = f"<!-- hunt -->\n{table_of(found)}\n<!-- /hunt -->"
    text = re.sub(r"<!-- hunt -->.*<!-- /hunt -->", lambda _: new, text, flags=re.DOTALL)
    PAGE.write_text(stamped(text), encoding="utf-8")
