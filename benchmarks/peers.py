"""Other tools on the same table: installed from PyPI into an environment that is thrown away afterwards."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from measure import HERE, Section

# tool -> (what it does, what of ours does the job, what that is)
PEERS = {
    "anonymeter": ("singling out and linkability", "our_audit", "sfumato.audit: every attack, grade, utility"),
    "sdmetrics": ("NewRowSynthesis", "our_audit", "sfumato.audit: every attack, grade, utility"),
    "diffprivlib": ("Laplace mechanism on every cell", "our_noise", "AdditiveNoise, laplace, with fit"),
    "pycanon": ("k-anonymity of 5 columns", "our_anonymity", "equivalence_class_sizes"),
    "anjana": ("3-anonymity of 5 columns by hierarchies", "our_groups", "Microaggregation, groups of 3"),
}


def measure(quick: bool) -> Section:
    n_rows, patience = (1_000, 120) if quick else (15_000, 600)
    section = Section(
        "Other tools",
        f"The same table of {n_rows:,} rows x 10 columns, each tool in a process of its own, processor seconds without "
        f"imports and reading; a tool gets {patience} seconds. They do not do the same thing as we do: each line says "
        "what was run.",
        ["tool", "version", "task", "seconds", "peak MB", "ours", "seconds", "peak MB"],
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_tables(folder, n_rows)
        ours: dict[str, dict[str, Any]] = {}
        for tool, (task, equivalent, described) in PEERS.items():
            if equivalent not in ours:
                ours[equivalent] = run_task(Path(sys.executable), equivalent, folder, patience)
            version, theirs = try_tool(tool, folder, patience)
            mine = ours[equivalent]
            section.rows.append(
                [
                    tool,
                    version,
                    task,
                    theirs["seconds"],
                    theirs.get("peak MB"),
                    described,
                    mine["seconds"],
                    mine["peak MB"],
                ]
            )
    return section


def make_tables(folder: Path, n_rows: int) -> None:
    """Write a table of six clusters and a noisy copy of it."""
    rng = np.random.default_rng(0)
    centres = 30.0 * rng.normal(size=(6, 10))
    table = (centres[rng.integers(0, 6, n_rows)] + 5.0 * rng.normal(size=(n_rows, 10))).round(3)
    names = [f"x{i}" for i in range(10)]
    pl.DataFrame(table, schema=names).write_csv(folder / "original.csv")
    noisy = (table + 2.0 * rng.normal(size=table.shape)).round(3)
    pl.DataFrame(noisy, schema=names).write_csv(folder / "released.csv")


def try_tool(tool: str, folder: Path, patience: int) -> tuple[str, dict[str, Any]]:
    """Install a tool beside us and run its task; a tool that does not install or run says so."""
    home = folder / tool
    venv.create(home, with_pip=True)
    python = home / "bin" / "python"
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", tool, "pandas"]
    if subprocess.run(pip, check=False, capture_output=True).returncode:
        return "", {"seconds": "does not install"}
    asked = f"from importlib.metadata import version; print(version('{tool}'))"
    version = subprocess.run([str(python), "-c", asked], check=True, capture_output=True, text=True).stdout.strip()
    return version, run_task(python, tool, folder, patience)


def run_task(python: Path, task: str, folder: Path, patience: int) -> dict[str, Any]:
    """Run one task of peer_tasks.py and return its cost, or why there is none."""
    command = [str(python), str(HERE / "peer_tasks.py"), task, str(folder)]
    try:
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=patience)
    except subprocess.TimeoutExpired:
        return {"seconds": f"unfinished after {patience} s", "peak MB": None}
    if done.returncode:
        reason = done.stderr.strip().splitlines()[-1].split(":")[0].split(".")[-1]
        return {"seconds": f"does not run ({reason})", "peak MB": None}
    cost: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return cost
