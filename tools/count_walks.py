"""How far a reader walks: the files that a release and others enter, and how often the walk changes the package.

python tools/count_walks.py            count, and write the table of DESIGN.md
python tools/count_walks.py --list     print the files of each walk instead, in order

Each flow runs for real, on a small table, in a process of its own that has imported everything before. A file counts
when a function of it is called for the first time; a change is a file whose package is not that of the file before.
numpy computes (the compiled kernels are the same formulas once more).
"""

from __future__ import annotations

import os
import pkgutil
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
_NEW_LOCALS = 2  # flag of the code of a function; bodies of classes and modules have it not


class _Quiet:
    """A stream of events that nobody reads."""

    def send(self, _event: Any) -> None: ...

    def check(self) -> None: ...

    def rest(self, _seconds: float) -> None: ...


def _table(folder: Path) -> Path:
    random = np.random.default_rng(0)
    rows = (
        f"{i},{int(random.integers(20, 80))},{random.normal(1000, 200):.2f},{random.normal(5, 1):.3f}"
        for i in range(600)
    )
    path = folder / "people.csv"
    path.write_text("id,age,wage,size\n" + "\n".join(rows) + "\n")
    return path


def _release(folder: Path) -> None:
    from sfumato.cli import sfumato

    table, out, key = _table(folder), folder / "out.csv", folder / "my.key"
    line = f"release {table} -o {out} -m mix --id id --key {key}"
    sfumato(line.split(), standalone_mode=False)


def _preview(folder: Path) -> None:
    from sfumato.studio.preview import preview
    from sfumato.studio.session import Session
    from sfumato.studio.settings import checked_settings

    session = Session()
    loaded = session.load(_table(folder), "people.csv", "people.csv", lambda _what, _share: None)
    settings = checked_settings({"method": "mix", "parameters": {}, "extras": []})
    stream: Any = _Quiet()
    preview(loaded.prepared(), settings, session.key, None, 3, stream)


def _audit(_folder: Path) -> None:
    import sfumato

    random = np.random.default_rng(0)
    original = random.normal(size=(600, 3))
    sfumato.audit(original, original + random.normal(size=(600, 3))).to_html()


def _fit(_folder: Path) -> None:
    from sfumato.perturb import AtomMixing

    AtomMixing(insecure_seed=1).fit_transform(np.random.default_rng(0).normal(size=(600, 3)))


# name -> title, what runs, and (files, changes) at the first count, before packages were sorted by subject
FLOWS: dict[str, tuple[str, Callable[[Path], None], tuple[int, int]]] = {
    "release": ("`sfumato release` with mix", _release, (79, 39)),
    "audit": ("`sf.audit` to HTML", _audit, (88, 16)),
    "fit": ("`AtomMixing().fit_transform`", _fit, (39, 14)),
    "preview": ("studio preview", _preview, (111, 32)),
}


def walked(flow: Callable[[Path], None]) -> list[str]:
    """Run a flow; return the files of the package that it enters, in the order of the first calls."""
    import sfumato
    from sfumato.core.sharing import shared_by

    package = str(Path(sfumato.__file__).parent) + os.sep
    for module in pkgutil.walk_packages(sfumato.__path__, "sfumato."):
        if not module.name.startswith(("sfumato.spark", "sfumato.core.fast.", "sfumato.__main__")):
            import_module(module.name)
    files: dict[str, None] = {}

    def called(frame: FrameType, event: str, _argument: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_flags & _NEW_LOCALS and code.co_filename.startswith(package):
            files.setdefault(code.co_filename.removeprefix(package).replace(os.sep, "/"))

    with tempfile.TemporaryDirectory() as folder:
        threading.setprofile(called)
        sys.setprofile(called)
        try:
            with shared_by(1):  # threads of our own have no profiler
                flow(Path(folder))
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
    return list(files)


def main(arguments: list[str]) -> None:
    """Run each flow in a process of its own; print the files, or write the table."""
    if arguments[:1] == ["--one"]:
        warnings.simplefilter("ignore")
        sys.stdout.write("\n" + "\n".join(f"walk {file}" for file in walked(FLOWS[arguments[1]][1])) + "\n")
        return
    lines = ["| flow | files | attacks among them | changes of package | at the first count |", "|---|---|---|---|---|"]
    for name, (title, _, first) in FLOWS.items():
        command = [sys.executable, __file__, "--one", name]
        told = subprocess.run(
            command, check=True, capture_output=True, text=True, env={**os.environ, "SFUMATO_NO_NUMBA": "1"}
        ).stdout
        files = [line.removeprefix("walk ") for line in told.splitlines() if line.startswith("walk ")]
        if "--list" in arguments:
            sys.stdout.write("\n".join([f"{title}:", *(f"  {file}" for file in files), ""]))
        packages = [file.split("/")[0] for file in files]
        changes = sum(one != other for one, other in pairwise(packages))
        attacks = [file for file in files if file.startswith("attack/") and file.count("/") > 1]
        attacks = [file for file in attacks if not file.startswith("attack/engine/")]
        lines.append(f"| {title} | {len(files)} | {len(attacks)} | {changes} | {first[0]}, {first[1]} |")
    sys.stdout.write("\n".join(lines) + "\n")
    if "--list" not in arguments:
        design = ROOT / "DESIGN.md"
        text = design.read_text(encoding="utf-8")
        start, end = "<!-- walks -->\n", "<!-- /walks -->"
        before, rest = text.split(start)
        design.write_text(before + start + "\n".join(lines) + "\n" + end + rest.split(end)[1], encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
