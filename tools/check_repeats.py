"""Code that is written twice: ten lines that stand in two places of the package are one function too few.

Run by `make test`. Docstrings, comments, blank lines and imports do not count, nor do signatures (methods share names
and defaults of parameters on purpose); what is left is compared line by line, whatever its indentation.
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent / "src" / "sfumato"
FEWEST = 10
Line = tuple[int, str]  # its number, and its text without indentation


def code_lines(path: Path) -> list[Line]:
    """Return the lines of a file that count."""
    text = path.read_text(encoding="utf-8")
    left_out: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)  # a docstring, mostly
        if isinstance(node, ast.Import | ast.ImportFrom) or is_text:
            left_out.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            left_out.update(range(node.lineno, node.body[0].lineno))
    lines = ((number, line.strip()) for number, line in enumerate(text.splitlines(), start=1))
    return [(n, line) for n, line in lines if n not in left_out and line and not line.startswith("#")]


def repeats(files: dict[str, list[Line]], fewest: int = FEWEST) -> list[str]:
    """Return one line for every stretch of at least `fewest` lines that stands twice, with both places.

    Parameters
    ----------
    files : dict
        Lines of each file, by its name.
    """
    places: dict[tuple[str, ...], list[tuple[str, int]]] = defaultdict(list)
    for name, lines in files.items():
        for i in range(len(lines) - fewest + 1):
            places[tuple(line for _, line in lines[i : i + fewest])].append((name, i))
    pairs = {(one, other) for found in places.values() for at, one in enumerate(found) for other in found[at + 1 :]}
    out = []
    for (left, i), (right, j) in sorted(pairs):
        if ((left, i - 1), (right, j - 1)) in pairs:
            continue  # told already, from its first line on
        length = fewest
        while ((left, i + length - fewest + 1), (right, j + length - fewest + 1)) in pairs:
            length += 1
        places_of = [
            f"{name}:{files[name][at][0]}-{files[name][at + length - 1][0]}" for name, at in ((left, i), (right, j))
        ]
        out.append(f"{places_of[0]} stands again in {places_of[1]} ({length} lines)")
    return out


if __name__ == "__main__":
    found = repeats({str(path.relative_to(ROOT)): code_lines(path) for path in sorted(ROOT.rglob("*.py"))})
    sys.stdout.write("\n".join(found) + "\n" if found else "repeats: nothing of ten lines stands twice\n")
    sys.exit(1 if found else 0)
