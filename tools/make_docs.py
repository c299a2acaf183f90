"""Write the generated parts of the docs: tables of methods, packages and exit codes, pictures, schemas.

python tools/make_docs.py           write them
python tools/make_docs.py --check   exit 1 if they are not up to date
"""

from __future__ import annotations

import ast
import json
import re
import sys
from pathlib import Path

import numpy as np

from sfumato import Audit, Comparison, Key, Tuned
from sfumato.cli.exit_codes import exit_table
from sfumato.datasets import CONFIDENTIAL, demo_table
from sfumato.perturb import AdditiveNoise, NestedClustering, Rotation, methods
from sfumato.perturb.catalogue.entries import Method

ROOT = Path(__file__).resolve().parent.parent
COLOURS = ("#3b6ea5", "#d1813b", "#5a9c5f", "#9b5fa5", "#b5a33a")


def methods_table() -> str:
    """Return the Markdown table of all methods."""
    lines = ["| method | id | what it does | undone by someone who knows | tier |", "|---|---|---|---|---|"]
    lines += [f"| `{m.name}` | `{m.id}` | {m.summary} | {_breaks(m)} | {m.tier} |" for m in methods()]
    return "\n".join(lines)


def _breaks(row: Method) -> str:
    text = [one.text for one in row.known_breaks[:2]]
    more = len(row.known_breaks) - len(text)
    nobody = "whoever links the method inside" if row.wraps else "no attack of ours (that is no proof)"
    return "; ".join(text) + (f"; {more} more" if more else "") or nobody


def _placed(values: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return points between 0 and 1; a release in other units (rotated deviations) has axes of its own."""
    place = (values - low) / (high - low)
    if ((place > 0) & (place < 1)).all(axis=1).mean() > 0.5:
        return place
    least, most = values.min(axis=0), values.max(axis=0)
    return 0.05 + 0.9 * (values - least) / (most - least)


def picture() -> str:
    """Return an SVG: the demo table, and what three methods make of it, on the same axes with the same colours."""
    table = demo_table()
    columns = ["age", "balance"]
    original = table.select(columns).to_numpy().astype(float)
    kinds = _kinds(table.select(CONFIDENTIAL).to_numpy().astype(float))
    key = Key.from_insecure_seed(2003)  # a picture for the docs: nothing is protected here
    panels = [("the original", original)]
    for title, perturber in (
        ("rotated: 3 known rows undo it", Rotation(key=key, scale="std", columns=columns)),
        ("noise of 0.5 sd: clusters blur", AdditiveNoise(0.5, key=key, columns=columns)),
        ("nested clustering: groups of 3 to 5", NestedClustering(key=key, columns=columns)),
    ):
        panels.append((title, perturber.fit_transform(table).select(columns).to_numpy().astype(float)))
    low, high = original.min(axis=0), original.max(axis=0)
    low, high = low - 0.15 * (high - low), high + 0.15 * (high - low)
    parts = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 980 290" font-family="sans-serif" font-size="13">']
    parts.append('<rect width="980" height="290" fill="#ffffff"/>')
    every = slice(None, None, 3)
    for i, (title, values) in enumerate(panels):
        x0 = 10 + 243 * i
        parts.append(f'<text x="{x0}" y="22" fill="#222">{title}</text>')
        parts.append(f'<rect x="{x0}" y="32" width="231" height="225" fill="#fafafa" stroke="#ccc"/>')
        place = _placed(values, low, high)
        inside = ((place > 0) & (place < 1)).all(axis=1)
        for colour in range(5):
            points = place[inside & (kinds == colour)][every]
            dots = "".join(f"M{x0 + 231 * x:.1f} {257 - 225 * y:.1f}h0" for x, y in points)
            parts.append(
                f'<path d="{dots}" stroke="{COLOURS[colour]}" stroke-width="3" stroke-linecap="round" opacity=".6"/>'
            )
    parts.append(
        '<text x="10" y="278" fill="#666">age to the right, balance upwards; same colours, same axes '
        "(the rotated table has units of its own)</text></svg>"
    )
    return "\n".join(parts) + "\n"


def _kinds(values: np.ndarray) -> np.ndarray:
    from sklearn.cluster import KMeans

    scaled = (values - values.mean(axis=0)) / values.std(axis=0)
    return KMeans(5, n_init=10, random_state=0).fit_predict(scaled)


def packages_table() -> str:
    """Return the Markdown table of packages: what each is, and what it imports."""
    sys.path.insert(0, str(ROOT / "tools"))
    from check_imports import LAYERS

    lines = ["| package | what is inside | imports |", "|---|---|---|"]
    for name, imports in LAYERS.items():
        home = ROOT / "src" / "sfumato" / name
        module = home / "__init__.py" if home.is_dir() else home.with_suffix(".py")
        about = ast.get_docstring(ast.parse(module.read_text(encoding="utf-8"))) or ""
        first = about.partition("\n")[0].replace("|", "/")
        lines.append(f"| `{name}` | {first} | {', '.join(sorted(imports)) or 'nothing of ours'} |")
    return "\n".join(lines)


def between(page: Path, mark: str, text: str) -> str:
    """Return a page with a text between the marks <!-- mark --> and <!-- /mark -->."""
    pattern = re.compile(rf"(<!-- {mark} -->\n).*?(\n<!-- /{mark} -->)", flags=re.DOTALL)
    return pattern.sub(lambda found: found[1] + text + found[2], page.read_text(encoding="utf-8"))


def generated() -> dict[Path, str]:
    """Return what each generated file should hold."""
    readme, design, install = ROOT / "README.md", ROOT / "DESIGN.md", ROOT / "docs" / "guide" / "install.md"
    schema = json.dumps(Audit.json_schema(), indent=2) + "\n"
    return {
        readme: between(readme, "methods", methods_table()),
        design: between(design, "packages", packages_table()),
        install: between(install, "exit codes", exit_table()),
        ROOT / "docs" / "img" / "demo.svg": picture(),
        ROOT / "docs" / "audit.schema.json": schema,
        ROOT / "docs" / "comparison.schema.json": json.dumps(Comparison.json_schema(), indent=2) + "\n",
        ROOT / "docs" / "tuning.schema.json": json.dumps(Tuned.json_schema(), indent=2) + "\n",
    }


if __name__ == "__main__":
    stale = []
    for path, text in generated().items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(str(path.relative_to(ROOT)))
            if "--check" not in sys.argv:
                path.write_text(text, encoding="utf-8")
    if "--check" in sys.argv and stale:
        sys.exit(f"not up to date: {', '.join(stale)}; run make docs")
    print("docs: " + (f"wrote {', '.join(stale)}" if stale else "up to date"))
