"""Build the documentation site into a folder; run by `make site`. Every warning is an error: a dead link is one.

python tools/make_site.py [FOLDER]    site/ by default; the notebooks run, and take half of the time
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))


def build(target: Path) -> int:
    """Build the site and return the exit code of Sphinx.

    Parameters
    ----------
    target : Path
        What stands there is replaced.
    """
    from sphinx.cmd.build import build_main

    from tools.website.mend import mend
    from tools.website.stage import stage

    with tempfile.TemporaryDirectory() as folder:
        sources, made = Path(folder) / "sources", Path(folder) / "made"
        stage(sources)
        settings = ["-c", str(ROOT / "tools" / "website"), "-d", str(Path(folder) / "doctrees")]
        failed = build_main(["-b", "html", "-q", "-W", "--keep-going", *settings, str(sources), str(made)])
        if not failed:
            mend(made)
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(made, target, ignore=shutil.ignore_patterns(".buildinfo", "objects.inv"))
    return failed


if __name__ == "__main__":
    place = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "site"
    code = build(place)
    print(f"site: open {place / 'index.html'}" if code == 0 else "site: not built, see above")
    sys.exit(code)
