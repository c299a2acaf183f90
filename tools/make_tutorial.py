"""Write what the commands of the tutorial print, and the rows of their files, into docs/guide/tour.md.

Run by `make tutorial`. The commands run as they stand on the page, in a folder of their own, with a key of a seed, so
that they print the same the next time; tests/docs runs them again with a key of their own.
"""

from __future__ import annotations

import csv
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import sfumato as sf

PAGE = Path(__file__).resolve().parent.parent / "docs" / "guide" / "tour.md"
PART = re.compile(
    r"^```(?P<language>bash|python)\n(?P<code>.*?)^```$"
    r"|^<!-- prints(?: (?P<lines>\d+))? -->\n(?P<printed>.*?)^<!-- /prints -->$"
    r"|^<!-- rows (?P<file>\S+) -->\n(?P<rows>.*?)^<!-- /rows -->$",
    re.MULTILINE | re.DOTALL,
)


def written(page: str, folder: Path) -> str:
    """Return the page with what its commands print in a folder."""
    said = ""

    def fill(part: re.Match[str]) -> str:
        nonlocal said
        whole, start = part[0], part.start()
        if part["language"]:
            said = run(part["language"], part["code"], folder)
            return whole
        head = whole.partition("\n")[0]
        if part["file"]:
            return f"{head}\n{rows(folder / part['file'])}<!-- /rows -->"
        assert said, f"nothing was printed before {page[:start].splitlines()[-1]!r}"
        lines = said.splitlines()[: int(part["lines"]) if part["lines"] else None]
        return "\n".join([head, "```text", *lines, "```", "<!-- /prints -->"])

    return PART.sub(fill, page)


def run(language: str, code: str, folder: Path) -> str:
    """Return what a block prints, without its progress and without the name of the folder."""
    command = ["bash", "-euo", "pipefail", "-c", code] if language == "bash" else [sys.executable, "-c", code]
    home = {"HOME": str(folder), "XDG_DATA_HOME": str(folder / "data"), "COLUMNS": "120"}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = os.environ | home | {"PATH": path}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{code}\n{done.stdout}{done.stderr}")
    return done.stdout.replace(f"{folder.resolve()}{os.sep}", "")


def rows(path: Path, count: int = 3) -> str:
    """Return the first rows of a file as Markdown."""
    with path.open(encoding="utf-8", newline="") as file:
        head, *body = (line for line, _ in zip(csv.reader(file), range(count + 1), strict=False))
    lines = [head, ["---"] * len(head), *body]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        sf.Key.from_insecure_seed(2003).save(Path(place) / "customers.key")  # nothing is protected here
        PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), Path(place)), encoding="utf-8")
    print(f"tutorial: wrote {PAGE.name}")
