"""Say which generated pages are older than the code that they tell of: `make stale`.

A page that a tool measures carries the commit that it was made from (`tools/made_from.py`); where it does not yet, the
commit counts in which it was last changed. Nothing fails: making some of them takes hours, and a page may lag behind on
purpose; but nobody has to guess which.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from tools.made_from import commit_of

ROOT = Path(__file__).resolve().parent.parent

# page -> (the target that makes it, what it measures)
PAGES: dict[str, tuple[str, tuple[str, ...]]] = {
    "docs/attacks.md": ("matrix", ("src/sfumato/attack", "src/sfumato/perturb", "tools/make_matrix.py")),
    "docs/frontier.md": ("frontier", ("src/sfumato/perturb", "src/sfumato/attack", "tools/frontier")),
    "docs/exposed.md": ("exposed", ("src/sfumato/perturb", "src/sfumato/attack/shadows", "tools/exposed")),
    "docs/reproduction.md": ("reproduce", ("src/sfumato/papers", "src/sfumato/perturb", "src/sfumato/cluster")),
    "docs/benchmarks.md": ("bench", ("src/sfumato/core", "src/sfumato/perturb", "src/sfumato/files", "benchmarks")),
    "docs/studio.md": ("screenshots", ("src/sfumato/studio",)),
    "docs/guide/tour.md": ("guide", ("src/sfumato/perturb", "src/sfumato/auditing", "tools/make_guide.py")),
    "docs/reliability.md": ("hunt", ("src/sfumato/files", "src/sfumato/pipeline", "tools/hunt")),
}

NEVER = "never made"


def git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def lag(page: str, sources: tuple[str, ...]) -> tuple[str, int]:
    """Return the commit in which a page was last made, and how many commits have changed its sources since."""
    marked = commit_of((ROOT / page).read_text(encoding="utf-8")) if (ROOT / page).exists() else None
    made = marked or git("log", "-1", "--format=%h", "--", page)
    if not made:
        return NEVER, 0
    since = git("rev-list", "--count", f"{made}..HEAD", "--", *sources)
    return f"{'made from' if marked else 'last changed in'} {made}", int(since)


def main() -> None:
    try:
        rows = [(page, target, *lag(page, sources)) for page, (target, sources) in PAGES.items()]
    except (OSError, subprocess.CalledProcessError):
        sys.exit("the history of the repository is needed to say which pages are stale")
    for page, target, made, behind in rows:
        state = (
            f"make {target}"
            if made == NEVER
            else "fresh"
            if behind == 0
            else f"{behind} commits behind its sources: make {target}"
        )
        print(f"{page:24} {made:24} {state}")


if __name__ == "__main__":
    main()
