"""Run releases and kill each at a random moment; started by test_interruption.py as a process of its own.

The process imports everything first and forks for each release, before any library has started a thread.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
import warnings
from pathlib import Path

import sfumato as sf
from sfumato.core.keys import Key
from sfumato.exceptions import ReceiptError
from sfumato.files.storage import reorder
from sfumato.files.storage.keyring import keys_folder
from sfumato.files.storage.workspace import file_digest
from sfumato.perturb.perturbers import independent  # noqa: F401  # imported before the forks
from sfumato.pipeline import release  # noqa: F401
from sfumato.receipts.finding import find_receipt


def run(source: Path, target: Path) -> int:
    """Start a release in a child process."""
    child = os.fork()
    if child == 0:
        warnings.simplefilter("ignore")
        reorder.MEMORY_BYTES = 200_000  # runs on disk, as for a large table
        sf.release(source, target, identifier=["id"], keep=["town"], batch_rows=2000, method="ina")
        os._exit(0)
    return child


def is_whole(target: Path, n_rows: int) -> bool:
    """Tell whether a released file is complete and has its key and its receipt."""
    if target.read_bytes().count(b"\n") != n_rows + 1:
        return False
    for path in keys_folder().glob("out*.key"):
        key = Key.load(path)
        try:
            find_receipt(keys_folder(), key, n_rows=-1, digest=file_digest(target, key.derive("released")))
        except ReceiptError:
            continue
        return True
    return False


def main(source: Path, target: Path, n_rows: int, kills: int) -> None:
    begin = time.monotonic()
    os.waitpid(run(source, target), 0)
    whole_run = time.monotonic() - begin
    assert is_whole(target, n_rows)
    target.unlink()
    draw = random.Random(1)
    seen = {"none": 0, "whole": 0, "half": 0, "leftovers": 0}
    killed = 0
    while killed < kills:
        child = run(source, target)
        wait = draw.random() * whole_run
        time.sleep(wait)
        if os.waitpid(child, os.WNOHANG)[0]:  # it had ended: the machine is less busy than it was, and this was no kill
            whole_run = wait
            target.unlink()
            continue
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        killed += 1
        if target.exists():
            seen["whole" if is_whole(target, n_rows) else "half"] += 1
            target.unlink()
        else:
            seen["none"] += 1
        seen["leftovers"] = max(
            seen["leftovers"], len([p for p in target.parent.iterdir() if p.name.startswith(".out")])
        )
    status = os.waitpid(run(source, target), 0)[1]
    sys.stdout.write(json.dumps({**seen, "last run": status, "last whole": is_whole(target, n_rows)}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
