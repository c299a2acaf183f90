"""How things are measured: interleaved, the smallest of several, as ratios inside one run."""

from __future__ import annotations

import gc
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.core.rows import WordStream
from sfumato.core.tiles import pieces_for, tile_rows

HERE = Path(__file__).resolve().parent


@dataclass
class Claim:
    """One number that the project promises, with its target."""

    what: str
    value: float
    target: float
    unit: str = "times"
    at_most: bool = True

    @property
    def met(self) -> bool:
        return self.value <= self.target if self.at_most else self.value >= self.target


@dataclass
class Section:
    """One topic: what was measured, as a table, and the promises it bears on."""

    title: str
    note: str
    columns: list[str] = field(default_factory=list)
    rows: list[list[Any]] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)

    def plain(self) -> dict[str, Any]:
        """Return the section as plain values for JSON."""
        return {**asdict(self), "claims": [{**asdict(claim), "met": claim.met} for claim in self.claims]}


def fastest(
    cases: Mapping[str, Callable[[], object]], rounds: int, clock: Callable[[], float] = time.process_time
) -> dict[str, float]:
    """Run all cases in turn, several times, and return the smallest time of each, in seconds.

    With the default clock only the processor time of this process counts, so that other work on the machine disturbs
    less; `time.perf_counter` is for what runs on several processors or waits for a disk.
    """
    best = dict.fromkeys(cases, float("inf"))
    for _ in range(rounds):
        for name, run in cases.items():
            gc.collect()
            start = clock()
            run()
            best[name] = min(best[name], clock() - start)
    return best


def copy(table: np.ndarray, threads: int) -> None:
    """Copy a table in tiles."""
    out = np.empty_like(table)

    def one(span: tuple[int, int]) -> None:
        out[slice(*span)] = table[slice(*span)]

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(one, pieces_for(len(table), tile_rows(table.shape[1]), threads)))


def copy_and_stream(table: np.ndarray, threads: int) -> None:
    """Copy a table and make as many random words, in tiles that stay in the cache."""
    out, stream = np.empty_like(table), WordStream(bytes(32))

    def one(span: tuple[int, int]) -> None:
        start, stop = span
        out[start:stop] = table[start:stop]
        for _ in range(table.shape[1]):
            stream.read(start, stop - start)

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(one, pieces_for(len(table), tile_rows(table.shape[1]), threads)))


def in_a_process(script: str, *arguments: object, environment: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Run a file of this folder with arguments and return the JSON object of its last line."""
    command = [sys.executable, str(HERE / script), *(str(argument) for argument in arguments)]
    done = subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True, env={**os.environ, **(environment or {})}
    )
    out: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return out


def machine() -> dict[str, str]:
    """Describe this machine without naming it."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        lines = info.read_text(encoding="utf-8").splitlines()
        model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), model)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    libraries = ("numpy", "scipy", "scikit-learn", "polars", "cryptography", "numba")
    return {
        "processor": f"{model}, {os.cpu_count()} logical processors",
        "memory": f"{memory:.0f} GiB",
        "system": f"{platform.system()}, Python {platform.python_version()}",
        "libraries": ", ".join(f"{name} {_version(name)}" for name in libraries),
    }


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not there"
