"""Write the README's table of extras: what each brings, and what it weighs beyond the core.

Sizes are those of the installed files of every library that an extra brings and the core does not, to ten megabytes.
Run by `make extras`, in an environment with all extras.
"""

from __future__ import annotations

import re
import tomllib
from importlib import metadata
from pathlib import Path

from make_docs import between
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parent.parent
BRINGS = {
    "": "the library, the command line, CSV, Parquet and Arrow files",
    "dataframes": "pandas and Arrow tables in Python",
    "excel": "Excel files (.xlsx), in and out",
    "studio": "`sfumato studio`, the local web page",
    "fast": "compiled kernels: the same bytes, sooner",
    "postgresql": "tables of a PostgreSQL database, in and out",
    "spark": "releases on a Spark cluster, with a Java of its own",
    "dp": "the differentially private mixture, with noise of a vetted library",
    "chameleon": "the Chameleon clusterer of the papers",
    "all": "everything",
}


def closure(requirements: list[str]) -> set[str]:
    """Return the names of all installed libraries that some requirements bring."""
    found: set[str] = set()
    todo = [Requirement(text) for text in requirements]
    while todo:
        one = todo.pop()
        name = re.sub(r"[-_.]+", "-", one.name).lower()
        if name in found:
            continue
        found.add(name)
        for text in metadata.requires(one.name) or []:
            more = Requirement(text)
            if more.marker is None or any(more.marker.evaluate({"extra": extra}) for extra in one.extras or {""}):
                todo.append(more)
    return found


def megabytes(names: set[str]) -> int:
    """Return what the files of some libraries weigh."""
    size = 0
    for name in names:
        for file in metadata.files(name) or []:
            path = Path(str(file.locate()))
            size += path.stat().st_size if path.is_file() else 0
    return round(size / 1e6)


def table() -> str:
    """Return the Markdown table."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    everything = [line for name, lines in extras.items() if name != "all" for line in lines]
    core = closure(project["dependencies"])
    lines = ["| install | brings | weighs |", "|---|---|---|"]
    assert set(BRINGS) == {"", *extras}, "every extra has a line"
    for name, brings in BRINGS.items():
        wanted = core if not name else closure(everything if name == "all" else extras[name]) - core
        size = 10 * max(1, round(megabytes(wanted) / 10))
        place = "sfumato" if not name else f"sfumato[{name}]"
        lines.append(f'| `pip install "{place}"` | {brings} | {"" if not name else "+ "}{size:,} MB |')
    return "\n".join(lines)


if __name__ == "__main__":
    readme = ROOT / "README.md"
    readme.write_text(between(readme, "extras", table()), encoding="utf-8")
    print("extras: written into README.md")
