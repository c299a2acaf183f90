"""The routes of the studio: thin functions between the page and the workspace."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from sfumato import __version__
from sfumato.datasets import write_demo
from sfumato.exceptions import ParameterError, SfumatoError
from sfumato.perturb.catalogue import DEFAULT_METHOD
from sfumato.studio.events import Board, Stream, error_data, json_lines
from sfumato.studio.folder import Folder
from sfumato.studio.jobs import BusyError, ReleaseJobs
from sfumato.studio.libraries import prepare_thread
from sfumato.studio.session import KINDS, ROLES, Session, StaleTableError
from sfumato.studio.settings import CLUSTERS, catalogue_data, checked_settings
from sfumato.studio.uploads import ENDINGS, Limits, RefusedUploadError, label_of, receive

_STATIC = Path(__file__).parent / "static"
_MOST_JSON = 1 << 20


class Studio:
    """Everything that lives while the studio runs.

    Parameters
    ----------
    folder : Folder
        For uploads and results.
    """

    def __init__(self, folder: Folder, limits: Limits | None = None) -> None:
        self.folder = folder
        self.limits = limits or Limits()
        self.board = Board()
        self.session = Session()
        self.jobs = ReleaseJobs(folder, self.board)
        self.pool = ThreadPoolExecutor(8, "studio", initializer=prepare_thread)
        self._loading = asyncio.Lock()
        self.board.post(loading=None, job=None, dataset=None)

    async def in_thread(self, work: Callable[..., Any], *arguments: Any) -> Any:
        """Run blocking work in the studio's own threads."""
        return await asyncio.get_running_loop().run_in_executor(self.pool, work, *arguments)

    def load(self, path: Path, label: str, shown_path: str) -> None:
        """Read a table and make it the current one, telling every tab how far it is; blocking."""

        def tell(step: str, share: float) -> None:
            self.board.post(loading={"what": step, "share": share})

        try:
            tell("reading", 0.0)
            previous = self.session.dataset
            try:
                dataset = self.session.load(path, label, shown_path, tell)
            except SfumatoError as error:
                # the user knows the file by its own name
                told = type(error)(error.message.replace(str(path), label), hint=error.hint)
                raise told from None
            self.board.post(dataset=dataset.id)
            if previous is not None and previous.path.parent == self.folder.path and not self.jobs.uses(previous.path):
                previous.path.unlink(missing_ok=True)
        finally:
            self.board.post(loading=None)

    @contextlib.asynccontextmanager
    async def loading(self) -> AsyncIterator[None]:
        """Hold the right to load: one table at a time."""
        if self._loading.locked():
            raise RefusedUploadError(
                "another file is being loaded", hint="wait until it is there, or reload the page", status=409
            )
        async with self._loading:
            yield

    def close(self) -> None:
        """Stop what runs, and remove every file."""
        self.board.close()
        self.jobs.close()
        self.pool.shutdown(wait=False, cancel_futures=True)
        self.folder.close()
        # an interpreter that is ending cannot finish loading libraries: a thread that still does is waited for here
        self.pool.shutdown(wait=True)


def make_app(studio: Studio) -> Starlette:
    """Return the application; `security.Gate` goes around it."""

    @contextlib.asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        studio.board.attach()
        studio.pool.submit(prepare_thread)  # the libraries take seconds to load: the page is there before them
        yield

    routes = [
        Route("/", _page),
        Mount("/static", StaticFiles(directory=_STATIC, follow_symlink=False)),
        Route("/api/session", _session),
        Route("/api/events", _events),
        Route("/api/upload", _upload, methods=["POST"]),
        Route("/api/demo", _demo, methods=["POST"]),
        Route("/api/roles", _roles, methods=["POST"]),
        Route("/api/kind", _kind, methods=["POST"]),
        Route("/api/before", _before, methods=["POST"]),
        Route("/api/preview", _preview, methods=["POST"]),
        Route("/api/compare", _compare, methods=["POST"]),
        Route("/api/release", _release, methods=["POST"]),
        Route("/api/release/cancel", _cancel, methods=["POST"]),
        Route("/api/download/{kind}", _download),
    ]
    handlers = {SfumatoError: _told, json.JSONDecodeError: _told, Exception: _bug}
    app = Starlette(routes=routes, lifespan=lifespan, exception_handlers=handlers)
    app.state.studio = studio
    return app


async def _told(_request: Request, error: Exception) -> Response:
    if not isinstance(error, SfumatoError):
        error = ParameterError("the request cannot be read")
    status = 409 if isinstance(error, StaleTableError | BusyError) else 422
    if isinstance(error, RefusedUploadError):
        status = error.status
    # whoever was not allowed to finish sending is told, and not listened to any longer
    return JSONResponse(error_data(error), status, headers={"connection": "close"} if status in {408, 413} else None)


async def _bug(_request: Request, error: Exception) -> Response:
    return JSONResponse(error_data(error), 500)


def _studio(request: Request) -> Studio:
    studio: Studio = request.app.state.studio
    return studio


async def _json(request: Request) -> dict[str, Any]:
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > _MOST_JSON:
            raise ParameterError("the request is too large")
    data = json.loads(body or b"{}")
    if not isinstance(data, dict):
        raise ParameterError("the request cannot be read")
    return data


async def _page(_request: Request) -> Response:
    return FileResponse(_STATIC / "index.html", media_type="text/html")


async def _session(request: Request) -> Response:
    studio = _studio(request)
    dataset = studio.session.dataset
    return JSONResponse(
        {
            "version": __version__,
            "methods": catalogue_data(),
            "default_method": DEFAULT_METHOD,
            "clusters": CLUSTERS,
            "roles": ROLES,
            "kinds": KINDS,
            "endings": list(ENDINGS),
            "most_bytes": studio.limits.file_bytes,
            "dataset": None if dataset is None else dataset.to_data(),
            "job": studio.jobs.to_data(),
        }
    )


async def _events(request: Request) -> Response:
    return StreamingResponse(_studio(request).board.stream(), media_type="text/event-stream")


async def _upload(request: Request) -> Response:
    studio = _studio(request)
    label, ending = label_of(unquote(request.headers.get("x-file-name", "")))
    announced = request.headers.get("content-length", "")
    async with studio.loading():
        try:
            size = int(announced) if announced.isdigit() else None
            path = await receive(request.stream(), size, ending, studio.folder, studio.limits)
        except ClientDisconnect:
            return Response(status_code=499)
        try:
            await studio.in_thread(studio.load, path, label, label)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
    return _loaded(studio)


async def _demo(request: Request) -> Response:
    studio = _studio(request)
    async with studio.loading():
        path = studio.folder.new_file(".csv")
        write_demo(path)
        await studio.in_thread(studio.load, path, "customers.csv", "customers.csv")
        assert studio.session.dataset is not None
        studio.session.dataset.is_demo = True
    return _loaded(studio)


def _loaded(studio: Studio) -> Response:
    assert studio.session.dataset is not None
    return JSONResponse(studio.session.dataset.to_data())


async def _roles(request: Request) -> Response:
    data = await _json(request)
    dataset = _studio(request).session.current(data.get("dataset"))
    if not isinstance(data.get("roles"), dict):
        raise ParameterError("no roles were given")
    dataset.set_roles(data["roles"])
    return JSONResponse(dataset.to_data())


async def _kind(request: Request) -> Response:
    data = await _json(request)
    dataset = _studio(request).session.current(data.get("dataset"))
    dataset.set_kind(data.get("column"), data.get("kind"), data.get("order") or ())
    return JSONResponse(dataset.to_data())


async def _before(request: Request) -> Response:
    from sfumato.studio.preview import before

    studio, data = _studio(request), await _json(request)
    dataset = studio.session.current(data.get("dataset"))
    found = await studio.in_thread(lambda: before(dataset.prepared(), data.get("axes"), data.get("k", 0)))
    return JSONResponse(found)


async def _preview(request: Request) -> Response:
    from sfumato.studio.preview import preview

    studio, data = _studio(request), await _json(request)
    dataset = studio.session.current(data.get("dataset"))
    settings = checked_settings(data.get("settings"))
    dataset.require_method(settings)

    def work(stream: Stream) -> None:
        axes, k, only = data.get("axes"), data.get("k", 0), bool(data.get("picture_only"))
        told: dict[str, Any] = {"picture_only": only, "n_rows": dataset.seen.n_rows}
        entry = preview(dataset.prepared(), settings, studio.session.key, axes, k, stream, **told)
        if entry is not None:
            dataset.remember(entry)

    return _lines(studio, work)


async def _compare(request: Request) -> Response:
    from sfumato.studio.comparing import compare

    studio, data = _studio(request), await _json(request)
    dataset = studio.session.current(data.get("dataset"))
    return _lines(studio, lambda stream: compare(dataset, studio.session.key, stream))


def _lines(studio: Studio, work: Callable[[Stream], None]) -> Response:
    return StreamingResponse(json_lines(work, studio.pool), media_type="application/x-ndjson")


async def _release(request: Request) -> Response:
    studio, data = _studio(request), await _json(request)
    dataset = studio.session.current(data.get("dataset"))
    settings = checked_settings(data.get("settings"))
    dataset.require_method(settings)
    studio.jobs.start(dataset, settings)
    return JSONResponse(studio.jobs.to_data(), 202)


async def _cancel(request: Request) -> Response:
    studio = _studio(request)
    studio.jobs.cancel()
    return JSONResponse(studio.jobs.to_data())


async def _download(request: Request) -> Response:
    # the browser names one of a few kinds; which file that is only the job knows
    found = _studio(request).jobs.file(request.path_params["kind"])
    if found is None:
        return JSONResponse({"error": "there is no such file (any more)", "hint": "release the table again"}, 404)
    path, label = found
    return FileResponse(path, filename=label, media_type="application/octet-stream")
