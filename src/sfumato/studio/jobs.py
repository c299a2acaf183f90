"""The release of the whole table in the background: progress, cancel, and the files that come of it."""

from __future__ import annotations

import contextlib
import shutil
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sfumato.exceptions import ParameterError, ReleaseCancelledError
from sfumato.studio.events import Board, error_data
from sfumato.studio.folder import Folder
from sfumato.studio.policies import command_line, file_stem, policy_of
from sfumato.studio.session import BATCH_ROWS, Dataset
from sfumato.studio.uploads import label_of


class BusyError(ParameterError):
    """A release is running already."""


@dataclass(repr=False)
class _Job:
    """One release, from the click to its files."""

    label: str
    source: Path
    place: Path
    cancel: threading.Event = field(default_factory=threading.Event)
    state: dict[str, Any] = field(default_factory=dict)
    files: dict[str, tuple[Path, str]] = field(default_factory=dict)


class ReleaseJobs:
    """One release at a time; what became of the last one stays until the next.

    Parameters
    ----------
    board : Board
        Where every tab hears of it.
    """

    def __init__(self, folder: Folder, board: Board) -> None:
        self._folder = folder
        self._board = board
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._job: _Job | None = None

    def start(self, dataset: Dataset, settings: Mapping[str, Any]) -> None:
        """Begin to release a table with checked settings."""
        with self._lock:
            if self._thread is not None and self._thread.is_alive():
                raise BusyError("another release is running", hint="wait until it is done, or cancel it")
            if not dataset.confidential():
                raise ParameterError("no column is confidential: there is nothing to protect", hint="choose columns")
            policy = policy_of(dict(dataset.roles), settings, dataset.kinds, dataset.orders)
            self._forget()
            job = self._job = _Job(dataset.label, dataset.path, self._folder.new_file(""))
            self._tell(job, status="running", what="preparing", share=0.0, label=dataset.label)
            self._thread = threading.Thread(target=self._run, args=(job, dataset, policy), daemon=True)
            self._thread.start()

    def _run(self, job: _Job, dataset: Dataset, policy: Any) -> None:
        try:
            self._release(job, dataset, policy)
        except ReleaseCancelledError:
            shutil.rmtree(job.place, ignore_errors=True)
            self._tell(job, status="cancelled")
        except BaseException as error:  # noqa: BLE001 - whatever it is, the page must hear of it
            shutil.rmtree(job.place, ignore_errors=True)
            told = error_data(error)
            told["error"] = told["error"].replace(str(job.source), job.label).replace(f"{job.place}/", "")
            self._tell(job, status="failed", **told)

    def _release(self, job: _Job, dataset: Dataset, policy: Any) -> None:
        from sfumato.files.storage.keyring import new_key_path
        from sfumato.pipeline.release import release
        from sfumato.policy.text import policy_text
        from sfumato.studio.release_audit import audit_sample

        job.place.mkdir(mode=0o700)
        stem, ending = file_stem(dataset.label), label_of(dataset.label)[1]
        target, plan = job.place / f"{stem}-released{ending}", job.place / f"{stem}-policy.toml"
        plan.write_text(policy_text(policy), encoding="utf-8")
        progress = lambda what, share: self._tell(job, what=what, share=share)  # noqa: E731
        done = release(
            job.source,
            target,
            policy=plan,
            key=new_key_path(target),
            batch_rows=BATCH_ROWS,
            threads=1,  # memory before speed, and a core is left for the page
            progress=progress,
            cancel=job.cancel,
        )
        assert done.key_path is not None
        self._offer(job, "release", target, "Download the release", "hand out this file alone")
        self._offer(job, "policy", plan, "Policy", "what was done, without secrets")
        if dataset.is_demo:
            self._offer(job, "original", dataset.path, "The demo table", "to repeat it by command", dataset.label)
        self._tell(
            job,
            status="done",
            rows=done.n_rows,
            notes=list(done.notes),
            key_path=str(done.key_path),
            command=command_line(dataset.shown_path, target.name, plan.name, done.key_path),
            audit={"what": "attacking the released file", "share": 0.0},
        )
        self._report(job, lambda tell: audit_sample(job.source, target, done, dataset.seen.rows, tell), stem)

    def _report(self, job: _Job, measure: Any, stem: str) -> None:
        """Audit what was released; the release stands whatever becomes of the report."""

        def tell(step: str, share: float) -> None:
            if job.cancel.is_set():
                raise ReleaseCancelledError("cancelled")
            self._tell(job, audit={"what": step, "share": share})

        try:
            found = measure(tell)
            page, data = job.place / f"{stem}-audit.html", job.place / f"{stem}-audit.json"
            summary = job.place / f"{stem}-summary.html"
            found.to_html(page)
            found.to_html(summary, public=True)
            data.write_text(found.to_json(), encoding="utf-8")
        except ReleaseCancelledError:
            self._tell(job, audit=None)
        except Exception as error:  # noqa: BLE001 - whatever it is, the page must hear of it
            self._tell(job, audit={"failed": error_data(error)["error"]})
        else:
            self._offer(job, "report", page, "Audit report", "for you: it says how to break the release")
            self._offer(job, "report-data", data, "Audit as data", "the same as JSON")
            self._offer(job, "summary", summary, "Public summary", "may go with the release: what it is good for")
            self._tell(job, audit={"grade": found.grade, "verdict": found.verdict})

    def _offer(self, job: _Job, kind: str, path: Path, title: str, about: str, name: str | None = None) -> None:
        job.files[kind] = (path, name or path.name)
        size = path.stat().st_size
        offered = {"kind": kind, "label": name or path.name, "bytes": size, "title": title, "about": about}
        job.state["files"] = [*job.state.get("files", []), offered]

    def _tell(self, job: _Job, **news: Any) -> None:
        job.state = {**job.state, **news}
        if job is self._job:
            self._board.post(job=job.state)

    def uses(self, path: Path) -> bool:
        """Tell whether a release that runs reads a file."""
        running = self._thread is not None and self._thread.is_alive()
        return running and self._job is not None and self._job.source == path

    def cancel(self) -> None:
        """Stop the release that runs, if one does."""
        if self._job is not None:
            self._job.cancel.set()

    def file(self, kind: str) -> tuple[Path, str] | None:
        """Return the path and the name of a file of the last release."""
        return None if self._job is None else self._job.files.get(kind)

    def to_data(self) -> dict[str, Any] | None:
        """Return what the page shows of the last release."""
        return None if self._job is None else self._job.state

    def _forget(self) -> None:
        if self._job is not None:
            shutil.rmtree(self._job.place, ignore_errors=True)

    def close(self) -> None:
        """Cancel what runs and wait for it, so that nothing is left half-written."""
        self.cancel()
        if self._thread is not None:
            with contextlib.suppress(RuntimeError):
                self._thread.join(timeout=20)
