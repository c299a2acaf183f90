"""What `import sfumato` and `sfumato --help` cost."""

from __future__ import annotations

import os
import resource
import subprocess
import sys

from measure import Claim, Section

COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "import numpy": [sys.executable, "-c", "import numpy"],
    "import sfumato": [sys.executable, "-c", "import sfumato"],
    "sfumato --help": [sys.executable, "-m", "sfumato", "--help"],
    "sfumato methods": [sys.executable, "-m", "sfumato", "methods"],
}


def processor_seconds(command: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(quick: bool) -> Section:
    rounds = 3 if quick else 10
    best = dict.fromkeys(COMMANDS, float("inf"))
    for _ in range(rounds):
        for name, command in COMMANDS.items():
            best[name] = min(best[name], processor_seconds(command))
    return Section(
        "Start",
        "Processor time of a fresh process, smallest of several.",
        ["command", "seconds"],
        [[name, seconds] for name, seconds in best.items()],
        [Claim("import sfumato, seconds of processor time", best["import sfumato"], 0.3, "s")],
    )
