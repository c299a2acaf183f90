"""The README as a new user follows it: every command, in an environment without extras, from pip to joined labels.

Building an environment for each run would take minutes, so the libraries of the extras are hidden from a child process
instead; `make release-check` installs wheel and sdist for real.
"""

from __future__ import annotations

import importlib.metadata as metadata
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import polars as pl
import pytest

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```bash\n(.*?)^```$", README, flags=re.MULTILINE | re.DOTALL)
HIDE = """
import sys

class Visible:
    def __init__(self, finder):
        self._finder = finder

    def find_spec(self, name, path=None, target=None):
        return None if name.partition(".")[0] in {names!r} else self._finder.find_spec(name, path, target)

    def __getattr__(self, name):
        return getattr(self._finder, name)

sys.meta_path[:] = [Visible(finder) for finder in sys.meta_path]
"""


def plain(requirement: str) -> str:
    """Return the name of the library in a requirement."""
    return re.split(r"[<>=!~\[; ]", requirement)[0].lower().replace("_", "-")


def modules_of_extras() -> set[str]:
    """Return what extras bring that the core does not, as it is imported."""
    wanted = {
        plain(line) for name, lines in PROJECT["optional-dependencies"].items() if name != "all" for line in lines
    }
    of = {
        module: {one.lower().replace("_", "-") for one in names}
        for module, names in metadata.packages_distributions().items()
    }
    return {module for module, names in of.items() if names & wanted}


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """Return an empty folder, and the environment of a process in it that finds no library of an extra."""
    folder = tmp_path_factory.mktemp("readme")
    hidden = modules_of_extras()
    assert {"pandas", "pyarrow", "pyspark", "numba", "starlette"} <= hidden
    (folder / "site").mkdir()
    (folder / "site" / "sitecustomize.py").write_text(HIDE.format(names=hidden))
    (folder / "bin").mkdir()
    for name, more in (("python", ""), ("sfumato", " -m sfumato")):
        (folder / "bin" / name).write_text(f'#!/bin/sh\nexec {sys.executable}{more} "$@"\n')
        (folder / "bin" / name).chmod(0o755)
    (folder / "work").mkdir()
    env = {
        "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
        "PYTHONPATH": f"{folder / 'site'}:{ROOT / 'src'}",
        "HOME": str(folder / "home"),
        "OMP_NUM_THREADS": "1",
    }
    return folder / "work", env


def test_every_command_of_the_readme_runs_without_extras_and_labels_come_back(
    bare: tuple[Path, dict[str, str]],
) -> None:
    folder, env = bare
    hidden = subprocess.run(["python", "-c", "import pandas"], env=env, capture_output=True, text=True, check=False)
    assert "No module named 'pandas'" in hidden.stderr, "the extras are hidden"
    count = 0
    for block in BLOCKS:
        if block.startswith("make "):
            for line in block.splitlines():
                target = line.split()[1]
                assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), flags=re.MULTILINE), line
            continue
        count += len(re.findall(r"^(?:pip|sfumato|python) ", block, flags=re.MULTILINE))
        if block.startswith("pip "):
            assert block.split()[:3] == ["pip", "install", PROJECT["name"]]
            continue
        done = subprocess.run(["bash", "-euc", block], cwd=folder, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    assert count <= 6, "from pip install to joined labels in six commands"
    original, joined = (pl.read_csv(folder / name, try_parse_dates=True) for name in ("customers.csv", "segmented.csv"))
    assert joined.drop("cluster", "held_back", strict=False).equals(original)
    assert joined["cluster"].null_count() == 0
    # the labels stand at people who are alike: what the clusters tell of an age is what they tell in the release
    within = joined.group_by("cluster").agg(pl.col("income").var(), pl.len())
    left = (within["income"] * within["len"]).sum() / joined.height
    assert left < 0.7 * original["income"].var()


def test_every_extra_has_a_line_with_what_it_weighs() -> None:
    listed = re.findall(
        r'^\| `pip install "sfumato(?:\[(\w+)\])?"` \| [^|]+ \| (?:\+ )?[\d,]+ MB \|$', README, flags=re.MULTILINE
    )
    assert set(listed) == {"", *PROJECT["optional-dependencies"]}
