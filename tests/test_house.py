"""The house stays one in which things are found: no long files, no folder that is a bag."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import sfumato

ROOT = Path(sfumato.__file__).parent
LONGEST = 400  # lines of a file
MOST = 22  # modules of a folder


def _modules() -> list[Path]:
    found = [path for path in ROOT.rglob("*.py") if "__pycache__" not in path.parts]
    assert len(found) > 300  # the package itself, not an empty folder
    return found


def test_no_file_is_too_long_to_be_read_at_once() -> None:
    lines = {str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines()) for path in _modules()}
    assert {name: n for name, n in lines.items() if n > LONGEST} == {}


def test_no_folder_is_a_bag() -> None:
    folders = Counter(str(path.parent.relative_to(ROOT)) for path in _modules() if path.name != "__init__.py")
    assert {name: n for name, n in folders.items() if n > MOST} == {}
