"""Write docs/reproduction.md from a full run of all five papers (`make reproduce`).

--check ends with 1 if any number is outside its bar. --quick and --only PAPER are for trying things out.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from sfumato.exceptions import SfumatoError
from sfumato.papers import Reproduction, papers, reproduce, to_html, to_json, to_markdown
from sfumato.papers.rendering.svg import figure_svg

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from tools.made_from import stamped

DOCS = Path(__file__).resolve().parent.parent / "docs"


def write_docs(results: list[Reproduction], folder: Path) -> None:
    images = folder / "reproduction"
    images.mkdir(parents=True, exist_ok=True)
    shown: dict[str, str] = {}
    for result in results:
        for figure in result.figures:
            name = f"{result.paper}-{figure.name.lower().replace(' ', '-')}.svg"
            (images / name).write_text(figure_svg(figure) + "\n", encoding="utf-8")
            shown[f"{result.paper} {figure.name}"] = f"reproduction/{name}"
    (folder / "reproduction.md").write_text(stamped(to_markdown(results, shown)), encoding="utf-8")


def progress() -> object:
    told = -1

    def tell(share: float, text: str) -> None:
        nonlocal told
        if int(50 * share) > told:
            told = int(50 * share)
            print(f"{share:4.0%} {text}", file=sys.stderr, flush=True)

    return tell


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="end with 1 if a number is outside its bar")
    parser.add_argument("--quick", action="store_true", help="the quick mode; writes no document")
    parser.add_argument("--only", action="append", choices=[entry.name for entry in papers()], help="this paper only")
    parser.add_argument("--data", type=Path, help="folder with the papers' data (default: SFUMATO_DATA)")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--output", type=Path, default=DOCS, help="folder of reproduction.md")
    parser.add_argument("--json", type=Path, help="also write the results as JSON")
    parser.add_argument("--report", type=Path, help="also write the HTML page")
    options = parser.parse_args()
    names = options.only or [entry.name for entry in papers()]
    try:
        results = reproduce(names, quick=options.quick, folder=options.data, progress=progress(), jobs=options.jobs)
    except SfumatoError as error:
        print(f"make_reproduction: {error}", file=sys.stderr)
        return 3
    if options.json:
        options.json.write_text(json.dumps(to_json(results), indent=1) + "\n", encoding="utf-8")
    if options.report:
        options.report.write_text(to_html(results), encoding="utf-8")
    if not options.quick and not options.only:
        write_docs(results, options.output)
    missed = [line for result in results for line in result.missed()]
    for result in results:
        print(f"{result.paper}: " + ", ".join(f"{n} {status}" for status, n in result.counts().items()))
    print("\n".join(missed) if missed else "every number is inside its bar")
    return 1 if missed and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
