"""Runs of an experiment: one after the other, or on several processes, with the same results."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import joblib
from threadpoolctl import threadpool_limits

from sfumato.exceptions import SfumatoWarning

Progress = Callable[[float, str], None]
Item = TypeVar("Item")
Result = TypeVar("Result")


def _alone(function: Callable[..., Any], item: Any) -> Any:
    # Small tables: threads of the linear algebra and of k-means cost a hundred times what they bring, most of
    # all on a busy machine. Notes of the perturbers about their own weaknesses are for people who release data.
    with threadpool_limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore", SfumatoWarning)
        return function(item)


class Worker:
    """Applies a function to many items and says how far it is.

    Parameters
    ----------
    jobs : int
        Processes.
    progress : function of (share done, text), optional
    """

    def __init__(self, jobs: int = 1, progress: Progress | None = None) -> None:
        self.jobs = jobs
        self._progress = progress
        self._begin, self._end = 0.0, 1.0

    def stage(self, begin: float, end: float) -> Worker:
        """Return a worker whose progress counts from `begin` to `end`."""
        part = Worker(self.jobs, self._progress)
        width = self._end - self._begin
        part._begin, part._end = self._begin + begin * width, self._begin + end * width
        return part

    def map(self, function: Callable[[Item], Result], items: Sequence[Item], text: str) -> list[Result]:
        """Return the results in the order of the items.

        Parameters
        ----------
        text : str
            What is being done, for the progress.
        """
        out: list[Result] = []
        for result in self._results(function, items):
            out.append(result)
            self.report(len(out) / len(items), text)
        return out

    def report(self, share: float, text: str) -> None:
        """Tell how much of this stage is done."""
        if self._progress is not None:
            self._progress(self._begin + share * (self._end - self._begin), text)

    def _results(self, function: Callable[[Item], Result], items: Sequence[Item]) -> Iterable[Result]:
        if self.jobs == 1 or len(items) == 1:
            return (_alone(function, item) for item in items)
        pool = joblib.Parallel(n_jobs=self.jobs, return_as="generator", batch_size=1)
        results: Iterable[Result] = pool(joblib.delayed(_alone)(function, item) for item in items)
        return results
