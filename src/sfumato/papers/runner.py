"""Run one paper or all of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sfumato.exceptions import ParameterError
from sfumato.papers.catalogue import paper
from sfumato.papers.data_files import check_files
from sfumato.papers.result import Reproduction
from sfumato.papers.work import Progress, Worker


def reproduce(
    names: Sequence[str],
    *,
    quick: bool = False,
    folder: str | Path | None = None,
    progress: Progress | None = None,
    jobs: int = 1,
) -> list[Reproduction]:
    """Run the experiments of papers and return their tables beside ours.

    Parameters
    ----------
    names : sequence of str
        Papers, see `papers()`.
    quick : bool
        Fewer repetitions where they take long.
    folder : path, optional
        Where the papers' data are; None takes the environment variable SFUMATO_DATA.
    progress : function of (share done, text), optional
    jobs : int
        Processes; the results do not depend on it, except times.
    """
    if jobs < 1:
        raise ParameterError(f"jobs must be at least 1, got {jobs}")
    chosen = [paper(name) for name in names]
    # Before anything long begins: all data are there and are the right ones.
    check_files([file for entry in chosen for file in entry.files], folder)
    total = sum(entry.share for entry in chosen)
    worker, done, out = Worker(jobs, progress), 0.0, []
    for entry in chosen:
        stage = worker.stage(done / total, (done + entry.share) / total)
        out.append(entry.load()(stage, quick=quick, folder=folder))
        done += entry.share
    return out
